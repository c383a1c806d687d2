import numpy as np
import pytest
import torch

from ghr.datasets import LRIM
from ghr.paper import lrim_report as module
from ghr.paper.lrim_report import PUBLISHED_ORACLE, autocorrelation_table, lrim_report, oracle_table


def test_oracle_errors_stand_beside_the_published_ones(tmp_path):
    header, rows = oracle_table(LRIM(tmp_path, num_graphs=500))
    assert header[0] == "hops seen by the oracle (400 graphs)"
    assert [int(row[0]) for row in rows] == list(PUBLISHED_ORACLE[16, 0.6])
    for hops, found, published in rows:
        assert published == f"{PUBLISHED_ORACLE[16, 0.6][int(hops)]:.3f} [S]"
        assert float(found) == pytest.approx(PUBLISHED_ORACLE[16, 0.6][int(hops)], abs=0.15)  # 400 graphs only


def test_oracle_of_an_unpublished_size_is_its_definition(tmp_path, monkeypatch):
    dataset = LRIM(tmp_path, size=4, temperature=6.0, num_graphs=20)
    monkeypatch.setattr(module, "MOST_NODES", 16 * 3)
    header, rows = oracle_table(dataset)
    assert header[0] == "hops seen by the oracle (3 graphs)"
    assert [row[0] for row in rows] == ["1", "2"]
    graph_error = []
    for index in range(3):  # within one hop: the four neighbours, each with coupling one
        x, y = dataset[index].x[:, 0].double(), dataset[index].y[:, 0].double()
        seen = torch.zeros(16, dtype=torch.double)
        for u, v in dataset[index].edge_index.T.tolist():
            seen[u] -= x[u] * x[v]
        graph_error.append(((seen - y) ** 2).mean())
    assert float(rows[0][1]) == pytest.approx(float(torch.stack(graph_error).mean().log10()), abs=1e-3)
    assert rows[0][2] == "-"


def test_times_belong_to_rebuilt_sets_alone(tmp_path):
    dataset = LRIM(tmp_path, size=4, temperature=6.0, num_graphs=10)
    header, rows = autocorrelation_table(dataset, updates=400)
    assert "400 cluster updates" in header[0]
    assert all(0.3 < float(row[1]) < 30 for row in rows)
    assert np.unique([row[2] for row in rows]).tolist() == [str(module.UPDATES)]
    dataset.source = "hub"
    assert len(lrim_report(dataset)) == 1

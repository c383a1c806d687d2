import numpy as np
import pytest

from ghr.datasets import BENCHMARKS, LRIM, lrim
from ghr.datasets.generators.ising import couplings, local_energies
from ghr.datasets.lrim_report import PUBLISHED_ORACLE, autocorrelation_table, oracle_table


def lattices(dataset):
    return dataset.x.view(len(dataset), dataset.size, dataset.size).numpy()


def test_oracle_errors_stand_beside_the_published_ones(tmp_path):
    header, rows = oracle_table(lattices(LRIM(tmp_path, num_graphs=400)), 0.6)
    assert header[0] == "hops seen by the oracle (400 graphs)"
    assert [int(row[0]) for row in rows] == list(PUBLISHED_ORACLE[16, 0.6])
    for hops, found, published in rows:
        assert published == f"{PUBLISHED_ORACLE[16, 0.6][int(hops)]:.3f} [S]"
        assert float(found) == pytest.approx(PUBLISHED_ORACLE[16, 0.6][int(hops)], abs=0.15)  # 400 graphs only


def test_oracle_of_an_unpublished_size_is_its_definition():
    spins = np.random.default_rng(0).choice((-1.0, 1.0), (3, 4, 4))
    header, rows = oracle_table(spins, 0.6)
    assert header[0] == "hops seen by the oracle (3 graphs)"
    assert [row[0] for row in rows] == ["1", "2"]
    near = sum(np.roll(spins, shift, axis) for shift in (1, -1) for axis in (1, 2))  # each with coupling one
    error = np.mean((-spins * near - local_energies(spins, couplings(4, 0.6))) ** 2)
    assert float(rows[0][1]) == pytest.approx(np.log10(error), abs=1e-3)
    assert rows[0][2] == "-"


def test_times_are_those_of_a_chain():
    header, rows = autocorrelation_table(4, 0.6, 6.0, before=50, updates=400)
    assert "400 cluster updates" in header[0]
    assert all(0.3 < float(row[1]) < 30 for row in rows)
    assert [row[2] for row in rows] == ["50", "50"]


def test_times_belong_to_rebuilt_sets_alone(tmp_path, monkeypatch):
    dataset = LRIM(tmp_path, num_graphs=5)
    monkeypatch.setattr(lrim, "MOST_NODES", 256 * 3)
    monkeypatch.setattr(lrim, "autocorrelation_table", lambda *_, **__: "times")
    report = BENCHMARKS["lrim-16-hard"].report
    oracle, times = report(dataset)
    assert oracle.header[0] == "hops seen by the oracle (3 graphs)"
    assert times == "times"
    dataset.source = "hub"
    assert report(dataset) == [oracle]

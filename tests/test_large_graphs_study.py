"""The study of training on parts of a large graph, on a small one."""

import importlib.util
from pathlib import Path

import torch

from ghr import Coarsen, Graclus
from ghr.ops import using

FILE = Path(__file__).parent.parent / "studies" / "large_graphs" / "run.py"
spec = importlib.util.spec_from_file_location("large_graphs_study", FILE)
study = importlib.util.module_from_spec(spec)
spec.loader.exec_module(study)


def test_steps_on_the_whole_graph_and_on_parts_are_measured(tmp_path):
    graph = Coarsen(Graclus(rounds=3))(study.geometric_graph(120))
    graph.y = torch.zeros(120, 1)
    torch.save(graph, tmp_path / "graph.pt")
    with using("torch"):
        rows = [study.take_step(tmp_path / "graph.pt", count) for count in (0, 1, 3)]
    assert [row["parts"] for row in rows] == [0, 1, 3]
    assert rows[2]["nodes"] < rows[2]["with_halo"] <= 120
    assert all(row["peak"] > 0 for row in rows)


def test_every_node_asks_for_the_hops_to_the_nearest_source():
    graph = study.nearest_source(300, seed=0)
    assert graph.x.sum() == 3
    assert torch.equal(graph.y.flatten() == 0, graph.x.flatten() == 1)
    source, target = graph.edge_index
    known = ~graph.y[source].isnan().flatten()
    assert (graph.y[source][known] - graph.y[target][known]).abs().max() <= 1

import torch

from ghr import Coarsen, Graclus
from ghr.plots.diameters import draw_diameters
from ghr.testing import path_graph

BINS = [
    {"nodes": [1, 9], "fine": {"mean": 8.0, "std": 1.0}, "coarse": {"mean": 4.0, "std": 0.5}},
    {"nodes": [10, 19], "fine": {"mean": 15.0, "std": 0.0}, "coarse": {"mean": 7.0, "std": 0.0}},
]


def test_bars_stand_beside_the_graph_and_its_pooled_copy():
    graph = path_graph(6)
    graph.pos = torch.stack([torch.arange(6.0), torch.zeros(6)], dim=1)
    graph = Coarsen(Graclus(rounds=1))(graph)
    bars, fine, coarse = draw_diameters(BINS, graph, (5, 2)).axes
    assert [bar.get_height() for bar in bars.patches] == [8.0, 15.0, 4.0, 7.0]
    assert [label.get_text() for label in bars.get_xticklabels()] == ["1-9", "10-19"]
    assert (fine.get_title(), coarse.get_title()) == (
        "graph: 6 nodes, diameter 5",
        f"pooled copy: {graph.levels[1].num_nodes} nodes, diameter 2",
    )
    members = graph.levels[1].assignment
    centres = [float(graph.pos[members == cluster, 0].mean()) for cluster in range(graph.levels[1].num_nodes)]
    assert coarse.collections[-1].get_offsets()[:, 0].tolist() == centres

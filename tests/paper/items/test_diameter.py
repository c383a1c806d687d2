import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from scipy.sparse.csgraph import floyd_warshall

from ghr import Coarsen, Graclus
from ghr.paper.item import Place
from ghr.paper.items.diameter import Diameter, Sample, diameter
from ghr.testing import path_graph, random_graph


@given(st.integers(1, 14), st.integers(0, 30), st.integers(0, 99))
def test_diameter_is_the_longest_of_all_shortest_paths_and_pooling_never_lengthens_it(nodes, edges, seed):
    graph = random_graph(nodes, edges, seed=seed)
    dense = torch.zeros(nodes, nodes)
    dense[graph.edge_index[0], graph.edge_index[1]] = 1
    distance = floyd_warshall(dense.numpy())
    found = diameter(graph.edge_index, nodes)
    assert found == distance[distance < 1e9].max()
    coarse = Coarsen(Graclus(rounds=2))(graph).levels[1]
    assert diameter(coarse.edge_index, coarse.num_nodes) <= found


def test_a_path():
    assert diameter(path_graph(9).edge_index, 9) == 8


def test_every_graph_is_in_one_bin_and_the_table_has_all_bins(tmp_path):
    item = Diameter(sets=(Sample("small", 20, 7), Sample("large", 6, 50)))
    place = Place(data=tmp_path)
    report = item.report(place)
    bins = report.record["bins"]
    assert sum(group["graphs"] for group in bins) == 26
    test_set = item.sets[0].load(place)
    first = bins[0]
    low, high = first["nodes"]
    inside = [graph for graph in test_set if low <= graph.num_nodes <= high]
    assert len(inside) == first["graphs"]
    mean = sum(diameter(graph.levels[1].edge_index, graph.levels[1].num_nodes) for graph in inside) / len(inside)
    assert first["coarse"]["mean"] == pytest.approx(mean)
    assert all(group["coarse"]["mean"] < group["fine"]["mean"] for group in bins)
    assert report.text.count("\n| small") + report.text.count("\n| large") == len(bins)
    assert len(report.figure.axes) == 3

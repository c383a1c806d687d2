import torch
from torch_geometric.utils import degree

from ghr.bench.graphs import GeometricGraphs, HubGraphs, Lattices, geometric_graph, hub_graph, periodic_lattice
from ghr.testing import assert_quotient


def test_geometric_graph_has_the_degree_it_is_asked_for():
    graph = geometric_graph(20_000, mean_degree=6)
    assert 5.6 < graph.num_edges / graph.num_nodes < 6.1
    assert not graph.has_self_loops()
    assert graph.is_undirected()


def test_every_node_of_a_periodic_lattice_has_four_neighbours():
    lattice = periodic_lattice(4)
    assert lattice.is_undirected()
    assert torch.equal(degree(lattice.edge_index[0], 16), torch.full((16,), 4.0))
    assert {int(v) for u, v in lattice.edge_index.T if u == 0} == {1, 3, 4, 12}


def test_batches_have_targets_and_two_levels():
    data = GeometricGraphs(3, 40).load()
    assert data.num_graphs == 3
    assert data.x.shape == data.y.shape == (120, 1)
    assert [level.edge_attr.unique().tolist() for level in data.levels] == [[1.0], [1.0]]
    assert data.levels[1].edge_attr.size(1) == 2
    assert_quotient(data)


def test_weights_differ_from_edge_to_edge():
    data = GeometricGraphs(2, 40, weighted=True).load()
    assert data.edge_attr.unique().numel() > 100


def test_one_graph_is_no_batch():
    assert not hasattr(GeometricGraphs(1, 40).load(), "ptr")


def test_lattices_carry_distances_on_the_coarse_level_alone():
    data = Lattices(2, 8).load()
    assert data.edge_attr is None
    assert data.levels[1].num_nodes == 32
    assert data.levels[1].edge_attr.unique().tolist() == [2.0]


def test_few_nodes_of_a_graph_with_hubs_have_many_neighbours():
    graph = hub_graph(96)
    count = degree(graph.edge_index[0], 96)
    assert graph.is_undirected()
    assert not graph.has_self_loops()
    assert count.min() >= 1
    assert count.max() > 5 * count.median()
    assert HubGraphs(3, 20).load().num_graphs == 3

import numpy as np
import torch
from torch_geometric.data import Data
from view_cases import graph, three_levels

from ghr.hierarchy.data import levels_of
from ghr.hierarchy.lattice import lattice_edges
from ghr.view.places import drawn_edges, place_clusters, place_nodes


def test_own_positions_are_used_unless_they_say_nothing():
    data = graph()
    data.pos = torch.rand(24, 3)
    assert np.allclose(place_nodes(data), data.pos[:, :2].numpy())
    data.pos = torch.zeros(24, 2)
    assert np.ptp(place_nodes(data), axis=0).min() > 0


def test_a_lattice_lies_on_its_rows_and_has_no_edges_around_its_border():
    data = Data(x=torch.ones(25, 1), edge_index=lattice_edges(5))
    places = place_nodes(data)
    assert places[7].tolist() == [2.0, -1.0]
    assert drawn_edges(levels_of(data)[0], places, lattice=True).shape == (2, 40)
    assert drawn_edges(levels_of(data)[0], places).shape == (2, 50)


def test_a_cluster_stands_in_the_middle_of_its_members():
    data = three_levels().prepare(graph())
    places = place_nodes(data)
    for k, own in enumerate(place_clusters(places, data.levels)[1:], start=1):
        assert own.shape == (data.levels[k].num_nodes, 2)
    first = place_clusters(places, data.levels)[1]
    clusters = data.levels[1].clusters.numpy()
    for cluster in range(len(first)):
        assert np.allclose(first[cluster], places[clusters == cluster].mean(axis=0))


def test_every_pair_is_drawn_once():
    data = Data(x=torch.ones(3, 1), edge_index=torch.tensor([[0, 1, 1, 2, 2], [1, 0, 1, 1, 1]]))
    assert drawn_edges(levels_of(data)[0], np.zeros((3, 2))).T.tolist() == [[0, 1], [1, 2]]

from itertools import pairwise

import numpy as np
import pytest
import torch
from torch_geometric.data import Data

from ghr.hierarchy.lattice import lattice_edges
from ghr.plots.layout import is_lattice, place, stress


def path(size):
    nodes = torch.arange(size)
    edges = torch.stack([nodes[:-1], nodes[1:]])
    return Data(x=torch.ones(size, 1), edge_index=torch.cat([edges, edges.flip(0)], dim=1))


def hops(size):
    return np.abs(np.subtract.outer(np.arange(size), np.arange(size))).astype(float)


def test_a_path_is_drawn_straight():
    places = place(path(9), rounds=300)
    assert stress(places, hops(9)) < 0.05
    step = np.linalg.norm(np.diff(places, axis=0), axis=1)
    assert step == pytest.approx(np.ones(8), abs=0.1)


def test_more_rounds_never_have_more_stress():
    star = torch.tensor([[0] * 6 + [1, 2, 3, 4, 5, 6], [1, 2, 3, 4, 5, 6] + [0] * 6])
    graph = Data(x=torch.ones(7, 1), edge_index=star)
    distance = np.where(np.eye(7, dtype=bool), 0.0, 2.0)
    distance[0, 1:] = distance[1:, 0] = 1.0
    stresses = [stress(place(graph, rounds=rounds), distance) for rounds in range(12)]
    assert all(later <= earlier + 1e-9 for earlier, later in pairwise(stresses))
    assert stresses[-1] < stresses[0]


def test_leaves_of_one_node_are_kept_apart():
    star = torch.tensor([[0, 0, 0, 1, 2, 3], [1, 2, 3, 0, 0, 0]])
    places = place(Data(x=torch.ones(4, 1), edge_index=star))
    apart = np.linalg.norm(places[1:, None] - places[None, 1:], axis=2)[np.triu_indices(3, 1)]
    assert apart.min() > 0.5


def test_own_positions_are_used():
    graph = path(4)
    graph.pos = torch.rand(4, 3)
    assert np.allclose(place(graph), graph.pos[:, :2].numpy())


def test_nodes_without_edges_have_a_place():
    alone = Data(x=torch.ones(1, 1), edge_index=torch.empty(2, 0, dtype=torch.long))
    assert place(alone).shape == (1, 2)
    parts = Data(x=torch.ones(3, 1), edge_index=torch.tensor([[0, 1], [1, 0]]))
    assert np.isfinite(place(parts)).all()


def test_lattices_are_known_by_their_edges():
    lattice = Data(x=torch.ones(16, 1), edge_index=lattice_edges(4))
    assert is_lattice(lattice)
    lattice.edge_index = lattice.edge_index.flip(1)
    assert not is_lattice(lattice)
    assert not is_lattice(path(9))
    assert not is_lattice(path(8))

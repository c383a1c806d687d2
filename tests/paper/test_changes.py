import numpy as np
import pytest
import torch

from ghr.paper.changes import Drop, Noise, Shift
from ghr.testing import random_graph


def rng(seed=0):
    return np.random.default_rng(seed)


def test_features_are_shifted_and_the_given_graph_is_left_alone():
    data = random_graph(6, 9, in_channels=2)
    before = data.x.clone()
    changed = Shift(0.5)(data, rng())
    assert torch.equal(changed.x, before + 0.5)
    assert torch.equal(data.x, before)
    assert Shift(0.5).name == "features + 0.5"


def test_noise_has_its_deviation_and_its_seed():
    data = random_graph(4000, 10)
    noisy = Noise(0.2)(data, rng())
    assert float((noisy.x - data.x).std()) == pytest.approx(0.2, rel=0.05)
    assert torch.equal(noisy.x, Noise(0.2)(data, rng()).x)
    assert not torch.equal(noisy.x, Noise(0.2)(data, rng(1)).x)
    assert noisy.x.dtype == torch.float32


def test_edges_are_dropped_in_both_directions_with_their_features():
    data = random_graph(30, 80, edge_dim=1)
    changed = Drop(0.25)(data, rng())
    assert changed.num_edges == data.num_edges - 2 * round(0.25 * data.num_edges / 2)
    pairs = {(int(u), int(v)): float(w) for (u, v), w in zip(data.edge_index.T, data.edge_attr[:, 0], strict=True)}
    left = {(int(u), int(v)): float(w) for (u, v), w in zip(changed.edge_index.T, changed.edge_attr[:, 0], strict=True)}
    assert left.items() <= pairs.items()
    assert all((v, u) in left for u, v in left)
    assert Drop(0.25).name == "25 % of the edges dropped"
    assert Drop(1.0)(data, rng()).num_edges == 0
    assert Drop(0.5)(Drop(1.0)(data, rng()), rng()).num_edges == 0


def test_targets_are_given_anew_where_they_depend_on_edges():
    def relabel(graph):
        graph.y = torch.tensor([[float(graph.num_edges)]])
        return graph

    assert float(Drop(1.0, relabel)(random_graph(5, 6), rng()).y) == 0

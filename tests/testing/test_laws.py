"""A law is worth something only if it fails for what breaks it."""

import pytest
import torch
from torch import nn
from torch_geometric.data import Data

from ghr import Coarsen, Graclus
from ghr.testing import (
    assert_batch_equals_loop,
    assert_gradients_reach_all_parameters,
    assert_permutation_equivariant,
    assert_quotient,
    random_graph,
)


@pytest.fixture
def data():
    return Coarsen(Graclus(rounds=1))(random_graph(12, 24, edge_dim=1, seed=1))


def neighbour_sum(data):
    return data.x + torch.zeros_like(data.x).index_add(
        0, data.edge_index[1], data.x[data.edge_index[0]] * data.edge_attr
    )


def test_a_true_quotient_passes_and_broken_ones_do_not(data):
    assert_quotient(data)
    missing, loop, gap = data.clone(), data.clone(), data.clone()
    missing.level1_edge_index = missing.level1_edge_index[:, 1:]
    loop.level1_edge_index = torch.cat([torch.zeros(2, 1, dtype=torch.long), loop.level1_edge_index], dim=1)
    for broken in (missing, loop):
        broken.level1_edge_attr = broken.level1_edge_attr[:1].repeat(broken.level1_edge_index.size(1), 1)
    gap.level1_batch = torch.zeros(gap.levels[1].num_nodes + 1, dtype=torch.long)
    for broken in (missing, loop, gap):
        with pytest.raises(AssertionError):
            assert_quotient(broken)


def test_equivariance(data):
    assert_permutation_equivariant(neighbour_sum, data)
    assert_permutation_equivariant(lambda d: d.x.sum(0, keepdim=True), data, level="graph")
    assert_permutation_equivariant(lambda d: d.x[d.edge_index[0]] * d.edge_attr, data, level="edge")
    assert_permutation_equivariant(lambda d: d.x.new_zeros(12, 1).index_add(0, torch.arange(12), d.x), data)
    with pytest.raises(AssertionError, match="renumbering"):
        assert_permutation_equivariant(lambda d: d.x.cumsum(0), data)
    with pytest.raises(AssertionError, match="renumbering"):
        assert_permutation_equivariant(lambda d: d.level1_assignment.unsqueeze(1).float(), data)


def test_equivariance_carries_the_hierarchy_along(data):
    def member_mean(d):
        clusters = d.levels[1]
        total = torch.zeros(clusters.num_nodes, 1).index_add(0, clusters.assignment, d.x)
        over = torch.zeros_like(total).index_add(0, clusters.edge_index[1], total[clusters.edge_index[0]])
        return over[clusters.assignment]

    assert_permutation_equivariant(member_mean, data)


def test_batching(data):
    other = Coarsen(Graclus(rounds=1))(random_graph(7, 9, edge_dim=1, seed=2))
    assert_batch_equals_loop(neighbour_sum, [data, other])
    with pytest.raises(AssertionError, match="one by one"):
        assert_batch_equals_loop(lambda d: d.x - d.x.mean(), [data, other])


def test_gradients():
    class Half(nn.Module):
        def __init__(self):
            super().__init__()
            self.used, self.unused = nn.Linear(1, 1), nn.Linear(1, 1)

        def forward(self, data):
            return self.used(data.x) + 0 * self.unused(data.x)

    graph = Data(x=torch.randn(5, 1), edge_index=torch.empty(2, 0, dtype=torch.long))
    with pytest.raises(AssertionError, match=r"unused\.weight is zero"):
        assert_gradients_reach_all_parameters(Half(), graph)
    assert_gradients_reach_all_parameters(Half().used, graph.x)

import numpy as np
import pytest
import torch
from torch_geometric.utils import grid

from ghr.hierarchy.divide import divide_nodes


@pytest.mark.parametrize("count", [1, 3, 4, 16])
def test_groups_weigh_the_same_and_have_short_borders(count):
    edges, _ = grid(24, 24)
    group = divide_nodes(edges, np.ones(576, np.int64), count)
    sizes = np.bincount(group, minlength=count)
    assert sizes.min() >= 0.9 * 576 / count
    assert sizes.max() <= 1.1 * 576 / count
    crossing = (group[edges[0]] != group[edges[1]]).mean()
    rows = np.arange(576) * count // 576  # strips
    assert crossing <= (rows[edges[0]] != rows[edges[1]]).mean() + 1e-9


def test_weights_count_and_not_nodes():
    path = torch.stack([torch.arange(9), torch.arange(1, 10)])
    weight = np.array([5, 1, 1, 1, 1, 1, 1, 1, 1, 1])
    group = divide_nodes(path, weight, 2)
    assert sorted(np.bincount(group, weight)) == [7, 7]
    assert len(set(group[:3])) == 1


def test_components_and_single_nodes_are_divided_too():
    edges = torch.tensor([[0, 1, 4, 5], [1, 0, 5, 4]])
    for count in (1, 2, 8):
        group = divide_nodes(edges, np.ones(8, np.int64), count)
        assert set(group.tolist()) == set(range(count)), "every group has a node"
    assert divide_nodes(torch.empty(2, 0, dtype=torch.long), np.ones(3, np.int64), 3).tolist() != [0, 0, 0]

import statistics as plain

import numpy as np
import pytest
import torch
from torch_geometric.data import Data

from ghr.datasets import LRIM, METRICS, RGGSSSP, CachedDataset, Task
from ghr.datasets import statistics as module
from ghr.datasets.statistics import Extent, describe


class Rings(CachedDataset):
    """Rings of 3, 4, ... nodes whose targets are a tenth of the node's number."""

    task = Task("node", metric=METRICS["mae"].scale(10, "nodes"))
    target_scale = 10.0

    def options(self):
        return {}

    def generate(self):
        graphs = []
        for size in (3, 4, 8, 8):
            nodes = torch.arange(size)
            edges = torch.stack([nodes, (nodes + 1) % size])
            graphs.append(
                Data(
                    x=torch.ones(size, 1),
                    edge_index=torch.cat([edges, edges.flip(0)], dim=1),
                    y=nodes.view(-1, 1) / 10,
                    mask=nodes != 1,
                )
            )
        return graphs


def test_numbers_are_those_counted_by_hand(tmp_path):
    dataset = Rings(tmp_path)
    found = describe(dataset, dataset.task, scale=10)
    targets = [value for size in (3, 4, 8, 8) for value in range(size) if value != 1]
    middle = sorted(targets)[(len(targets) - 1) // 2]
    assert found.graphs == 4
    assert found.nodes == Extent(23 / 4, 3, 8)
    assert found.edges == Extent(46 / 4, 6, 16)
    assert found.degree == 2.0
    assert found.diameter == Extent((1 + 2 + 4 + 4) / 4, 1, 4)
    assert (found.searched, found.targets) == (4, len(targets))
    assert found.target_mean == pytest.approx(plain.mean(targets))
    assert found.target_std == pytest.approx(plain.pstdev(targets))
    error = plain.mean(abs(value - middle) for value in targets)
    assert found.constant_mae == pytest.approx(error)
    assert found.constant_metric == pytest.approx(error, abs=1e-6)


def test_no_constant_is_better_than_the_one_reported(tmp_path):
    dataset = RGGSSSP(tmp_path, num_graphs=20)
    found, target = describe(dataset, dataset.task), dataset.y[dataset.mask]
    errors = [dataset.metric(torch.full_like(target, float(guess)), target) for guess in np.linspace(0, 5, 51)]
    assert found.constant_mae == pytest.approx(min(errors), abs=1e-6)


def test_squared_errors_take_the_mean(tmp_path):
    dataset = LRIM(tmp_path, size=4, temperature=6.0, num_graphs=30)
    found = describe(dataset, dataset.task)
    assert found.constant_metric == pytest.approx(np.log10(found.target_std**2), abs=1e-6)
    assert found.diameter == Extent(4, 4, 4)


def test_a_view_of_a_dataset_is_described_on_its_own(tmp_path):
    assert describe(Rings(tmp_path)[2:], Rings.task).nodes == Extent(8, 8, 8)


def test_large_sets_are_sampled_and_large_graphs_not_searched(tmp_path, monkeypatch):
    assert describe(Rings(tmp_path), Rings.task, most_searched=2).searched == 2
    monkeypatch.setattr(module, "LARGEST_SEARCHED", 7)
    found = describe(Rings(tmp_path), Rings.task)
    assert (found.diameter, found.searched) == (None, 0)


def pair(**values):
    return Data(x=torch.ones(2, 1), edge_index=torch.tensor([[0, 1], [1, 0]]), **values)


def test_classes_have_a_most_frequent_one_and_no_mean():
    task = Task("node", 3, loss="cross_entropy", metric=METRICS["accuracy"].scale(100, "%"))
    graphs = [pair(y=torch.tensor([2, 2])), pair(y=torch.tensor([2, 0])), pair(y=torch.tensor([-1, 1]))]
    found = describe(graphs, task)
    assert (found.targets, found.target_mean, found.target_std, found.constant_mae) == (5, None, None, None)
    assert found.constant_metric == pytest.approx(60.0)


def test_missing_entries_are_left_out_column_by_column():
    graphs = [pair(y=torch.tensor([[1.0, torch.nan], [3.0, 10.0]])), pair(y=torch.tensor([[2.0, 20.0], [2.0, 30.0]]))]
    found = describe(graphs, Task("node", 2))
    assert found.targets == 7
    assert found.target_mean == pytest.approx((1 + 3 + 2 + 2 + 60) / 7)
    assert found.constant_mae == found.constant_metric == pytest.approx((1 + 1 + 10 + 10) / 7)


def test_the_better_of_two_constants_depends_on_the_direction():
    graphs = [pair(y=torch.tensor([[0.0], [0.0]])), pair(y=torch.tensor([[0.0], [8.0]]))]
    assert describe(graphs, Task("node", metric="r2")).constant_metric == pytest.approx(0.0)  # of the mean
    assert describe(graphs, Task("node", metric="mae")).constant_metric == pytest.approx(2.0)  # of the median

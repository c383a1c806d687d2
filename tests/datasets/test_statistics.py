import statistics as plain

import numpy as np
import pytest
import torch
from torch_geometric.data import Data

from ghr.datasets import LRIM, RGGSSSP, CachedDataset
from ghr.datasets import statistics as module
from ghr.datasets.metrics import mean_absolute_error
from ghr.datasets.statistics import Spread, describe


class Rings(CachedDataset):
    """Rings of 3, 4, ... nodes whose targets are a tenth of the node's number."""

    task = "node"
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

    @staticmethod
    def metric(prediction, target):
        return 10 * mean_absolute_error(prediction, target)


def test_numbers_are_those_counted_by_hand(tmp_path):
    found = describe(Rings(tmp_path))
    targets = [value for size in (3, 4, 8, 8) for value in range(size) if value != 1]
    middle = sorted(targets)[(len(targets) - 1) // 2]
    assert found.graphs == 4
    assert found.nodes == Spread(23 / 4, 3, 8)
    assert found.edges == Spread(46 / 4, 6, 16)
    assert found.degree == 2.0
    assert found.diameter == Spread((1 + 2 + 4 + 4) / 4, 1, 4)
    assert found.searched == 4
    assert found.target_mean == pytest.approx(plain.mean(targets))
    assert found.target_std == pytest.approx(plain.pstdev(targets))
    error = plain.mean(abs(value - middle) for value in targets)
    assert found.constant_mae == pytest.approx(error)
    assert found.constant_metric == pytest.approx(error, abs=1e-6)


def test_no_constant_is_better_than_the_one_reported(tmp_path):
    dataset = RGGSSSP(tmp_path, num_graphs=20)
    found, target = describe(dataset), dataset.y[dataset.mask]
    errors = [dataset.metric(torch.full_like(target, float(guess)), target) for guess in np.linspace(0, 5, 51)]
    assert found.constant_mae == pytest.approx(min(errors), abs=1e-6)


def test_squared_errors_take_the_mean(tmp_path):
    dataset = LRIM(tmp_path, size=4, temperature=6.0, num_graphs=30)
    found = describe(dataset)
    assert found.constant_metric == pytest.approx(np.log10(found.target_std**2), abs=1e-6)
    assert found.diameter == Spread(4, 4, 4)


def test_a_view_of_a_dataset_is_described_on_its_own(tmp_path):
    assert describe(Rings(tmp_path)[2:]).nodes == Spread(8, 8, 8)


def test_large_sets_are_sampled_and_large_graphs_not_searched(tmp_path, monkeypatch):
    assert describe(Rings(tmp_path), most_searched=2).searched == 2
    monkeypatch.setattr(module, "LARGEST_SEARCHED", 7)
    found = describe(Rings(tmp_path))
    assert (found.diameter, found.searched) == (None, 0)

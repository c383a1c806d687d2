"""The models that come with the package."""

import pytest
import torch

from ghr import GHR, CentrePaths, Coarsen, Graclus, MinPlusGHR
from ghr.datasets import RGGSSSP
from ghr.models.pretrained import BUNDLED
from ghr.testing import path_graph
from ghr.train import evaluate

# name: class, regime, largest distance in training, what coarse edges carry, largest error in range
MODELS = {
    "rgg-sssp-small-cap5": (GHR, "small", 5, ("min", "mean"), 0.02),
    "rgg-sssp-small-cap8": (GHR, "small", 8, ("min", "mean"), 0.05),
    "rgg-sssp-large": (GHR, "large", 20, ("min", "mean"), 0.1),
    "rgg-sssp-min-plus": (MinPlusGHR, "small", 5, CentrePaths(), 0.001),
}


def test_all_are_listed_here_and_small():
    assert {path.parent.name for path in BUNDLED.glob("*/config.json")} == set(MODELS)
    for name in MODELS:
        assert sum(file.stat().st_size for file in (BUNDLED / name).iterdir()) < 100_000


@pytest.mark.parametrize("name", MODELS)
def test_each_is_accurate_in_the_range_of_its_training(name, tmp_path):
    cls, regime, cap, edge_reduce, bound = MODELS[name]
    coarsen = Coarsen(Graclus(rounds=3, seed=0), edge_reduce)
    graphs = RGGSSSP(tmp_path, regime, "val", max_distance=cap, num_graphs=10, seed=7, pre_transform=coarsen)
    assert evaluate(cls.from_pretrained(name), graphs) < bound


@pytest.mark.parametrize("length", [6, 100, 400])
def test_the_extension_is_right_at_any_distance(length):
    data = Coarsen(Graclus(rounds=3, seed=0), CentrePaths())(path_graph(length))
    predicted = MinPlusGHR.from_pretrained("rgg-sssp-min-plus").eval()(data, steps="auto").flatten()
    torch.testing.assert_close(predicted, torch.arange(float(length)), rtol=1e-4, atol=1e-3)

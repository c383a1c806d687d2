"""The models that come with the package."""

import pytest
import torch

from ghr import GHR, CentrePaths, Coarsen, Graclus, MinPlusGHR
from ghr.datasets import LRIM, RGGSSSP
from ghr.models.pretrained import BUNDLED
from ghr.testing import path_graph
from ghr.train import evaluate

# name: class, regime, largest distance in training, what coarse edges carry, largest error in range
MODELS = {
    "rgg-sssp-small-cap5": (GHR, "small", 5, ("min", "mean"), 0.02),
    "rgg-sssp-small-cap8": (GHR, "small", 8, ("min", "mean"), 0.05),
    "rgg-sssp-large": (GHR, "large", 20, ("min", "mean"), 0.1),
    "rgg-sssp-min-plus": (MinPlusGHR, "small", 5, CentrePaths(), 0.001),
    "rgg-sssp-general": (GHR, "small", 5, ("min", "mean"), 0.001),
}
OTHERS = {"lrim-16-hard"}


def test_all_are_listed_here_and_small():
    assert {path.parent.name for path in BUNDLED.glob("*/config.json")} == set(MODELS) | OTHERS
    for name in (*MODELS, *OTHERS):
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


@pytest.mark.parametrize("length", [9, 60])
def test_the_general_model_is_right_far_out_of_its_range(length):
    graph = path_graph(length, edge_dim=1)
    graph.edge_attr = torch.ones(graph.num_edges, 1)
    data = Coarsen(Graclus(rounds=3, seed=0), ("min", "mean"))(graph)
    predicted = GHR.from_pretrained("rgg-sssp-general").eval()(data, steps="auto").flatten()
    torch.testing.assert_close(predicted, torch.arange(float(length)), rtol=0.01, atol=0.01)


@pytest.mark.parametrize(("size", "bound"), [(16, -5.5), (32, -3.0)])
def test_the_lattice_model_holds_on_lattices_that_it_was_not_trained_on(size, bound, tmp_path):
    model = GHR.from_pretrained("lrim-16-hard").eval()
    graphs = LRIM(
        tmp_path, size=size, sigma=0.6, split="val", source="generate", num_graphs=4, pre_transform=model.transform
    )
    assert graphs[0].num_levels == {16: 3, 32: 4}[size]
    assert evaluate(model, graphs) < bound

import json

import pytest
import torch

from ghr.paper import DeepSpec, GHRSpec, MinPlusSpec, Recipe, RGGSpec
from ghr.train import TrainConfig

TINY = RGGSpec(train_graphs=6, val_graphs=3, test_graphs=5)


@pytest.mark.parametrize("model", [GHRSpec(conv="gine", steps=3), DeepSpec(layers=3), MinPlusSpec(levels=1)])
def test_a_recipe_survives_the_trip_through_json(model):
    recipe = Recipe(model, RGGSpec(regime="large", weighted=True), TrainConfig(epochs=2, seed=5))
    config = json.loads(json.dumps({"train": recipe.train.__dict__, **recipe.describe()}))
    assert Recipe.from_config(config) == recipe


def test_the_model_follows_from_the_seed_and_the_callers_random_state_is_left_alone():
    torch.manual_seed(3)
    expected = torch.rand(1)
    torch.manual_seed(3)
    first, same, other = (Recipe(train=TrainConfig(seed=seed)).build() for seed in (0, 0, 1))
    assert torch.equal(torch.rand(1), expected)
    weights = [next(model.parameters()) for model in (first, same, other)]
    assert torch.equal(weights[0], weights[1])
    assert not torch.equal(weights[0], weights[2])


def test_a_run_is_judged_on_the_test_split_by_distance(tmp_path):
    recipe = Recipe(GHRSpec(steps=1, t_high=1, t_low=1), TINY, TrainConfig(epochs=1))
    model, result = recipe.run(tmp_path / "run", tmp_path / "data", quiet=True)
    metrics = result["metrics"]
    test_set = TINY.load(tmp_path / "data", "test")
    error, count = {}, {}
    with torch.no_grad():
        for graph in test_set:
            for guess, true, hop in zip(model(graph)[:, 0], graph.y[:, 0], graph.hops.tolist(), strict=True):
                if hop >= 0:
                    error[hop] = error.get(hop, 0.0) + abs(float(guess) - float(true))
                    count[hop] = count.get(hop, 0) + 1
    for hop, total in error.items():
        assert metrics["by_distance"][str(hop)]["count"] == count[hop]
        assert metrics["by_distance"][str(hop)]["mae"] == pytest.approx(total / count[hop], rel=1e-4)
    near = [hop for hop in error if hop <= 5]
    assert metrics["in_range"] == pytest.approx(sum(error[h] for h in near) / sum(count[h] for h in near), rel=1e-4)
    assert recipe.judge(model, tmp_path / "data", t_low=3)["mae"] != metrics["mae"]


def test_the_extension_is_exact_beyond_the_range_after_a_short_training(tmp_path):
    data = RGGSpec(train_graphs=60, val_graphs=10, test_graphs=20, weighted=True)
    recipe = Recipe(MinPlusSpec(), data, TrainConfig(epochs=12, lr=1e-2, batch_size=8, schedule="cosine"))
    model, result = recipe.run(tmp_path / "run", tmp_path / "data", quiet=True)
    assert 0 < result["metrics"]["out_of_range"] < 1e-2
    assert recipe.judge(model, tmp_path / "data", steps="auto")["out_of_range"] < 1e-2
    coarse = recipe.load(tmp_path / "data", "test")[0].levels[1]
    assert coarse.centre_distance is not None


def test_a_config_of_something_else_is_a_sentence():
    with pytest.raises(ValueError, match="does not describe a recipe"):
        Recipe.from_config({"train": {}})

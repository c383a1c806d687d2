from ghr.models import GHR
from ghr.paper.protocol import PAPER, RECIPES


def test_recipes_have_the_steps_and_the_sizes_of_the_paper():
    assert list(RECIPES) == ["rgg-sssp-small", "rgg-sssp-large"]
    for recipe, counts in zip(RECIPES.values(), [(4, 2, 2), (4, 3, 6)], strict=True):
        model = recipe.build()
        assert isinstance(model, GHR)
        assert (model.steps, model.t_high, model.t_low) == counts
        assert model.config["hidden_channels"] == 32
        assert recipe.data.train_graphs == 6000
        assert recipe.train == PAPER


def test_training_is_that_of_the_published_code():
    assert (PAPER.optimizer, PAPER.lr, PAPER.weight_decay, PAPER.clip) == ("adam", 1e-3, 0.0, 1.0)
    assert (PAPER.batch_size, PAPER.epochs, PAPER.patience) == (32, 300, 15)
    assert (PAPER.gamma, PAPER.jitter, PAPER.schedule) == (0.8, True, "constant")

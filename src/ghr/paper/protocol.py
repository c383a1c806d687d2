"""How the paper trains, and the recipe of every benchmark."""

from ghr.paper.data_specs import RGGSpec
from ghr.paper.model_specs import GHRSpec
from ghr.paper.recipe import Recipe
from ghr.train import TrainConfig

PAPER = TrainConfig(epochs=300, lr=1e-3, batch_size=32, patience=15)
RECIPES = {
    "rgg-sssp-small": Recipe(GHRSpec(t_high=2, t_low=2), RGGSpec("small"), PAPER),
    "rgg-sssp-large": Recipe(GHRSpec(t_high=3, t_low=6), RGGSpec("large"), PAPER),
}

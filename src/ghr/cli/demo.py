"""``ghr demo``: the main claim, live, in minutes."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from torch import nn
from torch_geometric.data import Data

from ghr.cli.errors import errors_table
from ghr.files import explained
from ghr.models import GHR
from ghr.paper import DeepSpec, GHRSpec, Recipe, RGGSpec
from ghr.paper.figures import draw_out_of_range
from ghr.train import TrainConfig


@dataclass
class Demo:
    """Train GHR and a deep GINE on distances up to 5 hops, test both up to 8, draw the figure.

    Takes a few minutes on two cores, offline. A finished demo is shown again at once; a killed one goes on.
    """

    out: Path = Path("demo")
    """Folder for data, runs and the figure."""
    graphs: int = 1000
    """Graphs to train on."""
    epochs: int = 24
    """Passes over them."""
    t_low: int = 3
    """Low-level updates of GHR when tested beyond its range; it is trained with 2."""
    seed: int = 0
    """Seed of weights and batches."""
    quiet: bool = False
    """No progress bar."""

    def run(self) -> None:
        """Train both, test both, print the table and write the figure."""
        data = RGGSpec(train_graphs=self.graphs, val_graphs=200, test_graphs=500)
        train = TrainConfig(epochs=self.epochs, batch_size=16, lr=3e-3, schedule="cosine", seed=self.seed)
        ghr = Recipe(GHRSpec(), data, train)
        deep = Recipe(DeepSpec(), data, train)
        try:
            self.out.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise explained("make the folder", self.out, error) from error

        print("Task: the distance of every node from a marked source, on random geometric graphs of 40-60 nodes.")
        print("Training sees distances up to 5 hops; the test goes to 8.\n")
        in_range = data.in_range
        _, deep_result = self._train("deep GINE, 10 layers", "deep-gine", deep)
        model, result = self._train("GHR", "ghr", ghr)
        errors = {
            f"GHR, {self.t_low} low-level steps": ghr.judge(model, self.out / "data", t_low=self.t_low),
            "GHR, 2 as in training": result["metrics"],
            "deep GINE, 10 layers": deep_result["metrics"],
        }
        print(errors_table(errors, in_range))

        test_set = ghr.data.load(self.out / "data", "test")
        graph = max(test_set, key=lambda each: (int(each.hops.max()), each.num_nodes))
        assert isinstance(model, GHR)
        assert isinstance(graph, Data)
        with torch.no_grad():
            prediction = model(graph, t_low=self.t_low)
        figure = self.out / "out_of_range.png"
        draw_out_of_range(figure, errors, in_range, graph, prediction)
        print(f"\nFigure   {figure}")
        print(f"Runs     {self.out / 'ghr'} and {self.out / 'deep-gine'} (config, metrics by epoch, weights, result)")
        print(f"Try next ghr eval {self.out / 'ghr'} --t-low 4")
        print("         ghr train rgg-sssp-small --help")

    def _train(self, title: str, name: str, recipe: Recipe) -> tuple[nn.Module, dict[str, Any]]:
        count = sum(parameter.numel() for parameter in recipe.build().parameters())
        print(f"{title}: {count:,} parameters, {recipe.data.train_graphs} graphs, {recipe.train.epochs} epochs")
        model, result = recipe.run(self.out / name, self.out / "data", quiet=self.quiet)
        print(f"  trained in {result['seconds']:.0f} s, validation error {result['best_val']:.3f} hops\n")
        return model, result

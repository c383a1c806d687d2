"""``ghr demo``: the main claim, live, in minutes."""

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from torch import nn

from ghr.cli.errors import errors_table
from ghr.files import explained
from ghr.models.inputs import check_positive
from ghr.paper import DeepSpec, GHRSpec, MinPlusSpec, Recipe, RGGSpec
from ghr.paper.figures import draw_out_of_range
from ghr.train import TrainConfig

DEEP, GHR, EXTENSION = "deep GINE, 10 layers", "GHR", "min-plus extension"


@dataclass
class Demo:
    """Train a deep GINE, GHR and its min-plus extension on distances up to 5 hops, test all up to 8, draw the figure.

    Takes a few minutes on two cores, offline. A finished demo is shown again at once; a killed one goes on.
    """

    out: Path = Path("demo")
    """Folder for data, runs and the figure."""
    graphs: int = 1000
    """Graphs to train on."""
    epochs: int = 24
    """Passes over them; the extension needs half as many."""
    t_low: int = 3
    """Low-level updates of GHR when tested beyond its range; it is trained with 2."""
    seed: int = 0
    """Seed of weights and batches."""
    quiet: bool = False
    """No progress bar."""

    def run(self) -> None:
        """Train all three, test them, print the table and write the figure."""
        check_positive("--t-low", self.t_low)
        data = RGGSpec(train_graphs=self.graphs, val_graphs=200, test_graphs=500)
        train = TrainConfig(epochs=self.epochs, batch_size=16, lr=3e-3, schedule="cosine", seed=self.seed)
        short = TrainConfig(epochs=-(-self.epochs // 2), batch_size=32, lr=1e-2, schedule="cosine", seed=self.seed)
        deep, ghr = Recipe(DeepSpec(), data, train), Recipe(GHRSpec(), data, train)
        extension = Recipe(MinPlusSpec(), data, short)
        try:
            self.out.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise explained("make the folder", self.out, error) from error

        print("Task: the distance of every node from a marked source, on random geometric graphs of 40-60 nodes.")
        print("Training sees distances up to 5 hops; the test goes to 8.\n")
        in_range = data.in_range
        _, deep_result = self._train(f"{DEEP}, a baseline of the paper", "deep-gine", deep)
        ghr_model, ghr_result = self._train(f"{GHR}, the model of the paper", "ghr", ghr)
        model, result = self._train(
            f"{EXTENSION}, not in the paper: it starts close to shortest paths and learns mostly a scale",
            "min-plus",
            extension,
        )
        errors = {
            f"{GHR}, {self.t_low} low-level steps": ghr.judge(ghr_model, self.out / "data", t_low=self.t_low),
            f"{GHR}, 2 as in training": ghr_result["metrics"],
            DEEP: deep_result["metrics"],
            EXTENSION: result["metrics"],
        }
        print(errors_table(errors, in_range))

        graph, coarsened_otherwise = (_farthest(recipe.load(self.out / "data", "test")) for recipe in (ghr, extension))
        with torch.no_grad():
            predictions = {
                f"{GHR}, {self.t_low} low-level steps": ghr_model(graph, t_low=self.t_low),
                EXTENSION: model(coarsened_otherwise),
            }
        figure = self.out / "out_of_range.png"
        draw_out_of_range(figure, errors, in_range, graph, predictions)
        print(f"\nFigure   {figure}")
        runs = ", ".join(str(self.out / name) for name in ("deep-gine", "ghr", "min-plus"))
        print(f"Runs     {runs} (config, metrics by epoch, weights, result)")
        print(f"Try next ghr eval {self.out / 'ghr'} --t-low 4")
        print("         ghr train rgg-sssp-small --help")

    def _train(self, title: str, name: str, recipe: Recipe) -> tuple[nn.Module, dict[str, Any]]:
        count = sum(parameter.numel() for parameter in recipe.build().parameters())
        print(f"{title}\n  {count:,} parameters, {recipe.data.train_graphs} graphs, {recipe.train.epochs} epochs")
        model, result = recipe.run(self.out / name, self.out / "data", quiet=self.quiet)
        print(f"  trained in {result['seconds']:.0f} s, validation error {result['best_val']:.3f} hops\n")
        return model, result


def _farthest(graphs: Iterable[Any]) -> Any:
    """Return the graph with the largest distance, and the most nodes among those."""
    return max(graphs, key=lambda graph: (int(graph.hops.max()), graph.num_nodes))

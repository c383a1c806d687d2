"""``ghr eval``: a finished run, judged again."""

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import tyro
from torch import nn

from ghr.cli.errors import errors_table
from ghr.models import DeepGNN, Recurrence
from ghr.paper import Recipe
from ghr.train import load_best


@dataclass
class Eval:
    """Judge a trained run on its test graphs, with as many steps as you like."""

    directory: tyro.conf.Positional[Path]
    """The run directory."""
    steps: int | Literal["auto"] | None = None
    """Global steps, if not as in training; "auto" runs until predictions no longer change."""
    t_high: int | None = None
    """Updates of the coarse level, if not as in training."""
    t_low: int | None = None
    """Updates of the graph itself, if not as in training."""
    data: Path | None = None
    """Folder of the generated graphs; by default the folder "data" beside the run, or here."""
    quiet: bool = False
    """Say only the result."""

    def run(self) -> None:
        """Load the best weights and print the errors by distance."""
        file = self.directory / "config.json"
        if not file.is_file():
            raise FileNotFoundError(f"{self.directory} is not a run directory: it has no config.json.")
        try:
            recipe = Recipe.from_config(json.loads(file.read_text()))
        except ValueError as error:
            raise ValueError(f"{file} does not describe a run: {error}") from error
        model = recipe.build()
        load_best(model, self.directory)
        counts: dict[str, Any] = {"steps": self.steps, "t_high": self.t_high, "t_low": self.t_low}
        changed = {name: value for name, value in counts.items() if value is not None}
        foreign = [name for name in changed if name not in _counts_of(model)]
        if foreign:
            known = ", ".join(_counts_of(model)) or "no steps"
            raise ValueError(f"{self.directory} holds a model with {known}; leave out {', '.join(foreign)}.")
        root = self.data_folder()
        name = ", ".join([self.directory.name, *(f"{key}={value}" for key, value in changed.items())])
        errors = {name: recipe.judge(model, root, **changed)}
        print(errors_table(errors, recipe.data.in_range))

    def data_folder(self) -> Path:
        """Return the folder of the graphs: the one given, the one beside the run, or the one here."""
        beside = self.directory.parent / "data"
        return self.data or (beside if beside.is_dir() else Path("data"))


def _counts_of(model: nn.Module) -> tuple[str, ...]:
    """Return which numbers of steps a model can be given."""
    if isinstance(model, Recurrence):
        return ("steps", "t_low") if model.levels == 1 else ("steps", "t_high", "t_low")
    return ("steps",) if isinstance(model, DeepGNN) and model.steps is not None else ()

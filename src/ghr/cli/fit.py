"""``ghr fit``: a model for a user's own graphs."""

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import tyro

from ghr.checks import check_choice, check_names
from ghr.cli.check import check_folder
from ghr.cli.settings import KeyValue, merge_settings, parse_settings
from ghr.cli.train import describe_effort, describe_score
from ghr.datasets.folders import read_folder
from ghr.experiment import TRAINING, fit
from ghr.models import MODELS
from ghr.train import Run

# Each may be given again.
Columns = Annotated[tyro.conf.UseAppendAction[tuple[str, ...]], tyro.conf.arg(metavar="COLUMN")]


@dataclass
class Fit:
    """Train a model on your own graphs; what the files mean is found out and printed.

    FOLDER has edges.csv (columns graph, source, target, features), nodes.csv (graph, node, features) and graphs.csv
    (graph, targets); the column graph may be missing where there is one. It may also be a folder of GraphML files, or
    a single .graphml or .pt file. A column "split" (train, val, test) is honoured.
    """

    folder: Annotated[tyro.conf.Positional[Path], tyro.conf.arg(metavar="FOLDER")]
    """The graphs."""
    target: Columns = ()
    """The column to predict, of nodes.csv, edges.csv or graphs.csv; may be given again. Of a .pt file by default y."""
    out: Path | None = None
    """Run directory; by default runs/FOLDER-MODEL-SEED."""
    model: str = "ghr"
    """Name of the model; `ghr list` shows all."""
    set: KeyValue = ()
    """What to change: options of the model and of the training, such as --set steps=6 lr=1e-3 patience=20."""
    epochs: int | None = None
    """Passes over the training graphs, at most; short for --set epochs=..."""
    seed: int = 0
    """Seed of the division, of the weights and of the batches."""
    level: str | None = None
    """node, edge or graph, where several files have the target."""
    classes: bool = False
    """The target's whole numbers are classes."""
    numbers: bool = False
    """The target's integers, in a .pt file, are numbers and no classes."""
    categorical: Columns = ()
    """A column of numbers that are codes; may be given again."""
    ignore: Columns = ()
    """A column that is no feature; may be given again."""
    undirected: bool = False
    """Add the other direction of an edge wherever it is missing."""
    directed: bool = False
    """Keep edges as they are listed."""
    quiet: bool = False
    """No progress bar, and only the scores."""

    def run(self) -> None:
        """Read the graphs, train, and print what was found out and the scores."""
        settings = self._settings()
        out = self.out or Path("runs") / f"{self.folder.resolve().stem}-{self.model}-{self.seed}"
        check_folder("--out", out)
        data = read_folder(
            self.folder,
            target=self.target,
            level=self.level,
            classes=choose("--classes", self.classes, "--numbers", self.numbers),
            categorical=self.categorical,
            ignore=self.ignore,
            undirected=choose("--undirected", self.undirected, "--directed", self.directed),
        )
        if not self.quiet:
            print(*data.summary, sep="\n", flush=True)
        splits = data.splits(self.seed)
        run = fit(splits, model=self.model, out=out, seed=self.seed, quiet=self.quiet, **settings)
        print(describe_fit(run))

    def _settings(self) -> dict[str, Any]:
        settings = merge_settings(parse_settings(self.set), epochs=self.epochs)
        build = MODELS[check_choice("model", self.model, MODELS)].build
        check_names(f"{self.model} (its training included)", settings, [*build.option_names(), *TRAINING])
        return settings


def choose(yes_name: str, yes: bool, no_name: str, no: bool) -> bool | None:
    """Return what two flags say together, or ``None`` where neither was given."""
    if yes and no:
        raise ValueError(f"{yes_name} and {no_name} are opposites; give one of them.")
    return True if yes else False if no else None


def describe_fit(run: Run) -> str:
    """Return the scores of a finished run, and what to do with it."""
    result: dict[str, Any] = run.result or {}
    lines = [describe_score(run, "validation", result["best_val"], f", after epoch {result['best_epoch']}")]
    lines += [describe_score(run, "test", score) for score in list(result["metrics"].values())[:1]]
    lines += [describe_effort(result)]
    return "\n".join([*lines, f"Predict new graphs with: ghr predict {run.path} FOLDER --out predictions.csv"])

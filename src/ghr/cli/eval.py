"""``ghr eval``: a run, evaluated again."""

import json
import logging
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import tyro

from ghr.analysis import Profile, measure_exchange, measure_range
from ghr.checks import check_choice
from ghr.cli.check import check_folder
from ghr.cli.errors import errors_table
from ghr.cli.list import describe_metric
from ghr.cli.ranges import WAYS, range_table
from ghr.cli.rows import write_rows
from ghr.cli.settings import KeyValue, format_settings, parse_settings
from ghr.cli.train import describe_score
from ghr.datasets import Splits
from ghr.experiment import Experiment, evaluate_split
from ghr.files import replacing
from ghr.plots.influence import draw_influence
from ghr.train import Run, predict
from ghr.train.directory import jsonable

logger = logging.getLogger(__name__)
SPLITS = ("train", "val", "test")


@dataclass
class Eval:
    """Evaluate a trained run on the graphs of its benchmark, with as many steps as you like."""

    directory: Annotated[tyro.conf.Positional[Path], tyro.conf.arg(metavar="RUN")]
    """The run directory."""
    split: str = "test"
    """Which graphs: train, val or test."""
    set: KeyValue = ()
    """Numbers for the loops of the model, such as --set steps=8 t_low=4, or steps=auto: until nothing changes."""
    out: Path | None = None
    """CSV file for truth and prediction of every row, as they stand in the data."""
    range: bool = False
    """Also measure how far the model looks: the influence of nodes on a prediction, by their distance."""
    exchange: bool = False
    """Also measure it by exchanging the features of nodes, which sees sharp choices and integer codes too; slower."""
    figure: Path | None = None
    """PNG file for the influence by distance beside the error by distance; measures the range too."""
    data: Path | None = None
    """Folder of the benchmarks' graphs; by default the folder "data" beside the run, or here."""
    json: bool = False
    """Print the scores as JSON."""
    quiet: bool = False
    """Say only the result."""

    def run(self) -> None:
        """Load the best weights, evaluate them and print the scores."""
        check_choice("split", self.split, SPLITS)
        loops = parse_settings(self.set)
        run = Run(self.directory)
        experiment = find_experiment(run)
        run.model.check_loops(loops)
        _check_file("--out", self.out)
        _check_file("--figure", self.figure)
        root = self.data_folder()
        check_folder("--data", root)
        splits = experiment.data.load(root, run.model.transform)
        compare_data(run, splits, root)
        size, parts = experiment.train.batch_size, experiment.train.parts
        profiles = self._measure(run, splits, loops)
        scores = jsonable(evaluate_split(run.model, splits, self.split, batch_size=size, parts=parts, **loops))
        if self.json:
            described = self._describe(run, experiment, splits, loops, scores)
            described |= jsonable({way: profile.describe() for way, profile in profiles.items()})
            print(json.dumps(described, allow_nan=False))
        else:
            print(self._say(run, splits, loops, scores))
            for way, profile in profiles.items():
                print(f"\n{range_table(way, profile)}")
        if self.figure is not None:
            _draw(self.figure, run, splits, profiles, scores)
        if self.out is not None:
            predictions = predict(
                run.model, splits.named()[self.split], splits.task, batch_size=size, parts=parts, **loops
            )
            rows = write_rows(self.out, splits, self.split, predictions)
            logger.info("%d rows in %s", rows, self.out)

    def data_folder(self) -> Path:
        """Return the folder of the graphs: the one given, the one beside the run, or the one here."""
        beside = self.directory.absolute().parent / "data"
        return self.data or (beside if beside.is_dir() else Path("data"))

    def _measure(self, run: Run, splits: Splits, loops: dict[str, Any]) -> dict[str, Profile]:
        """Return how far the model looks, in all ways that were asked for."""
        graphs, found = splits.named()[self.split], dict[str, Profile]()
        if self.range or (self.figure is not None and not self.exchange):
            found["range"] = measure_range(run.model, graphs, splits.task, **loops)
        if self.exchange:
            found["range_by_exchange"] = measure_exchange(run.model, graphs, splits.task, **loops)
        return found

    def _describe(
        self, run: Run, experiment: Experiment, splits: Splits, loops: dict[str, Any], scores: dict[str, Any]
    ) -> dict[str, Any]:
        described = experiment.describe()
        return {
            "run": str(self.directory),
            "benchmark": described["data"]["benchmark"],
            "model": described["model"],
            "split": self.split,
            "graphs": len(splits.named()[self.split]),
            "loops": loops,
            "metric": describe_metric(splits.task.score),
            "scores": scores,
        }

    def _say(self, run: Run, splits: Splits, loops: dict[str, Any], scores: dict[str, Any]) -> str:
        said = describe_score(run, self.split, next(iter(scores.values())))  # the task's metric is first
        if "by_distance" not in scores:
            return said
        name = ", ".join([run.path.absolute().name, *format_settings(loops)])
        return f"{said}\n\n{errors_table({name: scores}, splits.in_range)}"


def _check_file(option: str, file: Path | None) -> None:
    """Raise an error if a file cannot be written."""
    if file is not None and file.is_dir():
        raise IsADirectoryError(f"{option} takes a file, but {file} is a folder.")
    if file is not None and not file.parent.is_dir():
        raise FileNotFoundError(f"The folder {file.parent} for the file of {option} does not exist.")


def _draw(file: Path, run: Run, splits: Splits, profiles: dict[str, Profile], scores: dict[str, Any]) -> None:
    name, title = run.path.absolute().name, splits.description.get("title", "")
    described = {f"{name}{WAYS[way].suffix}": profile.describe() for way, profile in profiles.items()}
    groups = scores.get("by_distance", {})
    errors = {name: {int(hops): group["mae"] for hops, group in groups.items()}} if groups else None
    figure = draw_influence(described, errors, in_range=splits.in_range, title=title)
    with replacing(file) as temporary:
        figure.savefig(temporary, dpi=130, format="png")
    logger.info("The picture is %s.", file)


def find_experiment(run: Run) -> Experiment:
    """Return the experiment of a run on a benchmark.

    Raises:
        ValueError: Where the run was trained on a user's own graphs, which says what to use instead.
    """
    try:
        return Experiment.from_run(run)
    except (KeyError, TypeError, AttributeError) as error:
        raise ValueError(f"{run.path / 'config.json'} does not describe a run of this version: {error!r}.") from error
    except ValueError as error:
        if "experiment" in run.config and not run.config["experiment"].get("data", {}).get("benchmark"):
            raise ValueError(
                f"{run.path} was trained on graphs of your own, which it does not hold. Predict graphs with: ghr "
                f"predict {run.path} FOLDER --out predictions.csv; or evaluate them in Python: "
                f"ghr.Run({str(run.path)!r}).evaluate(graphs)."
            ) from error
        raise


def compare_data(run: Run, splits: Splits, root: Path) -> None:
    """Warn if the graphs are not those that a run was trained on."""
    found = splits.fingerprint()
    if any(found.get(name) != stored for name, stored in run.config.get("data", {}).items()):
        logger.warning("The graphs in %s are not those that %s was trained on; its scores may differ.", root, run.path)

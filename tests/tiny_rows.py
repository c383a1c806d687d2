"""Rows that train in a second, importable by the processes that tests start."""

import json
from contextlib import ExitStack
from dataclasses import asdict, dataclass
from pathlib import Path

from ghr.datasets.rgg import REGIMES
from ghr.paper.item import Place, Report
from ghr.paper.results import gather
from ghr.paper.row import Inference, Loops, Reported, Row, Setup
from ghr.paper.runs import EVALUATIONS, RowRun, list_runs, work_on
from ghr.train.directory import FORMAT, RunDirectory, jsonable

GRAPHS = {"train": 6, "val": 3, "test": 5}
REPORTED = Reported((0.5, 0.1), (0.25, 0.05), (1.5, 0.2), 9.5)
SETUP = Setup("tiny", "rgg-sssp-small", {"patience": None}, GRAPHS, seeds=(3, 4), reported={"ghr": REPORTED})
ONCE = Setup("tiny", "rgg-sssp-small", {"patience": None}, GRAPHS, seeds=(3,))
GHR_ROW = Row(
    "GHR",
    "GHR",
    SETUP,
    "ghr",
    {"steps": 1, "t_high": 1, "t_low": 1, "hidden_channels": 8, "epochs": 2},
    Inference((Loops(t_low=2), Loops(steps=2, t_high=2)), far=Loops(t_low=2)),
)
DEEP_ROW = Row("Deep", "Deep", ONCE, "deep-gine", {"layers": 2, "hidden_channels": 8, "epochs": 1}, folder="deep")
ROWS = (GHR_ROW, DEEP_ROW)


@dataclass(frozen=True)
class TinyItem:
    name: str = "tiny"
    title: str = "A tiny item"
    rows: tuple[Row, ...] = ROWS

    def report(self, place: Place) -> Report:
        gathered = gather(self.rows, place.runs, place.seeds)
        text = "\n".join(f"{results.row.title}: {results.seeds}" for results in gathered)
        return Report(text, {"rows": [results.record() for results in gathered]})


def errors(scale: float, *, in_range: int, last: int) -> dict:
    """Errors that grow with the distance, as an evaluated run has them."""
    groups = {str(d): {"mae": scale * (1 + d) / 10, "count": 2} for d in range(last + 1)}
    values = [group["mae"] for group in groups.values()]
    far = values[in_range + 1 :]
    return {
        "mae": sum(values) / len(values),
        "in_range": sum(values[: in_range + 1]) / (in_range + 1),
        "out_of_range": sum(far) / len(far) if far else None,
        "largest_prediction": 10 * scale,
        "by_distance": groups,
    }


def pretend(run: RowRun, scale: float) -> None:
    """Write what a finished run leaves, without its weights; its errors are `scale`, and twice it with other loops."""
    regime = REGIMES[run.row.setup.benchmark.removeprefix("rgg-sssp-")]
    limits = {"in_range": run.row.in_range, "last": regime.test_max_distance}
    experiment, directory = run.experiment, RunDirectory(run.path)
    config = {"format": FORMAT, "train": asdict(experiment.train), "experiment": experiment.describe()}
    with ExitStack() as stack:
        directory.open(jsonable(config), stack)
        directory.finish(
            {
                "config": config,
                "epochs": 3,
                "best_epoch": 2,
                "best_val": scale,
                "seconds": 1.5,
                "parameters": 1000,
                "metrics": errors(scale, **limits),
                "versions": {"python": "3"},
                "machine": {"cores": 2},
            }
        )
    evaluated = {loops.label: errors(2 * scale, **limits) for loops in run.row.inference.loops}
    (run.path / EVALUATIONS).write_text(json.dumps(evaluated))


def work(folder: Path) -> None:
    """What one of several processes does."""
    work_on(list_runs(ROWS, folder / "runs"), folder / "data", quiet=True)

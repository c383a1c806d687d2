"""Rows that train in a second, importable by the processes that tests start."""

import json
from dataclasses import dataclass
from pathlib import Path

from ghr.datasets.rgg import REGIMES
from ghr.paper import DeepSpec, GHRSpec, Recipe, RGGSpec
from ghr.paper.item import Place, Report
from ghr.paper.results import gather
from ghr.paper.row import Counts, Reported, Row
from ghr.paper.runs import EVALUATIONS, Run, runs_of, work_on
from ghr.train import TrainConfig
from ghr.train.run import RunDirectory

DATA = RGGSpec(train_graphs=6, val_graphs=3, test_graphs=5)
REPORTED = Reported((0.5, 0.1), (0.25, 0.05), (1.5, 0.2), 9.5)
GHR_ROW = Row(
    "GHR",
    "ghr",
    "tiny",
    Recipe(GHRSpec(steps=1, t_high=1, t_low=1, hidden_channels=8), DATA, TrainConfig(epochs=2)),
    seeds=(3, 4),
    inference=(Counts(t_low=2), Counts(steps=2, t_high=2)),
    beyond=Counts(t_low=2),
    reported=REPORTED,
)
DEEP_ROW = Row(
    "Deep", "deep", "tiny", Recipe(DeepSpec(layers=2, hidden_channels=8), DATA, TrainConfig(epochs=1)), seeds=(3,)
)
ROWS = (GHR_ROW, DEEP_ROW)


@dataclass(frozen=True)
class TinyItem:
    name: str = "tiny"
    title: str = "A tiny item"
    rows: tuple[Row, ...] = ROWS

    def report(self, place: Place) -> Report:
        gathered = [gather(row, place.runs, place.seeds) for row in self.rows]
        text = "\n".join(f"{each.row.title}: {each.seeds}" for each in gathered)
        return Report(text, {"rows": [each.record() for each in gathered]})


def errors(scale: float, *, in_range: int, last: int) -> dict:
    """Errors that grow with the distance, as a judged run has them."""
    groups = {str(d): {"mae": scale * (1 + d) / 10, "count": 2} for d in range(last + 1)}
    values = [each["mae"] for each in groups.values()]
    beyond = values[in_range + 1 :]
    return {
        "mae": sum(values) / len(values),
        "in_range": sum(values[: in_range + 1]) / (in_range + 1),
        "out_of_range": sum(beyond) / len(beyond) if beyond else None,
        "largest_prediction": 10 * scale,
        "by_distance": groups,
    }


def pretend(run: Run, scale: float) -> None:
    """Write what a finished and judged run leaves, without its weights; its errors are `scale`, and twice it beyond."""
    data = run.row.recipe.data
    limits = {"in_range": data.in_range, "last": REGIMES[data.regime].test_max_distance}
    directory = RunDirectory(run.path)
    config = run.row.seeded(run.seed).config()
    directory.open(config)
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
    judged = {counts.label: errors(2 * scale, **limits) for counts in run.row.inference}
    (run.path / EVALUATIONS).write_text(json.dumps(judged))


def work(folder: Path) -> None:
    """What one of several processes does."""
    work_on(runs_of(ROWS, folder / "runs"), folder / "data", quiet=True)

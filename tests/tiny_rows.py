"""Rows that train in a second, importable by the processes that tests start."""

from dataclasses import dataclass
from pathlib import Path

from ghr.paper import DeepSpec, GHRSpec, Recipe, RGGSpec
from ghr.paper.item import Place, Report
from ghr.paper.results import gather
from ghr.paper.row import Counts, Reported, Row
from ghr.paper.runs import runs_of, work_on
from ghr.train import TrainConfig

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


def work(folder: Path) -> None:
    """What one of several processes does."""
    work_on(runs_of(ROWS, folder / "runs"), folder / "data", quiet=True)

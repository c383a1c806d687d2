"""Rows of cells, the numbers that are asked of them, and the tables that both form."""

from dataclasses import dataclass
from pathlib import Path

from ghr.paper.row import AS_TRAINED, Loops, Row, Test
from ghr.paper.runs import RowRun


@dataclass(frozen=True)
class CellRow(Row):
    """A row that is also tested on graphs beside those of its benchmark.

    Args:
        far: Loops there.
    """

    far: Loops = AS_TRAINED


@dataclass(frozen=True)
class Column:
    """One number of every row.

    Args:
        title: What stands above it.
        number: Its name among the errors.
        test: The graphs; ``None`` for those of the benchmark's own test.
        target: What each seed should not exceed, if anything.
    """

    title: str
    number: str
    test: Test | None = None
    target: float | None = None

    @property
    def header(self) -> str:
        """The title, with the target."""
        return self.title if self.target is None else f"{self.title} (target: at most {self.target:g})"

    def read(self, run: RowRun, far: Loops, data: Path) -> float | None:
        """Return the number of a finished run, computed where it is not known yet; ``None`` where it has none.

        Args:
            run: The run.
            far: Loops on graphs beside those of the benchmark.
            data: Folder of the generated graphs.
        """
        errors = run.metrics(run.row.far_loops) if self.test is None else run.ask(self.test, far, data)
        found = None if errors is None else errors[self.number]
        return None if found is None else float(found)


@dataclass(frozen=True)
class CellGroup:
    """Rows with the same numbers.

    Args:
        title: What is asked of them.
        text: How they are trained and tested.
        rows: The rows.
        columns: The numbers.
        digits: Digits after the point.
    """

    title: str
    text: str
    rows: tuple[CellRow, ...]
    columns: tuple[Column, ...]
    digits: int = 4

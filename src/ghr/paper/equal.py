"""Systems that are compared at equal cost: the same graphs, and about the same processor time on one thread."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from ghr.paper.row import Family, Row, Setup, Test

SEED = 42
LONG_SEEDS = (42, 43, 44)


@dataclass(frozen=True)
class System:
    """One line of a table.

    Args:
        key: Its folder.
        title: Its name in the table.
        model: Its name in ``MODELS``.
        settings: What differs from the recipe, in all columns.
        by_column: What else differs, by the key of the column.
        family: What kind of model it is.
        own_recipe: Whether the model is trained as its name in ``MODELS`` says, not as the column does.
        note: What it is told that others are not, or how it differs from what was published.
        far: Whether it is also asked what :attr:`Column.far_tests` ask; attention over all pairs would take hours.
        row: The class of its rows, where it is no model of ``MODELS``.
    """

    key: str
    title: str
    model: str
    settings: Mapping[str, Any] = field(default_factory=dict)
    by_column: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    family: Family = "other"
    own_recipe: bool = False
    note: str = ""
    far: bool = True
    row: type[Row] = Row


@dataclass(frozen=True)
class Column:
    """One benchmark of a table, with what all systems share on it.

    Args:
        key: Its folder.
        title: What stands above it.
        benchmark: Its name in ``BENCHMARKS``.
        graphs: Graphs of every split.
        minutes: Processor time that a training may take, about.
        number: The name of the error.
        training: How systems are trained that have no recipe of their own.
        epochs: For every system, how many epochs take that time; systems that are not here are no row of the column.
        published: For every system, what was published, as it is printed.
        tests: What else the trained models are asked.
        far_tests: What only those are asked that can answer on very large graphs.
        digits: Digits after the point.
        long: For those systems that are also trained for longer, the epochs that take `long_minutes`.
        long_minutes: Processor time of these.
        data: Options of the data.
        elsewhere: Published numbers of systems that the paper does not compare with, best first; there are no rows of
            these.
        caution: What must be known before its errors are set beside published ones, as a sentence; empty where they
            may be compared.
    """

    key: str
    title: str
    benchmark: str
    graphs: Mapping[str, int]
    minutes: int
    number: str
    training: Mapping[str, Any]
    epochs: Mapping[str, int]
    published: Mapping[str, str] = field(default_factory=dict)
    tests: tuple[Test, ...] = ()
    far_tests: tuple[Test, ...] = ()
    digits: int = 3
    long: Mapping[str, int] = field(default_factory=dict)
    long_minutes: int = 30
    data: Mapping[str, Any] = field(default_factory=dict)
    elsewhere: str = ""
    caution: str = ""

    def row(self, system: System) -> Row | None:
        """Return what is trained for a system with one seed; ``None`` where the system is not in this column."""
        return self._row(system, self.epochs, "equal", (SEED,))

    def long_row(self, system: System) -> Row | None:
        """Return what is trained for longer with three seeds; ``None`` for most systems."""
        return self._row(system, self.long, "longer", LONG_SEEDS)

    def rows(self, systems: tuple[System, ...]) -> tuple[Row, ...]:
        """Return all rows of the column, those that are trained for longer last."""
        found = [make(system) for make in (self.row, self.long_row) for system in systems]
        return tuple(row for row in found if row is not None)

    def _row(self, system: System, epochs: Mapping[str, int], group: str, seeds: tuple[int, ...]) -> Row | None:
        if system.key not in epochs:
            return None
        setup = Setup(f"{group}/{self.key}", self.benchmark, self.data, self.graphs, seeds)
        shared = {"patience": None} if system.own_recipe else self.training
        settings = {**shared, **system.settings, **system.by_column.get(self.key, {}), "epochs": epochs[system.key]}
        tests = (*self.tests, *(self.far_tests if system.far else ()))
        return system.row(system.title, system.family, setup, system.model, settings, folder=system.key, tests=tests)

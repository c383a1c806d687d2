"""What a user says about their files beyond the files themselves."""

from dataclasses import dataclass
from typing import Any

from ghr.checks import check_choice, check_flag
from ghr.datasets.folders.schema import Schema
from ghr.datasets.task import Task


@dataclass(frozen=True)
class Request:
    """What to predict, and how to read columns that could be read in several ways.

    Args:
        target: Names of the columns to predict; none for no target.
        level: ``"node"``, ``"edge"`` or ``"graph"``, where the target alone does not say it.
        classes: Whether whole numbers as targets are classes.
        categorical: Columns of numbers that are codes.
        ignore: Columns that are no features.
        undirected: Whether the other direction of an edge is added where it is missing.
    """

    target: tuple[str, ...] = ()
    level: str | None = None
    classes: bool | None = None
    categorical: tuple[str, ...] = ()
    ignore: tuple[str, ...] = ()
    undirected: bool | None = None

    def __post_init__(self) -> None:
        for name in ("classes", "undirected"):
            if getattr(self, name) is not None:
                check_flag(name, getattr(self, name))
        if self.level is not None:
            check_choice("level", self.level, Task.levels)
        both = [name for name in self.target if name in (*self.categorical, *self.ignore)]
        if both:
            raise ValueError(f"{both[0]!r} is the target; it cannot be in categorical or ignore.")

    def check_alone(self, schema: Schema | None) -> None:
        """Raise a ValueError where something is asked for that a schema answers already."""
        if schema is not None and not isinstance(schema, Schema):
            raise ValueError(f"schema must be a Schema, as Schema.from_dict makes one; got a {type(schema).__name__}.")
        asked = [name for name, value in vars(self).items() if value not in (None, ())]
        if schema is not None and asked:
            raise ValueError(f"The schema says how to read the files; leave out {', '.join(asked)}.")


def list_names(option: str, given: Any) -> tuple[str, ...]:
    """Return names of columns as a tuple; a single one may be given alone.

    Raises:
        ValueError: Where they are no names, or one is there twice.
    """
    names = () if given is None else (given,) if isinstance(given, str) else given
    if not isinstance(names, (list, tuple)) or not all(isinstance(name, str) for name in names):
        raise ValueError(f"{option} must be the name of a column or a list of names; got {given!r}.")
    if len(set(names)) < len(names):
        raise ValueError(f"{option} names a column twice; got {', '.join(names)}.")
    return tuple(names)

"""What a user's columns mean: kinds, words, scales and the target. Training finds it out, prediction uses it again."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, fields
from typing import Any, cast, get_args

from ghr.checks import check_choice, check_flag, check_number, check_whole
from ghr.datasets.task import Task, TaskLevel


@dataclass(frozen=True)
class Column:
    """One feature as a user gave it.

    Args:
        name: Name of the column.
        words: Its words, in the order of their codes; ``None`` for numbers.
        codes: The number of codes, where the column holds codes from 0 already.
        mean: What is taken off its numbers before they reach a model.
        scale: What they are divided by then.
    """

    name: str
    words: tuple[str, ...] | None = None
    codes: int | None = None
    mean: float = 0.0
    scale: float = 1.0

    def __post_init__(self) -> None:
        if not isinstance(self.name, str):
            raise ValueError(f"A column needs a name; got {self.name!r}.")
        if self.words is not None:
            object.__setattr__(self, "words", _words(f"The words of {self.name!r}", self.words))
        if self.codes is not None:
            check_whole(f"The number of codes of {self.name!r}", self.codes)
        check_number(f"The mean of {self.name!r}", self.mean)
        check_number(f"The scale of {self.name!r}", self.scale, above=0)

    @property
    def size(self) -> int | None:
        """How many values a categorical column may have; ``None`` for numbers."""
        return self.codes if self.words is None else len(self.words)


@dataclass(frozen=True)
class Schema:
    """How graphs are made of a user's files.

    Args:
        nodes: Features of nodes.
        edges: Features of edges.
        target: Columns that are predicted; empty where nothing is.
        level: What has one target each.
        classes: Names of the classes, in the order of their numbers; ``None`` where numbers are predicted.
        undirected: Whether the other direction of an edge is added where it is missing.

    Example:
        >>> Schema.from_dict(Schema(nodes=(Column("size"),)).describe()).nodes[0].name
        'size'
    """

    nodes: tuple[Column, ...] = ()
    edges: tuple[Column, ...] = ()
    target: tuple[str, ...] = ()
    level: TaskLevel | None = None
    classes: tuple[str, ...] | None = None
    undirected: bool = False

    def describe(self) -> dict[str, Any]:
        """Return the schema in the types of JSON."""
        return cast(dict[str, Any], _jsonable(asdict(self)))

    @classmethod
    def from_dict(cls, given: Mapping[str, Any]) -> "Schema":
        """Return the schema that :meth:`describe` described.

        Raises:
            ValueError: Where this is no description of a schema.
        """
        names = {part.name for part in fields(cls)}
        if not isinstance(given, Mapping) or set(given) != names:
            found = sorted(map(str, given)) if isinstance(given, Mapping) else type(given).__name__
            raise ValueError(f"A schema has the entries {', '.join(sorted(names))}; got {found}.")
        level = given["level"]
        if level is not None:
            check_choice("level", level, get_args(TaskLevel))
        classes = given["classes"]
        return cls(
            nodes=_columns("nodes", given["nodes"]),
            edges=_columns("edges", given["edges"]),
            target=_words("The targets", given["target"]),
            level=level,
            classes=None if classes is None else _words("The classes", classes),
            undirected=check_flag("undirected", given["undirected"]),
        )

    @classmethod
    def from_config(cls, config: Mapping[str, Any]) -> "Schema":
        """Return the schema in the config of a run that was trained on the splits of a folder.

        Raises:
            ValueError: Where the run was trained on other data.
        """
        place: Any = config
        for name in ("experiment", "data", "schema"):
            place = place.get(name) if isinstance(place, Mapping) else None
        if place is None:
            raise ValueError(
                "The run does not say how to read tables: it was trained on a benchmark, or on graphs made in Python."
            )
        return cls.from_dict(place)

    def make_task(self) -> Task | None:
        """Return what is asked of the graphs, or ``None`` where there is no target."""
        if self.level is None:
            return None
        name = ", ".join(self.target)
        if self.classes is None:
            return Task(self.level, out_channels=len(self.target), loss="mse", metric="mae", name=name)
        return Task(
            self.level,
            out_channels=len(self.classes),
            loss="cross_entropy",
            metric="accuracy",
            classes=self.classes,
            name=name,
        )


def count_codes(columns: Sequence[Column]) -> list[int] | None:
    """Return how many codes every column has; ``None`` where one holds numbers, so that all become real."""
    sizes = [column.size for column in columns if column.size is not None]
    return sizes if sizes and len(sizes) == len(columns) else None


def _columns(table: str, given: Any) -> tuple[Column, ...]:
    names = {part.name for part in fields(Column)}
    if not isinstance(given, (list, tuple)) or not all(isinstance(row, Mapping) and set(row) == names for row in given):
        raise ValueError(f"The {table} of a schema must be a list of columns ({', '.join(sorted(names))}).")
    return tuple(Column(**row) for row in given)


def _words(what: str, given: Any) -> tuple[str, ...]:
    if not (isinstance(given, (list, tuple)) and all(isinstance(word, str) for word in given)) or (
        len(set(given)) < len(given)
    ):
        raise ValueError(f"{what} must be different words; got {given!r}.")
    return tuple(given)


def _jsonable(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: _jsonable(entry) for name, entry in value.items()}
    return [_jsonable(entry) for entry in value] if isinstance(value, (list, tuple)) else value

"""A line in the list of models."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from ghr.checks import show
from ghr.datasets.task import Task
from ghr.models.base import GraphModel
from ghr.models.budget import About


@dataclass(frozen=True)
class Entry:
    """How to build a model that has a name.

    Args:
        build: The class.
        options: Its options under this name.
        summary: What it is, in a few words.
        reference: Where it comes from.
        training: What suits it better than the recipe of a benchmark, as fields of :class:`~ghr.TrainConfig`.
        budget: The number of parameters that its width is chosen for, unless a benchmark suggests another or the user
            says a width; ``None`` for a model that has a width of its own.
    """

    build: type[GraphModel]
    options: Mapping[str, Any] = field(default_factory=dict)
    summary: str = ""
    reference: str = ""
    training: Mapping[str, Any] = field(default_factory=dict)
    budget: int | None = None

    def __post_init__(self) -> None:
        if not (isinstance(self.build, type) and issubclass(self.build, GraphModel)):
            raise ValueError(f"A model is built by a subclass of GraphModel; got {show(self.build)}.")
        _check_options(self.options)

    def for_data(
        self, example: Any, task: Task, options: Mapping[str, Any], suggested: Mapping[str, Any] | None = None
    ) -> GraphModel:
        """Build the model for data.

        Args:
            example: As in :meth:`GraphModel.for_data`.
            task: What is asked of the data.
            options: What the user asks for; it wins over the options of the name, and those over suggestions.
            suggested: What a benchmark suggests; a model takes what concerns it.
        """
        own = {**self.options, **_check_options(options)}
        if "budget" in options and "hidden_channels" not in options:
            own.pop("hidden_channels", None)
        takes = set(self.build.suggested_names(own)) & set(self.build.option_names())
        taken = {name: value for name, value in (suggested or {}).items() if name in takes}
        if "budget" in own or (self.budget is not None and "hidden_channels" not in own):
            taken.pop("hidden_channels", None)
            taken["budget"] = About((suggested or {}).get("budget", self.budget or 0))
        return self.build.for_data(example, task, **{**taken, **own})


def _check_options(options: Any) -> Mapping[str, Any]:
    if not isinstance(options, Mapping) or not all(isinstance(name, str) for name in options):
        raise ValueError(f"The options of a model are a mapping of names to values; got {show(options)}.")
    return options

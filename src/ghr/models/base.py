"""The base of every model."""

import copy
import functools
import inspect
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, ClassVar, TypeVar

import torch
from torch import Tensor, nn
from torch_geometric.data import Data
from torch_geometric.transforms import BaseTransform

from ghr.checks import check_names, show
from ghr.datasets.task import Task
from ghr.hierarchy.data import levels_of, num_graphs_of
from ghr.models.budget import find_width
from ghr.models.inputs import Widths
from ghr.models.pretrained import UNIT, describe_value, load_pretrained, save_pretrained
from ghr.nn.readout import Readout, ReadoutInput, ScaledReadout
from ghr.nn.reset import reset_children

Model = TypeVar("Model", bound="GraphModel")


class GraphModel(nn.Module):
    """What every model of the library can do: predict, be built for data, be saved and be loaded.

    A subclass takes ``in_channels``, ``hidden_channels`` and ``out_channels``, and further options by keyword; among
    them ``edge_dim`` and ``readout`` where it uses edge features and readouts. It calls :meth:`remember` with all of
    them, and provides :meth:`rollout`.

    Attributes:
        config: The arguments that build the model again, in the types of JSON.
    """

    default_channels: ClassVar[int] = 32
    layer_lists: ClassVar[tuple[str, ...]] = ("layers",)  # where a model of fixed depth keeps its layers
    lattices_only: ClassVar[bool] = False  # whether it refuses everything but periodic square lattices
    config: dict[str, Any]
    readout: Readout

    @property
    def loops(self) -> tuple[str, ...]:
        """Names of the numbers that the model can be given at inference; a model of fixed depth has none."""
        return ()

    @property
    def transform(self) -> BaseTransform | None:
        """What a graph needs before the model takes it; ``None`` if nothing."""
        return None

    @property
    def takes_unit(self) -> bool:
        """Whether predictions may be shifted and scaled to the unit of the targets; that needs a readout."""
        return isinstance(getattr(self, "readout", None), nn.Module)

    @property
    def takes_shift(self) -> bool:
        """Whether predictions may be shifted, not only scaled; not so where zero means something to the model."""
        return True

    @property
    def wants_unit(self) -> bool:
        """Whether they shall be on a benchmark too; on a user's graphs, whose unit may be any, they always are."""
        return False

    @property
    def reads_nodes(self) -> bool:
        """Whether the readout is given one state per node."""
        return True

    def prepare(self, graph: Data) -> Data:
        """Return a graph as the model needs it: transformed, unless it is already."""
        transform = self.transform
        return graph if transform is None else transform(graph)

    def rollout(self, data: Data, **loops: Any) -> list[Tensor]:
        """Return the predictions after every step, the first step first; a model of fixed depth has one."""
        raise NotImplementedError

    def forward(self, data: Data, **loops: Any) -> Tensor:
        """Return the prediction after the last step."""
        return self.rollout(data, **loops)[-1]

    def read(self, data: Data, state: Tensor, edge_attr: Tensor | None = None) -> Tensor:
        """Return what the model's ``readout`` predicts from node states.

        Args:
            data: The graph or batch.
            state: A row per node.
            edge_attr: Encoded edge features, for readouts on edges.
        """
        level = levels_of(data)[0]
        return self.readout(ReadoutInput(state, level.batch, num_graphs_of(data), level.edge_index, edge_attr))  # type: ignore[no-any-return]

    @property
    def depth(self) -> int:
        """Number of layers that :meth:`cut` counts; one for a model that has none."""
        lists = [self._modules.get(name) for name in self.layer_lists]
        return min((len(part) if isinstance(part, nn.ModuleList) else 1 for part in lists), default=1)

    def cut(self: Model, layers: int) -> Model:
        """Return the model with its first layers only, which share their weights with it.

        What it predicts is what the readout makes of the states after these layers.

        Args:
            layers: How many are left.
        """
        short = copy.copy(self)
        short._modules = dict(self._modules)
        for name in self.layer_lists:
            part = self._modules.get(name)
            if isinstance(part, nn.ModuleList):
                short._modules[name] = nn.ModuleList(list(part)[:layers])
        return short

    def penalty(self, data: Data) -> Tensor | None:
        """Return what training adds to the loss of a batch; ``None`` for nothing."""
        return None

    def augment(self, data: Data) -> Data:
        """Return a training batch, perhaps changed in a way that changes its targets alike."""
        return data

    def anneal(self, progress: float) -> None:
        """Take note of how far the training is, from 0 to 1."""

    def check_loops(self, given: Mapping[str, Any]) -> None:
        """Raise a ValueError if the model has no loop of such a name."""
        foreign = [name for name in given if name not in self.loops]
        if foreign:
            has = f"the loops {', '.join(self.loops)}" if self.loops else "no loops"
            named = ", ".join(f"{name}={show(given[name])}" for name in foreign)
            raise ValueError(f"{type(self).__name__} has {has}, but {named} was given; leave it out.")

    def reset_parameters(self) -> None:
        """Reset all parameters."""
        reset_children(self)

    @classmethod
    def complete_config(cls, config: Mapping[str, Any]) -> dict[str, Any]:
        """Return a saved config, with what it meant where an older version had no name for it."""
        return dict(config)

    def explain_weights(self, weights: Mapping[str, Tensor]) -> str | None:
        """Return what was another in the version that saved such weights, and what to do; ``None`` if it is unknown.

        Args:
            weights: Weights that do not fit, by name.
        """
        return None

    @classmethod
    def option_names(cls) -> tuple[str, ...]:
        """Return the names of the options that :meth:`for_data` takes."""
        own = tuple(name for name in inspect.signature(cls).parameters if name != "out_channels")
        return (*own, "budget") if "hidden_channels" in own else own

    @classmethod
    def suggested_names(cls, options: Mapping[str, Any]) -> tuple[str, ...]:
        """Return which options a benchmark may suggest for a model with these options."""
        return ("readout",)

    @classmethod
    def for_data(cls: type[Model], example: Any, task: Task, **options: Any) -> Model:
        """Build a model for data, reading all widths off them.

        Args:
            example: A graph, or a sequence of graphs that are alike.
            task: What is asked of them.
            **options: Options of the constructor, in place of what the data say or of the defaults; and ``budget``, in
                place of ``hidden_channels``: the number of parameters that the width is chosen for.
        """
        check_names(cls.__name__, options, cls.option_names())
        widths = Widths.of(example, task)
        budget = options.pop("budget", None)
        if budget is not None:
            if "hidden_channels" in options:
                raise ValueError("Both budget and hidden_channels say how wide the model is; leave one out.")
            options["hidden_channels"] = cls._fit_width(widths, options, example, budget)
        return cls(**cls._arguments(widths, options, example))

    @classmethod
    def _fit_width(cls, widths: Widths, options: Mapping[str, Any], example: Any, budget: int) -> int:
        """Return the width with which the model has as many parameters as wanted."""

        @functools.cache
        def count(width: int) -> int:
            with torch.random.fork_rng(devices=[]):
                return cls(**cls._arguments(widths, {**options, "hidden_channels": width}, example)).num_parameters

        return find_width(count, budget, multiple=cls.width_multiple(options))

    @classmethod
    def width_multiple(cls, options: Mapping[str, Any]) -> int:
        """Return what the width must be a multiple of, for a model with these options."""
        return 1

    @classmethod
    def _arguments(cls, widths: Widths, options: Mapping[str, Any], example: Any) -> dict[str, Any]:
        """Return all arguments of the constructor; options win over what the data say."""
        read = {
            "in_channels": widths.in_channels,
            "hidden_channels": cls.default_channels,
            "out_channels": widths.out_channels,
            "edge_dim": widths.edge_dim,
            "readout": widths.level,
        }
        known = inspect.signature(cls).parameters
        return {name: value for name, value in read.items() if name in known} | dict(options)

    def remember(self, **arguments: Any) -> None:
        """Keep the arguments of the constructor as :attr:`config`; of parts of one's own only the names are kept."""
        self.config = {name: describe_value(value) for name, value in arguments.items()}

    def set_unit(self, shift: Sequence[float], scale: Sequence[float]) -> None:
        """Let the model predict in another unit: its readout times ``scale``, plus ``shift``, for every column."""
        self.readout = ScaledReadout(self.readout, shift, scale)
        self.config[UNIT] = {"shift": list(shift), "scale": list(scale)}

    def save_pretrained(self, directory: str | Path) -> None:
        """Write ``config.json`` and ``model.safetensors`` into a folder."""
        save_pretrained(self, self.config, directory)

    @classmethod
    def from_pretrained(cls: type[Model], name_or_path: str | Path, **own: Any) -> Model:
        """Load a model that :meth:`save_pretrained` wrote.

        Args:
            name_or_path: The folder, or the name of a model that comes with the package.
            **own: Parts of one's own, such as ``conv`` or ``readout``, for a model that was built with them.
        """
        check_names(cls.__name__, own, inspect.signature(cls).parameters)
        return load_pretrained(cls, name_or_path, own)

    @property
    def num_parameters(self) -> int:
        """Number of parameters."""
        return sum(parameter.numel() for parameter in self.parameters())

    def __repr__(self) -> str:
        usual = {name: argument.default for name, argument in inspect.signature(type(self)).parameters.items()}
        config = getattr(self, "config", {})
        shown = ", ".join(f"{name}={value!r}" for name, value in config.items() if value != usual.get(name, ...))
        return f"{type(self).__name__}({shown}) with {self.num_parameters:,} parameters"

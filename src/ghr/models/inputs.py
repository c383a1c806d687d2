"""What models are given: checks of a batch, and the widths of a data set."""

import logging
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn
from torch_geometric.data import Data

from ghr.checks import check_whole, show
from ghr.datasets.task import Task
from ghr.hierarchy.data import Level, at_hand, check_graph, levels_of
from ghr.hierarchy.reduce import MOST_CODES
from ghr.hierarchy.tensors import check_tensor, check_values
from ghr.nn.encoder import MOST_WIDTH, Width, check_features, check_map, check_width

logger = logging.getLogger(__name__)


MOST_LAYERS = 10_000  # of a stack, which has a module for each


def check_channels(in_channels: Width, hidden_channels: int, out_channels: int) -> tuple[int | list[int], int, int]:
    """Return the three widths of a model, or raise a ValueError if one is wrong or its maps would not fit in memory."""
    given = check_width("in_channels", in_channels)
    hidden = check_whole("hidden_channels", hidden_channels, most=MOST_WIDTH)
    out = check_whole("out_channels", out_channels, most=MOST_WIDTH)
    for name, width in (("hidden_channels", hidden), ("in_channels", given), ("out_channels", out)):
        check_map(name, width, hidden)
    return given, hidden, out


def check_input(data: Data, in_channels: Width, model: nn.Module) -> Tensor:
    """Return the node features of a batch, or raise a ValueError that says what is wrong with it or with its graph."""
    return read_input(data, in_channels, model)[0]


def read_input(data: Data, in_channels: Width, model: nn.Module) -> tuple[Tensor, tuple[Level, ...]]:
    """Return the node features of a batch and its levels, all checked; to read the levels again would check again."""
    if not isinstance(data, Data):
        raise ValueError(f"A model takes a graph or a batch of graphs of PyTorch Geometric; got {type(data).__name__}.")
    x, edge_index = data.x, data.edge_index
    levels = check_graph(data) if isinstance(edge_index, Tensor) and at_hand(edge_index) else levels_of(data)
    if not isinstance(x, Tensor):
        raise ValueError(f"The graph needs node features x, one row per node; got {type(x).__name__}.")
    _check_device(model, x, levels)
    return check_features("x", x, in_channels, dtype_of(model), look=at_hand(x)), levels


def _check_device(model: nn.Module, x: Tensor, levels: Sequence[Level]) -> None:
    """Raise a ValueError unless everything that a model reads is where its weights are."""
    place = next((value.device for value in model.parameters()), x.device)
    for k, level in enumerate(levels):
        for name, value in {"x": x, **vars(level)}.items():
            if isinstance(value, Tensor) and value.device != place:
                of = "" if name == "x" else f" of level {k}"
                raise ValueError(
                    f"{name}{of} is on the device {value.device}, but the model is on {place}; move one of them, such "
                    f'as data.to("{place}").'
                )


def dtype_of(model: nn.Module) -> torch.dtype:
    """Return the type of numbers that a model computes with."""
    return next((value.dtype for value in model.parameters() if value.is_floating_point()), torch.get_default_dtype())


@dataclass(frozen=True)
class Widths:
    """The widths that a model needs to know of its data.

    Args:
        in_channels: Width of the node features; for integer codes the number of codes of every column.
        edge_dim: The same of the edge features; ``None`` without any.
        out_channels: Width of a prediction.
        level: What has one prediction each.
        classes: Whether predictions are scores of classes.
    """

    in_channels: Width
    edge_dim: Width | None
    out_channels: int
    level: str
    classes: bool = False

    @classmethod
    def of(cls, example: Any, task: Task) -> "Widths":
        """Read the widths off one graph, or off a sequence of graphs that are alike.

        Integer features are codes. How many there are of each is looked up in all graphs, unless the data say it
        themselves (``node_codes`` and ``edge_codes`` of a dataset).
        """
        if not isinstance(task, Task):
            raise ValueError(f"task must be a Task, such as Task('node'); got {show(task)}.")
        graphs: Sequence[Data] = [example] if isinstance(example, Data) else _check_examples(example)
        if len(graphs) == 0:
            raise ValueError("The widths of a model are read off its data, but there are no graphs.")
        first = graphs[0]
        if not isinstance(first, Data):
            raise ValueError(f"A data set holds graphs of PyTorch Geometric; got {type(first).__name__}.")
        x, edge_attr = first.x, levels_of(first)[0].edge_attr
        if x is None:
            raise ValueError(
                "The graphs have no node features x; where there are none, torch_geometric.transforms.Constant() gives "
                "every node a one."
            )
        if x.dim() != 2:
            raise ValueError(f"x must be a matrix, one row per node; got {tuple(x.shape)}.")
        if "edge_weight" in first:
            logger.info("edge_weight is read as one more edge feature, behind those of edge_attr.")
        node_codes, edge_codes = (getattr(example, name, None) for name in ("node_codes", "edge_codes"))
        return cls(
            in_channels=_width("x", x, graphs, node_codes),
            edge_dim=None if edge_attr is None else _width("edge_attr", edge_attr, graphs, edge_codes),
            out_channels=task.out_channels,
            level=task.level,
            classes=not task.is_regression,
        )


def _check_examples(example: Any) -> Any:
    """Return graphs by number, or raise a ValueError."""
    numbered = hasattr(example, "__len__") and hasattr(example, "__getitem__")
    if not numbered or isinstance(example, (type, str, bytes, Mapping, Tensor, np.ndarray)):
        raise ValueError(f"A model is built for a graph or a sequence of graphs; got {show(example)}.")
    return example


def _width(name: str, value: Tensor, graphs: Sequence[Data], known: Sequence[int] | None) -> Width:
    if value.is_floating_point():
        return value.size(1)
    return _count_codes(name, value, graphs) if known is None else list(known)


def _count_codes(name: str, first: Tensor, graphs: Sequence[Data]) -> list[int]:
    """Return how many codes every column has, over all graphs; a column of truth values has two."""
    if first.size(1) == 0:
        raise ValueError(f"{name} of the first graph has no columns; leave it out, or give it at least one.")
    least, most = 0, torch.full((first.size(1),), 1 if first.dtype == torch.bool else 0)
    for index in range(len(graphs)):
        graph: Any = graphs[index]
        if not isinstance(graph, Data):
            raise ValueError(f"A data set holds graphs of PyTorch Geometric; number {index} is {show(graph)}.")
        if name not in graph:
            raise ValueError(f"Graph {index} has no {name}, but the first graph has codes there; all need the same.")
        given = check_tensor(f"{name} of graph {index}", graph[name])
        check_values(f"{name} of graph {index}", given)
        codes = given.unsqueeze(1) if given.dim() == 1 else given
        if codes.shape[1:] != first.shape[1:] or codes.is_floating_point():
            raise ValueError(
                f"{name} of graph {index} is {given.dtype} of shape {tuple(given.shape)}, but that of the first graph "
                f"has {first.size(1)} columns of codes; all graphs need the same."
            )
        if len(codes):
            low, high = torch.aminmax(codes.long().cpu(), dim=0)
            least, most = min(least, int(low.min())), torch.maximum(most, high)
    if least < 0 or int(most.max()) >= MOST_CODES:
        raise ValueError(
            f"{name} holds whole numbers from {least} to {int(most.max())}, too many for codes with one learned vector "
            "each; convert it to floating point numbers if it holds numbers."
        )
    sizes: list[int] = (most + 1).tolist()
    return sizes

"""What models are given: checks of a batch, and the widths of a data set."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor, nn
from torch_geometric.data import Data

from ghr.datasets.task import Task
from ghr.hierarchy.data import at_hand, check_graph, levels_of
from ghr.hierarchy.reduce import MOST_CODES
from ghr.nn.encoder import Width, check_features


def check_input(data: Data, in_channels: Width, model: nn.Module) -> Tensor:
    """Return the node features of a batch, or raise a ValueError that says what is wrong with it or with its graph."""
    if not isinstance(data, Data):
        raise ValueError(f"A model takes a graph or a batch of graphs of PyTorch Geometric; got {type(data).__name__}.")
    if isinstance(data.edge_index, Tensor) and at_hand(data.edge_index):
        check_graph(data)
    x = data.x
    if not isinstance(x, Tensor):
        raise ValueError(f"The graph needs node features x, one row per node; got {type(x).__name__}.")
    return check_features("x", x, in_channels, dtype_of(model), look=at_hand(x))


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
    """

    in_channels: Width
    edge_dim: Width | None
    out_channels: int
    level: str

    @classmethod
    def of(cls, example: Any, task: Task) -> "Widths":
        """Read the widths off one graph, or off a sequence of graphs that are alike.

        Integer features are codes. How many there are of each is looked up in all graphs, unless the data say it
        themselves (``node_codes`` and ``edge_codes`` of a dataset).
        """
        graphs: Sequence[Data] = [example] if isinstance(example, Data) else example
        if not isinstance(task, Task):
            raise ValueError(f"task must be a Task, such as Task('node'); got {task!r}.")
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
        node_codes, edge_codes = (getattr(example, name, None) for name in ("node_codes", "edge_codes"))
        return cls(
            in_channels=_width("x", x, graphs, node_codes),
            edge_dim=None if edge_attr is None else _width("edge_attr", edge_attr, graphs, edge_codes),
            out_channels=task.out_channels,
            level=task.level,
        )


def _width(name: str, value: Tensor, graphs: Sequence[Data], known: Sequence[int] | None) -> Width:
    if value.is_floating_point():
        return value.size(1)
    return _count_codes(name, value, graphs) if known is None else list(known)


def _count_codes(name: str, first: Tensor, graphs: Sequence[Data]) -> list[int]:
    """Return how many codes every column has, over all graphs; a column of truth values has two."""
    least, most = 0, torch.full((first.size(1),), 1 if first.dtype == torch.bool else 0)
    for index in range(len(graphs)):
        given: Tensor = graphs[index][name]
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

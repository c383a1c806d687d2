"""Graphs divided into training, validation and test, with what is asked of them."""

import re
from collections.abc import Callable, Sequence
from copy import copy
from dataclasses import dataclass, field
from typing import Any, Protocol

import numpy as np
import torch
from torch import Tensor
from torch_geometric.data import Batch, Data, Dataset

from ghr.checks import check_choice, check_whole
from ghr.datasets.fingerprint import fingerprint
from ghr.datasets.task import Task

SPLITS = ("train", "val", "test")
MASKS = tuple(f"{name}_mask" for name in SPLITS)
_OTHER_NAMES = re.compile(r"(train|val|test|dev)[a-z]*_(mask|idx|index|ids?|nodes|edges)")


class Examples(Protocol):
    """Graphs by number, as every PyG dataset and every list of ``Data`` has them."""

    def __len__(self) -> int: ...

    def __getitem__(self, index: int, /) -> Any: ...


@dataclass(frozen=True)
class Splits:
    """Graphs to train on, to choose by and to test with.

    Args:
        task: What is asked of them.
        train: Graphs to train on.
        val: Graphs that choose the best model.
        test: Graphs for the test, if there are any.
        description: Where they come from, in the types of JSON.
        distance: For a graph, how far every row is in hops (-1 where it does not count), where the data have distances.
        in_range: The largest distance in training, where there is a cap.
    """

    task: Task
    train: Examples
    val: Examples
    test: Examples | None = None
    description: dict[str, Any] = field(default_factory=dict)
    distance: Callable[[Data], Tensor] | None = None
    in_range: int | None = None

    def named(self) -> dict[str, Examples]:
        """Return the splits that are there, by name."""
        given = {"train": self.train, "val": self.val, "test": self.test}
        return {name: graphs for name, graphs in given.items() if graphs is not None}

    def fingerprint(self) -> dict[str, str]:
        """Return what tells the graphs of every split from any others."""
        return {name: fingerprint(graphs) for name, graphs in self.named().items()}


def make_splits(
    graphs: Data | Examples,
    task: Task,
    *,
    val: Data | Examples | None = None,
    test: Data | Examples | None = None,
    seed: int = 0,
) -> Splits:
    """Divide a user's own graphs.

    Several graphs are divided at random, eight in ten for training and one each for validation and test. Rows of
    graphs with ``train_mask``, ``val_mask`` and ``test_mask`` are divided by these, and the rows of a single graph
    without masks at random. Each split of a graph then is the whole graph with the targets of its own rows only: no
    other target can enter a loss or the choice of a model. Both directions of an edge stay together.

    Args:
        graphs: A graph, or a sequence of graphs.
        task: What is asked of them.
        val: Graphs for validation, if they are chosen already.
        test: Graphs for the test, likewise. Where only one of the two is given, the other is drawn from ``graphs``.
        seed: Of what is drawn.

    Example:
        >>> from ghr.testing import random_graph
        >>> graph = random_graph(20, 40)
        >>> graph.y = torch.rand(20, 1)
        >>> splits = make_splits(graph, Task("node"))
        >>> [int(graphs[0].mask.sum()) for graphs in splits.named().values()]
        [16, 2, 2]
    """
    check_whole("seed", seed, 0)
    if not isinstance(task, Task):
        raise ValueError(f"task must be a Task, such as Task('node'); got {task!r}.")
    own = _as_examples("graphs", graphs)
    given = {name: _as_examples(name, other) for name, other in (("val", val), ("test", test)) if other is not None}
    listed = [own[index] for index in range(len(own))]
    check_alike(listed, task)
    _refuse_other_names(listed[0])
    for name, others in given.items():
        for index in range(len(others)):
            _check_like(others[index], listed[0], task, f"Graph {index} of {name}")
    if any(name in graph for graph in listed for name in MASKS):
        if given:
            raise ValueError("The graphs have masks that divide their rows; give masks or other graphs, not both.")
        return _view_all([_complete_masks(graph, task, seed) for graph in listed], task, "by masks", seed)
    if len(listed) == 1 and not given:
        if task.level == "graph":
            raise ValueError("A task on whole graphs needs several graphs, to train on and to choose by; got one.")
        return _view_all([_draw_masks(listed[0], task, seed)], task, f"{task.level}s at random", seed)
    return _divide_graphs(own if isinstance(own, Dataset) else listed, task, given, seed)


def view_split(graph: Data, task: Task, split: str) -> Data:
    """Return a graph with the targets of one split only, those that ``train_mask``, ``val_mask``, ``test_mask`` name.

    The targets of all other rows are gone: NaN, or class -1. ``mask`` says which rows have one; the other masks are
    gone too. A graph without such a mask is returned as it is.
    """
    check_choice("split", split, SPLITS)
    if f"{split}_mask" not in graph or "y" not in graph:
        return graph
    target = task.target(graph)
    counted = task.counted(graph, target) & _read_mask(graph, f"{split}_mask", task, target)
    view = copy(graph)
    view["y"] = torch.where(counted, target, torch.full_like(target, -1 if task.has_classes else torch.nan))
    view["mask"] = _any_entry(counted)
    for name in MASKS:
        if name in view:
            del view[name]
    return view


def view_examples(graphs: Examples, task: Task, split: str) -> Examples:
    """Return graphs with the targets of one split only, by their masks; graphs without any are returned as they are.

    Raises:
        ValueError: Where a graph has masks, but none of this split, so that rows of other splits would count.
    """
    listed = [graphs[index] for index in range(len(graphs))]
    divided = [any(name in graph for name in MASKS) for graph in listed]
    if not any(divided):
        return graphs
    for number, graph in enumerate(listed):
        if divided[number] and f"{split}_mask" not in graph:
            raise ValueError(f"Graph {number} has masks that divide its rows, but no {split}_mask; give it one.")
    return [view_split(graph, task, split) for graph in listed]


def check_alike(graphs: Sequence[Data], task: Task) -> None:
    """Raise a ValueError that says which graph is unlike the first: in its attributes, their types or their widths."""
    for number, graph in enumerate(graphs):
        _check_like(graph, graphs[0], task, f"Graph {number}")
        if set(graph.keys()) != set(graphs[0].keys()):
            differ = ", ".join(sorted(set(graph.keys()) ^ set(graphs[0].keys())))
            raise ValueError(
                f"All graphs must have the same attributes, but graph {number} and the first differ: {differ}."
            )


def _check_like(graph: Data, first: Data, task: Task, name: str) -> None:
    if not isinstance(graph, Data):
        raise ValueError(f"{name} is a {type(graph).__name__}, not a graph of PyTorch Geometric (Data).")
    for attribute in ("x", "edge_attr"):
        one, other = (getattr(data, attribute, None) for data in (graph, first))
        if (
            isinstance(one, Tensor)
            and isinstance(other, Tensor)
            and (one.shape[1:] != other.shape[1:] or one.dtype != other.dtype)
        ):
            raise ValueError(
                f"{name} has {attribute} of {one.dtype} and shape {tuple(one.shape)}, the first graph of "
                f"{other.dtype} and shape {tuple(other.shape)}; all graphs need the same type and width."
            )
    try:
        task.counted(graph, task.target(graph))
    except ValueError as error:
        raise ValueError(f"{name}: {error}") from error


def _refuse_other_names(graph: Data) -> None:
    """Raise a ValueError for a division that nobody would read, so that its test rows would be trained on."""
    names = [name for name in graph.keys() if _OTHER_NAMES.fullmatch(name) and name not in MASKS]  # noqa: SIM118
    if names:
        raise ValueError(
            f"The graphs have {', '.join(names)}, which would not be read; rows are divided by the boolean train_mask, "
            "val_mask and test_mask. Rename what divides them, or delete it."
        )


def _as_examples(name: str, graphs: Any) -> Examples:
    if isinstance(graphs, Batch):
        return list(graphs.to_data_list())
    examples: Examples = [graphs] if isinstance(graphs, Data) else graphs
    if not (hasattr(examples, "__len__") and hasattr(examples, "__getitem__")):
        raise ValueError(f"{name} must be a graph or a sequence of graphs; got a {type(graphs).__name__}.")
    if not len(examples):
        raise ValueError(f"{name} has no graphs; there is nothing to learn from.")
    return examples


def _divide_graphs(graphs: Any, task: Task, given: dict[str, Examples], seed: int) -> Splits:
    wanted = [name for name in ("val", "test") if name not in given]
    if len(graphs) < 1 + len(wanted):
        raise ValueError(
            f"{len(graphs)} graphs cannot be divided into {', '.join(['train', *wanted])}; give at least "
            f"{1 + len(wanted)}, or a single graph, whose rows are divided."
        )
    order = np.random.default_rng(seed).permutation(len(graphs)).tolist()
    divided = dict(given)
    for name in wanted:
        count = max(1, round(0.1 * len(graphs)))
        divided[name], order = _select(graphs, order[:count]), order[count:]
    description = {"graphs": len(graphs), "divided": "graphs at random", "given": sorted(given), "seed": seed}
    return Splits(task, _select(graphs, order), divided["val"], divided["test"], description)


def _select(graphs: Any, order: list[int]) -> Examples:
    """Return some graphs in their own order; a dataset keeps its transform."""
    if isinstance(graphs, Dataset):
        return graphs.index_select(sorted(order))
    return [graphs[index] for index in sorted(order)]


def _view_all(graphs: list[Data], task: Task, how: str, seed: int) -> Splits:
    views = {name: [view_split(graph, task, name) for graph in graphs] for name in SPLITS}
    seen = {name: [view for view in views[name] if bool(view["mask"].any())] for name in SPLITS}
    for name in ("train", "val"):
        if not seen[name]:
            raise ValueError(f"{name}_mask leaves no row with a target; at least one is needed.")
    description = {"graphs": len(graphs), "divided": how, "seed": seed}
    return Splits(task, seen["train"], seen["val"], seen["test"] or None, description)


def _complete_masks(graph: Data, task: Task, seed: int) -> Data:
    """Return a graph with all three masks; without ``val_mask`` a part of the training rows is drawn for it."""
    if "train_mask" not in graph:
        raise ValueError("The graph has a val_mask or test_mask but no train_mask; say which rows to train on.")
    target = task.target(graph)
    masks = {name: _read_mask(graph, f"{name}_mask", task, target) for name in SPLITS if f"{name}_mask" in graph}
    for name, other in (("train", "val"), ("train", "test"), ("val", "test")):
        both = int(_any_entry(masks[name] & masks[other]).sum()) if name in masks and other in masks else 0
        if both:
            raise ValueError(f"{both} rows are in {name}_mask and in {other}_mask; a row belongs to one split.")
    if "val" not in masks:
        counted = _any_entry(masks["train"] & task.counted(graph, target))
        _, drawn = _divide_rows(graph, task, counted, 2, seed)
        drawn = _spread_over(drawn, target)
        masks |= {"train": masks["train"] & ~drawn, "val": masks["train"] & drawn}
    masks.setdefault("test", torch.zeros_like(masks["train"]))
    complete = copy(graph)
    for name, mask in masks.items():
        complete[f"{name}_mask"] = mask
    return complete


def _draw_masks(graph: Data, task: Task, seed: int) -> Data:
    divided = copy(graph)
    counted = _any_entry(task.counted(graph, task.target(graph)))
    for name, mask in zip(SPLITS, _divide_rows(graph, task, counted, 3, seed), strict=True):
        divided[f"{name}_mask"] = mask
    return divided


def _divide_rows(graph: Data, task: Task, rows: Tensor, parts: int, seed: int) -> list[Tensor]:
    """Draw masks of some rows: one in ten for each part but the first, at least one, and the rest for the first."""
    group = torch.arange(len(rows))
    if task.level == "edge" and graph.edge_index is not None:  # both directions of an edge mostly have one target
        group = _number_pairs(graph.edge_index.cpu())
    known: Tensor = torch.unique(group[rows.cpu()])
    if len(known) < parts:
        raise ValueError(
            f"{len(known)} {task.level}s with a target cannot be divided into {', '.join(SPLITS[:parts])}; give at "
            f"least {parts}."
        )
    order = known[torch.from_numpy(np.random.default_rng(seed).permutation(len(known)))]
    count = max(1, round(0.1 * len(known)))
    chosen = [order[count * part : count * (part + 1)] for part in range(parts - 1)]
    return [rows & torch.isin(group, members).to(rows.device) for members in [order[count * (parts - 1) :], *chosen]]


def _number_pairs(edge_index: Tensor) -> Tensor:
    """Return a number for every edge that is the same for both directions."""
    low, high = edge_index.min(dim=0).values, edge_index.max(dim=0).values
    return low * (int(high.max()) + 1 if high.numel() else 1) + high


def _read_mask(graph: Data, name: str, task: Task, target: Tensor) -> Tensor:
    """Return a mask of a split, of the shape of the targets."""
    mask = graph[name]
    shapes = ((target.size(0),), (target.size(0), 1), tuple(target.shape))
    if isinstance(mask, Tensor) and mask.dtype == torch.bool and tuple(mask.shape) in shapes:
        return mask if mask.shape == target.shape else _spread_over(mask.reshape(-1), target)
    got = f"{mask.dtype} of shape {tuple(mask.shape)}" if isinstance(mask, Tensor) else f"a {type(mask).__name__}"
    several = f"; of several divisions choose one, such as {name}[:, 0]" if getattr(mask, "ndim", 0) == 2 else ""
    raise ValueError(
        f"{name} must be boolean, one flag for each of {target.size(0)} {task.level}s; got {got}{several}."
    )


def _spread_over(rows: Tensor, target: Tensor) -> Tensor:
    """Return flags of rows as flags of all entries."""
    return rows.reshape(-1, *(1,) * (target.dim() - 1)).expand_as(target)


def _any_entry(flags: Tensor) -> Tensor:
    """Return which rows have a flag at any entry."""
    return flags if flags.dim() == 1 else flags.any(dim=1)

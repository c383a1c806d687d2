"""The target of a PyG file: its level, and whether it is a number or a class."""

import numpy as np
from torch import Tensor

from ghr.datasets.folders.kinds import MANY_WORDS
from ghr.datasets.folders.tensor_file import TensorFile, as_matrix
from ghr.datasets.task import Task, TaskLevel


def find_tensor_level(file: TensorFile, name: str, level: str | None = None) -> TaskLevel:
    """Return the level of a target: nodes, edges or graphs, whichever it has one row for each of.

    Args:
        file: The file.
        name: The tensor to predict.
        level: The level, where its rows fit several.

    Raises:
        ValueError: Where a graph has no such tensor, or its rows fit none of them, or several.
    """
    found = [as_matrix(graph[name]) for graph in file.graphs if name in graph]
    if len(found) < len(file.graphs):
        there = ", ".join(file.list_names())
        raise ValueError(f"{file.file}: not every graph has a tensor {name!r} to predict; there are {there}.")
    rows = [-1 if value is None else value.size(0) for value in found]
    levels: tuple[TaskLevel, ...] = ("node", "edge", "graph")
    fitting = [known for known in levels if file.counts[known] == rows and level in (None, known)]
    if len(fitting) > 1:
        raise ValueError(
            f"{file.file}: {name!r} has one row for each of {' and '.join(f'the {known}s' for known in fitting)}; say "
            "which are meant (level, --level)."
        )
    if not fitting:
        wanted = f"each {level}" if level in Task.levels else "each node, each edge or the graph"
        raise ValueError(
            f"{file.file}: {name!r} must have one row for {wanted}; in the first graph, of {file.counts['node'][0]} "
            f"nodes and {file.counts['edge'][0]} edges, it has the shape {tuple(file.graphs[0][name].shape)}."
        )
    return fitting[0]


def infer_tensor_classes(
    file: TensorFile, name: str, level: TaskLevel, classes: bool | None = None
) -> tuple[str, ...] | None:
    """Return the names of the classes, their numbers, or ``None`` where the target holds numbers.

    Args:
        file: The file.
        name: The tensor to predict.
        level: Its level.
        classes: Whether it holds classes; by default integers do, as everywhere in PyTorch Geometric.

    Raises:
        ValueError: Where it cannot be what it is said to be.
    """
    value = _read(file, name, level)
    if classes is None:
        classes = not value.is_floating_point() and value.size(1) == 1
    if not classes:
        return None
    known = value[~value.isnan() & (value >= 0)] if value.is_floating_point() else value[value >= 0]
    if value.size(1) > 1 or bool((known != known.round()).any() if known.is_floating_point() else False):
        raise ValueError(f"{file.file}: to be classes, {name!r} must be one column of whole numbers from 0.")
    if not len(known) or bool((known == known[0]).all()):
        raise ValueError(f"{file.file}: {name!r} has fewer than two classes; training needs two.")
    count = int(known.max()) + 1
    if count > max(MANY_WORDS, len(value) // 2):
        raise ValueError(
            f"{file.file}: {name!r} would have {count} classes in {len(value)} rows; say that it holds numbers "
            "(classes=False, --numbers)."
        )
    return tuple(map(str, range(count)))


def encode_tensor_target(file: TensorFile, name: str, level: TaskLevel, classes: tuple[str, ...] | None) -> np.ndarray:
    """Return the targets: numbers ``(N, C)``, NaN where missing, or classes ``(N)``, -1 where missing.

    Raises:
        ValueError: Where a number is infinite, or a class is not known.
    """
    numbers = _read(file, name, level).double().numpy()
    if np.isinf(numbers).any():
        raise ValueError(f"{file.file}: {name!r} must hold finite numbers, or NaN for none; some are infinite.")
    if classes is None:
        return numbers
    if numbers.max(initial=-1) >= len(classes):
        raise ValueError(f"{file.file}: {name!r} has the class {numbers.max():.0f}; known are 0 to {len(classes) - 1}.")
    return np.where(numbers[:, 0] >= 0, numbers[:, 0], -1).astype(np.int64)


def name_targets(name: str, target: np.ndarray) -> tuple[str, ...]:
    """Return a name for every column of a target."""
    width = 1 if target.ndim == 1 else target.shape[1]
    return (name,) if width == 1 else tuple(f"{name}[{place}]" for place in range(width))


def _read(file: TensorFile, name: str, level: TaskLevel) -> Tensor:
    value = file.join(name, level)
    if value is None:
        raise ValueError(f"{file.file} has no tensor {name!r} to predict.")
    return value

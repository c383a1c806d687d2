"""Graphs of a PyG file: which tensors are features, and what the target is."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import torch

from ghr.datasets.folders.content import Content, build_graphs
from ghr.datasets.folders.folder import FolderData
from ghr.datasets.folders.request import Request
from ghr.datasets.folders.schema import Column, Schema
from ghr.datasets.folders.summary import (
    count_missing,
    describe_direction,
    describe_features,
    describe_graphs,
    describe_parts,
    describe_target,
    holds_few,
)
from ghr.datasets.folders.tensor_file import TensorFile
from ghr.datasets.folders.tensor_target import (
    encode_tensor_target,
    find_tensor_level,
    infer_tensor_classes,
    name_targets,
)
from ghr.datasets.task import TaskLevel

FEATURES = {"node": ("x",), "edge": ("edge_attr", "edge_weight")}
MASKS = ("train_mask", "val_mask", "test_mask", "mask")
READ = ("edge_index", "num_nodes", *FEATURES["node"], *FEATURES["edge"], *MASKS)
Features = tuple[list[Column], list[np.ndarray]]


def learn_tensors(path: Path, request: Request, source: str) -> FolderData:
    """Find out what the tensors of a file mean, and make graphs of them.

    Args:
        path: The file.
        request: What to predict, by default ``y``, and what cannot be found out.
        source: What the file is called.
    """
    if request.categorical or len(request.target) > 1:
        raise ValueError(
            "In a .pt file the target is one tensor, and codes are integers; name one target and nothing categorical."
        )
    file = TensorFile(path)
    target = request.target[0] if request.target else "y" if "y" in file.list_names() else None
    level = None if target is None else find_tensor_level(file, target, request.level)
    numbering, names = file.number(bool(request.undirected))
    (nodes, node_values), (edges, edge_values) = (read_features(file, kind, request.ignore) for kind in FEATURES)
    content = Content(numbering, node_values, edge_values)
    schema = Schema(nodes=tuple(nodes), edges=tuple(edges), undirected=numbering.undirected)
    if target is not None and level is not None:
        classes = infer_tensor_classes(file, target, level, request.classes)
        value = encode_tensor_target(file, target, level, classes)
        schema = replace(schema, target=name_targets(target, value), level=level, classes=classes)
        content = replace(content, target=value, masks=read_masks(file, level))
    ignored = [name for name in file.list_names() if name not in (*READ, target)]
    masks = ", ".join(content.masks)
    summary = [
        describe_graphs(numbering, source),
        describe_features("Nodes", schema.nodes),
        describe_features("Edges", schema.edges),
        *describe_direction(numbering, bool(request.undirected)),
        *([f"Tensors that are not used: {', '.join(ignored)}."] if ignored else []),
        *describe_target(schema, count_missing(content.target), holds_few(content.target)),
        *([f"The {level}s are divided by {masks}." if masks else describe_parts(None, "", "")] if level else []),
    ]
    graphs = build_graphs(content, schema)
    return FolderData(graphs, schema.make_task(), schema, names, summary, None, content, source)


def apply_tensor_schema(path: Path, schema: Schema, source: str) -> FolderData:
    """Make graphs of a file with the same columns as that of training; targets may be missing.

    Args:
        path: The file.
        schema: What the columns mean.
        source: What the file is called.

    Raises:
        ValueError: Where the columns are others, or a code is larger than any in training.
    """
    file = TensorFile(path)
    numbering, names = file.number(schema.undirected)
    values = []
    for level, wanted in (("node", schema.nodes), ("edge", schema.edges)):
        columns, found = read_features(file, level)
        _check_columns(file.file, columns, wanted)
        values.append(found)
    content = Content(numbering, values[0], values[1])
    target = schema.target[0].partition("[")[0] if schema.target else None
    if schema.level is not None and target is not None and all(target in graph for graph in file.graphs):
        content = replace(content, target=encode_tensor_target(file, target, schema.level, schema.classes))
    graphs, summary = build_graphs(content, schema), [describe_graphs(numbering, source)]
    return FolderData(graphs, schema.make_task(), schema, names, summary, None, content, source)


def read_features(file: TensorFile, level: str, ignore: Sequence[str] = ()) -> Features:
    """Return the columns of all features of nodes or edges, and their values: integers are codes, all else numbers.

    Args:
        file: The file.
        level: ``"node"`` or ``"edge"``.
        ignore: Tensors that are left out.

    Raises:
        ValueError: Where a number is not finite, or a code is negative.
    """
    columns, values = [], []
    for name in FEATURES[level]:
        value = None if name in ignore else file.join(name, level)
        if value is None:
            continue
        coded = not value.is_floating_point() and value.dtype != torch.bool
        for place in range(value.size(1)):
            title = f"{name}[{place}]"
            entries = value[:, place].double().numpy()
            if not np.isfinite(entries).all():
                raise ValueError(f"{file.file}: {title} must hold finite numbers; some are missing or infinite.")
            if coded and entries.min(initial=0) < 0:
                raise ValueError(
                    f"{file.file}: {title} holds integers, which are codes from 0, but one is {entries.min():.0f}; "
                    "store real features as floating point numbers."
                )
            columns.append(Column(title, codes=int(entries.max(initial=0)) + 1 if coded else None))
            values.append(entries.astype(np.int64) if coded else entries)
    return columns, values


def read_masks(file: TensorFile, level: TaskLevel) -> dict[str, np.ndarray]:
    """Return the masks that the graphs have, one flag per row of the level.

    Raises:
        ValueError: Where a mask is not boolean, or has several columns.
    """
    masks = {}
    for name in MASKS:
        mask = file.join(name, level)
        if mask is None:
            continue
        if mask.dtype != torch.bool or mask.size(1) != 1:
            raise ValueError(
                f"{file.file}: {name} must be boolean, one flag per {level}; got {mask.size(1)} columns of "
                f"{mask.dtype}. Of several divisions choose one column."
            )
        masks[name] = mask[:, 0].numpy()
    return masks


def _check_columns(file: str, found: Sequence[Column], wanted: Sequence[Column]) -> None:
    """Raise a ValueError unless a file has the columns of training, and no code that is larger."""
    has, had = (
        ", ".join(f"{column.name}{' (codes)' if column.size else ''}" for column in columns) or "none"
        for columns in (found, wanted)
    )
    if has != had:
        raise ValueError(f"{file} has the features {has}; the model was trained with {had}.")
    for column, known in zip(found, wanted, strict=True):
        if known.size is not None and (column.size or 0) > known.size:
            raise ValueError(
                f"{file}: {column.name} has the code {(column.size or 0) - 1}; training had codes from 0 to "
                f"{known.size - 1}."
            )

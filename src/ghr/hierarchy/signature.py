"""Which graph the coarse levels belong to: a few numbers that tell when its nodes or edges changed."""

from typing import Any

import numpy as np
import torch
from torch import Tensor

from ghr.hierarchy.kernels.hashes import sign_graphs
from ghr.hierarchy.kernels.types import Ints
from ghr.hierarchy.level import Level
from ghr.hierarchy.tensors import (
    at_hand,
    check_edges,
    check_range,
    check_values,
    describe,
    is_dense,
    to_array,
    to_tensor,
)


def make_signature(finest: Level, num_graphs: int, num_levels: int) -> Tensor:
    """Return a row per graph: its levels, its nodes, its edges, and a sum of hashes of the edges.

    Nodes count from the first of their graph and the order of edges does not matter, so a graph has the same row alone
    and in any batch.

    Shapes:
        - **output:** :math:`(B, 4)`, int64
    """
    check_values("edge_index", finest.edge_index)
    return to_tensor(_make_rows(finest, num_graphs, num_levels), finest.edge_index)


def check_signature(signature: Any, levels: tuple[Level, ...]) -> None:
    """Raise a ValueError if level 0 is not the graph that a signature was made of; on a GPU nothing is looked at.

    Args:
        signature: What :func:`make_signature` returned when the graphs were coarsened.
        levels: The levels as they are now.
    """
    if not is_dense(signature) or signature.dtype != torch.long or signature.shape[1:] != (4,):
        raise ValueError(f"level_signature is written by Coarsen and cannot be set; got {describe(signature)}.")
    if not at_hand(signature) or not at_hand(levels[0].batch):
        return
    then, now = signature.numpy(), _make_rows(levels[0], signature.size(0), len(levels))
    if not (then == now).all():
        _refuse(then, now, levels)


def _make_rows(finest: Level, num_graphs: int, num_levels: int) -> Ints:
    return sign_graphs(to_array(finest.edge_index), to_array(finest.batch), num_graphs, num_levels)


def _refuse(then: Ints, now: Ints, levels: tuple[Level, ...]) -> None:
    if (then[:, 0] != len(levels)).any():
        counts = " and ".join(str(count) for count in np.unique(then[:, 0]))
        raise ValueError(
            f"The graphs were coarsened to {counts} levels, but {len(levels)} are there; the graphs of a batch must "
            "have the same number of levels, and none can be taken away."
        )
    check_range("batch", levels[0].batch, len(then) - 1)  # one of these may be all that is wrong
    check_edges(levels[0].edge_index, levels[0].num_nodes)
    graph = int(np.flatnonzero((then != now).any(axis=1))[0])
    (_, nodes, edges, _), (_, new_nodes, new_edges, _) = then[graph].tolist(), now[graph].tolist()
    became = "others" if (nodes, edges) == (new_nodes, new_edges) else f"{new_nodes} nodes and {new_edges} edges"
    which = f"Graph {graph} of the batch" if len(then) > 1 else "The graph"
    raise ValueError(
        f"{which} changed after it was coarsened: it had {nodes} nodes and {edges} edges, and now it has {became}. "
        "Its coarse levels belong to the graph as it was, so Coarsen must come last, after everything that adds, "
        "removes or renumbers nodes or edges."
    )

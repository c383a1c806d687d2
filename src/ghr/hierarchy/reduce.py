"""How the features of merged edges become the features of a coarse edge."""

from collections.abc import Callable, Sequence
from typing import Any, Literal, NamedTuple, TypeAlias, cast, get_args

import numpy as np
import torch
from torch import Tensor

from ghr.checks import check_whole, show
from ghr.hierarchy.centres import CentrePaths
from ghr.hierarchy.kernels.lists import group, number_clusters
from ghr.hierarchy.kernels.quotient import MAX, MEAN, MIN, SUM, build_quotient, reduce_rows
from ghr.hierarchy.kernels.types import Ints
from ghr.hierarchy.tensors import at_hand, check_rows, check_values, find_ends, to_array, to_tensor

Numeric = Literal["min", "mean", "max", "sum"]
Reduce: TypeAlias = Numeric | Literal["centre_paths"]
CoarseEdgeAttr: TypeAlias = Callable[[Tensor, Tensor, int], Tensor]
EdgeReduce: TypeAlias = Reduce | Sequence[Numeric] | CoarseEdgeAttr | CentrePaths | None
Rule: TypeAlias = Numeric | tuple[Numeric, ...] | CoarseEdgeAttr | None
_WAYS = {"min": MIN, "mean": MEAN, "max": MAX, "sum": SUM}
MOST_CODES = 10_000  # a column with more of them holds numbers


class Merged(NamedTuple):
    """What became of the nodes and edges of a graph after some steps of coarsening.

    What levels keep are tensors; the rest are arrays, since kernels read them and few rules want them as tensors.

    Attributes:
        edge_index: Edges of the coarsest graph so far.
        num_nodes: Its nodes.
        assignment: The one that every finest node is in.
        became: The one that every finest edge went into; -1 inside a cluster.
        order: The finest edges that were merged, one coarse edge after the other.
        start: Where every coarse edge starts among these, and their number.
    """

    edge_index: Tensor
    num_nodes: int
    assignment: Tensor
    became: Ints
    order: Ints
    start: Ints

    @classmethod
    def by(cls, label: Tensor, edge_index: Tensor) -> "Merged":
        """Return what one step makes of a graph, whose nodes are merged if they have the same label."""
        number, num_clusters = number_clusters(to_array(label.long()))
        edges, *groups = build_quotient(to_array(edge_index), number, num_clusters)
        return cls(to_tensor(edges, edge_index), num_clusters, to_tensor(number, edge_index), *groups)

    def then(self, step: "Merged") -> "Merged":
        """Return what is left after one more step, described by itself."""
        # The entry put at the end is where -1 points to.
        became = np.append(step.became, -1)[self.became]
        groups = group(became, step.edge_index.size(1))
        return Merged(step.edge_index, step.num_nodes, step.assignment[self.assignment], became, *groups)


def check_edge_reduce(edge_reduce: Any) -> Rule | CentrePaths:
    """Return a rule for the features of coarse edges, or raise a ValueError."""
    if isinstance(edge_reduce, str) and edge_reduce == "centre_paths":
        return CentrePaths()
    if isinstance(edge_reduce, type):
        raise ValueError(f"edge_reduce must be an object and not a class; write {edge_reduce.__name__}(...).")
    if edge_reduce is None or callable(edge_reduce):
        return cast(Rule, edge_reduce)
    known = get_args(Numeric)
    names = tuple(edge_reduce) if isinstance(edge_reduce, (list, tuple)) else (edge_reduce,)
    if not names or not all(isinstance(name, str) and name in known for name in names):
        raise ValueError(
            f"Unknown edge_reduce {show(edge_reduce)}; known are {', '.join(known)}, a sequence of these, "
            "centre_paths, and callables."
        )
    return cast(Rule, edge_reduce if isinstance(edge_reduce, str) else names)


def check_codes(codes: Any) -> tuple[int, ...] | None:
    """Return the number of codes of every column, or raise a ValueError."""
    if codes is None:
        return None
    if not isinstance(codes, (list, tuple)) or not codes:
        raise ValueError(f"codes must list how many codes every column of edge_attr has; got {show(codes)}.")
    return tuple(check_whole("The number of codes of a column", count, 1, MOST_CODES) for count in codes)


def reduce_edges(rule: Rule, value: Tensor | None, merged: Merged, codes: tuple[int, ...] | None) -> Tensor | None:
    """Return the features of coarse edges :math:`(E', D')`; ``None`` if the finest have none.

    Args:
        rule: Names of reductions, or a callable; ``None`` for means of numbers and shares of codes.
        value: Features of the finest edges.
        merged: Where these went.
        codes: How many codes every column has; ``None`` for those that occur.
    """
    count = merged.edge_index.size(1)
    if callable(rule):
        made = rule(merged.edge_index, merged.assignment, merged.num_nodes)
        return check_rows("What edge_reduce returns", made, count)
    if value is None:
        return None
    if not value.is_floating_point():
        if rule is not None:
            raise ValueError(
                f"edge_attr holds integer codes ({value.dtype}), which have no {rule!r}; leave out edge_reduce, "
                "and coarse edges carry the shares of the codes, or convert edge_attr to floating point if it "
                "holds numbers."
            )
        return _share_codes(value, merged, codes)
    if codes is not None and rule is None:
        raise ValueError(f"codes is for integer edge_attr, but edge_attr holds {value.dtype}; leave out codes.")
    names = ("mean",) if rule is None else (rule,) if isinstance(rule, str) else rule
    if at_hand(value) and not value.requires_grad and value.dtype in (torch.float32, torch.float64):
        ways = np.array([_WAYS[name] for name in names])
        return torch.from_numpy(reduce_rows(to_array(value), merged.order, merged.start, ways))
    value, start = value.index_select(0, to_tensor(merged.order, value)), to_tensor(merged.start, value)
    return torch.cat([torch.segment_reduce(value, name, offsets=start, unsafe=True) for name in names], dim=1)


def _share_codes(value: Tensor, merged: Merged, codes: tuple[int, ...] | None) -> Tensor:
    """Return for every coarse edge the share of every code of every column among the edges merged into it."""
    check_values("edge_attr", value)
    columns = value.long().unbind(dim=1)
    if codes is not None and len(codes) != len(columns):
        raise ValueError(f"codes gives {len(codes)} numbers of codes for {len(columns)} columns of edge_attr.")
    order, total = to_tensor(merged.order, value), to_tensor(np.diff(merged.start), value)
    count, place = total.size(0), torch.repeat_interleave(total)
    parts = []
    for k, column in enumerate(columns):
        low, high = find_ends(column) if column.numel() else (0, 0)
        size = codes[k] if codes is not None else max(high + 1, 2 if value.dtype == torch.bool else 1)
        if low < 0 or high >= min(size, MOST_CODES):
            raise ValueError(
                f"Column {k} of edge_attr has the code {low if low < 0 else high}, but codes run from 0 to "
                f"{min(size, MOST_CODES) - 1}; convert edge_attr to floating point if it holds numbers."
            )
        number = torch.bincount(place * size + column[order], minlength=count * size)
        parts.append(number.view(count, size).double() / total.unsqueeze(1))
    return torch.cat(parts, dim=1)

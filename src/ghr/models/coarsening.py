"""How a model that needs coarse levels makes them."""

import inspect
from collections.abc import Mapping, Sequence
from typing import Any

from torch_geometric.data import Data

from ghr.checks import check_choice, check_names, check_whole, show
from ghr.hierarchy import Coarsen, HierarchicalData
from ghr.hierarchy.coarsen import PARTITIONS, make_coarsen
from ghr.models.inputs import Widths
from ghr.nn.encoder import Width, check_width

_OPTIONS = tuple(inspect.signature(make_coarsen).parameters)
# What a model takes of them by name; its levels and codes are those of the model and of the data.
COARSENING = tuple(name for name in _OPTIONS if name not in ("levels", "codes", "seed"))
PARTITION_OPTIONS = tuple(name for name in COARSENING if name not in ("partition", "edge_reduce", "until"))


def make_transform(
    coarsen: Coarsen | Mapping[str, Any] | None,
    levels: int,
    edge_dim: Width | None,
    coarse_dim: int | None,
    *,
    share_coarse: bool,
) -> Coarsen | None:
    """Return what gives a graph the levels that a model was built for; ``None`` if it has no coarse one.

    Args:
        coarsen: How, if that is said.
        levels: Number of levels of the model.
        edge_dim: Width of the edge features of the graph, or the sizes of columns of codes; ``None`` without any.
        coarse_dim: Width of those of coarse levels; ``None`` without any.
        share_coarse: Whether the model takes any number of coarse levels.
    """
    if levels == 1:
        if coarsen is not None:
            raise ValueError("coarsen is for models with coarse levels, but levels is 1; leave it out.")
        return None
    if coarsen is None:
        both = isinstance(edge_dim, int) and coarse_dim == 2 * edge_dim
        return make_coarsen(edge_reduce=("min", "mean") if both else None, levels=levels - 1, codes=_codes(edge_dim))
    made = read_coarsen(coarsen)
    if not share_coarse and made.levels != levels - 1:
        raise ValueError(
            f"coarsen makes {made.levels} coarse levels, but with levels={levels} the model has {levels - 1}; make "
            "both the same."
        )
    return made


def choose_coarse_dim(coarse_edge_dim: int | None, edge_dim: Width | None, *, lengths: bool) -> int | None:
    """Return the width of the edge features of coarse levels, ``None`` without any.

    Args:
        coarse_edge_dim: As in :class:`~ghr.GHR`: ``None`` for what the edges of the graph give, ``0`` for none.
        edge_dim: Width of the edge features of the graph, or the sizes of columns of codes, whose shares coarse edges
            have; ``None`` without any.
        lengths: Whether coarse edges have a length, whatever the edges of the graph have.
    """
    if coarse_edge_dim is not None:
        return coarse_edge_dim or None
    if lengths:
        return 1
    return sum(edge_dim) if isinstance(edge_dim, Sequence) else edge_dim


def choose_coarsen(
    options: Mapping[str, Any], widths: Widths, *, default_levels: int
) -> tuple[Coarsen | None, dict[str, Any]]:
    """Return the coarsening that options by name ask for, and the other options.

    Args:
        options: What a user or a benchmark asks for.
        widths: Of the data.
        default_levels: The number of levels of a model that is not told.
    """
    chosen = {name: value for name, value in options.items() if name in COARSENING}
    others = {name: value for name, value in options.items() if name not in COARSENING}
    levels, own = check_whole("levels", others.get("levels", default_levels)), others.get("coarsen")
    if chosen and (levels == 1 or own is not None):
        why = "levels is 1" if levels == 1 else "coarsen is given"
        raise ValueError(f"{', '.join(chosen)} say how to coarsen, but {why}; leave them out.")
    if levels == 1:
        return None, others
    if own is not None:
        return read_coarsen(own), others
    name = check_choice("partition", chosen.get("partition", "graclus"), PARTITIONS)
    foreign = [option for option in PARTITION_OPTIONS if option in chosen and option not in PARTITIONS[name].options]
    if foreign:
        raise ValueError(f"The partition {name!r} does not read {', '.join(foreign)}; leave it out.")
    # Also where the model does not use the edge features: graphs whose coarse edges differ in width form no batch.
    edge_dim = others.get("edge_dim")
    codes = _codes(widths.edge_dim if edge_dim is None else check_width("edge_dim", edge_dim))
    return make_coarsen(levels=levels - 1, codes=codes, **chosen), others


def read_coarsen(coarsen: Coarsen | Mapping[str, Any]) -> Coarsen:
    """Return a coarsening that is given as such or by its options, or raise a ValueError."""
    if isinstance(coarsen, Coarsen):
        return coarsen
    if not isinstance(coarsen, Mapping):
        raise ValueError(f"coarsen must be a Coarsen(...) or a mapping of its options; got {show(coarsen)}.")
    check_names("coarsen", coarsen, _OPTIONS)
    return make_coarsen(**coarsen)


def coarse_width(coarsen: Coarsen, example: Data | Sequence[Data]) -> int:
    """Return how many features the coarse edges of a graph have; one that is not coarsened yet is."""
    graph = example if isinstance(example, Data) else example[0]
    coarse = graph if isinstance(graph, HierarchicalData) and graph.num_levels > 1 else coarsen(graph)
    edge_attr = coarse.levels[1].edge_attr
    return 0 if edge_attr is None else edge_attr.size(1)


def _codes(edge_dim: Width | None) -> Sequence[int] | None:
    return None if edge_dim is None or isinstance(edge_dim, int) else list(edge_dim)

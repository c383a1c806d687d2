"""The operations that the recurrence repeats, in PyTorch everywhere and in numba kernels on the CPU."""

from ghr.ops.aggregate import aggregate_sum, count_items
from ghr.ops.attention import attend
from ghr.ops.backend import Backend, kernels_for, use, using
from ghr.ops.gated_gcn import gated_gcn_loop
from ghr.ops.gine import gine_loop
from ghr.ops.min_plus import min_plus
from ghr.ops.neighbours import Members, Neighbours, list_edges, sort_edges, sort_members
from ghr.ops.pool import Above, Pool, add_unpooled, check_pool, pool, pool_normalised, unpool

__all__ = [
    "Above",
    "Backend",
    "Members",
    "Neighbours",
    "Pool",
    "add_unpooled",
    "aggregate_sum",
    "attend",
    "check_pool",
    "count_items",
    "gated_gcn_loop",
    "gine_loop",
    "kernels_for",
    "list_edges",
    "min_plus",
    "pool",
    "pool_normalised",
    "sort_edges",
    "sort_members",
    "unpool",
    "use",
    "using",
]

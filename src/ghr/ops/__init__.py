"""The operations that the recurrence repeats: aggregation over neighbours, pooling and unpooling."""

from ghr.ops.aggregate import aggregate_sum
from ghr.ops.pool import Pool, check_pool, pool, unpool

__all__ = ["Pool", "aggregate_sum", "check_pool", "pool", "unpool"]

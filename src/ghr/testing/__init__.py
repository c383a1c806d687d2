"""Laws and small graphs for testing hierarchies and models."""

from ghr.testing.graphs import path_graph, random_graph
from ghr.testing.laws import (
    assert_batch_equals_loop,
    assert_gradients_reach_all_parameters,
    assert_permutation_equivariant,
    assert_quotient,
    permute,
)

__all__ = [
    "assert_batch_equals_loop",
    "assert_gradients_reach_all_parameters",
    "assert_permutation_equivariant",
    "assert_quotient",
    "path_graph",
    "permute",
    "random_graph",
]

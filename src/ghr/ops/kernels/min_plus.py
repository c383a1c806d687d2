"""The smallest message that arrives at every node, and its gradient.

Messages round exactly as written: the gradient finds those that attain a minimum by computing them again.
"""

import numpy as np
from numba import prange

from ghr.jit import parallel_exact
from ghr.ops.kernels.types import Array


@parallel_exact
def forward(x: Array, cost: Array, first: Array, start: Array, source: Array, out: Array) -> None:
    """out_i = min(first_i, min over the arriving edges e of x_source(e) + cost_e)."""
    width, shared = x.shape[1], cost.shape[0] == 1
    for i in prange(out.shape[0]):
        for j in range(width):
            out[i, j] = first[i, j]
        for e in range(start[i], start[i + 1]):
            s, row = source[e], 0 if shared else e
            for j in range(width):
                message = x[s, j] + cost[row, j]
                # A message that is not a number must come through, hence not (message >= out).
                out[i, j] = out[i, j] if message >= out[i, j] or np.isnan(out[i, j]) else message


@parallel_exact
def backward_targets(
    x: Array, cost: Array, first: Array, start: Array, source: Array, out: Array, grad_out: Array,
    share: Array, grad_first: Array, grad_cost: Array, chunks: int,
) -> None:  # fmt: skip
    """Fill what everything that attains a minimum gets of its gradient, and hand it to `first` and the costs.

    `grad_cost` has a row per edge or, where all edges share a cost, one per chunk of nodes to be summed.
    """
    width, nodes, shared = x.shape[1], out.shape[0], cost.shape[0] == 1
    for chunk in prange(chunks):
        count = np.empty(width, x.dtype)
        for i in range(nodes * chunk // chunks, nodes * (chunk + 1) // chunks):
            for j in range(width):
                count[j] = 1 if first[i, j] == out[i, j] else 0
            for e in range(start[i], start[i + 1]):
                s, row = source[e], 0 if shared else e
                for j in range(width):
                    count[j] += 1 if x[s, j] + cost[row, j] == out[i, j] else 0
            for j in range(width):
                share[i, j] = grad_out[i, j] / count[j] if count[j] > 0 else 0
                grad_first[i, j] = share[i, j] if first[i, j] == out[i, j] else 0
            for e in range(start[i], start[i + 1]):
                s, row = source[e], 0 if shared else e
                into = grad_cost[chunk] if shared else grad_cost[e]
                for j in range(width):
                    into[j] += share[i, j] if x[s, j] + cost[row, j] == out[i, j] else 0


@parallel_exact
def backward_sources(
    x: Array, cost: Array, out: Array, share: Array, out_start: Array, out_target: Array, out_edge: Array, grad: Array
) -> None:
    """Sum for every node what its messages get."""
    width, shared = x.shape[1], cost.shape[0] == 1
    for s in prange(x.shape[0]):
        for j in range(width):
            grad[s, j] = 0
        for place in range(out_start[s], out_start[s + 1]):
            i, row = out_target[place], 0 if shared else out_edge[place]
            for j in range(width):
                grad[s, j] += share[i, j] if x[s, j] + cost[row, j] == out[i, j] else 0

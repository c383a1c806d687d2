"""What one update with GatedGCN does around its matrix products, and its gradient, which recomputes gates and norms.

Edges are visited by the node they arrive at; `order` tells the row of each. Biases are added here and not by the
products: those of the three maps into an edge as one, that of the content that passes once per node.
"""

import numpy as np
from numba import prange

from ghr.jit import parallel
from ghr.ops.kernels.logistic import logistic
from ghr.ops.kernels.types import Array

OPEN = 1e-6  # added to the sum of a node's gates
PASSING, OWN, RAW, OUT_NORM, EDGE_NORM = range(5)  # rows of the sums over all nodes: three biases and two norms


@parallel
def normalise(x: Array, weight: Array, eps: float, injection: Array, z: Array) -> None:
    """z = RMSNorm(x) + injection."""
    width = x.shape[1]
    for i in prange(x.shape[0]):
        square = x.dtype.type(0)
        for j in range(width):
            square += x[i, j] * x[i, j]
        inverse = x.dtype.type(1 / np.sqrt(square / width + eps))
        for j in range(width):
            z[i, j] = x[i, j] * inverse * weight[j] + injection[i, j]


@parallel
def backward_sources(
    out_start: Array,
    out_target: Array,
    out_row: Array,
    gates: Array,
    pull: Array,
    grad_raw: Array,
    grad_products: Array,
) -> None:
    """Gather the gradients of what every node sends: its content through the gates, and its part in the edges."""
    width = pull.shape[1]
    for i in prange(pull.shape[0]):
        for j in range(width):
            grad_products[i, j] = 0
            grad_products[i, 3 * width + j] = 0
        for e in range(out_start[i], out_start[i + 1]):
            far, row = out_target[e], out_row[e]
            for j in range(width):
                grad_products[i, j] += gates[row, j] * pull[far, j]
                grad_products[i, 3 * width + j] += grad_raw[row, j]


@parallel
def edge_states(raw: Array, weight: Array, eps: float, initial: Array, out: Array) -> None:
    """out = relu(RMSNorm(raw)) + initial, as in `forward`."""
    width = raw.shape[1]
    alike = initial.shape[0] == 1
    zero = raw.dtype.type(0)
    for e in prange(raw.shape[0]):
        square = zero
        for j in range(width):
            square += raw[e, j] * raw[e, j]
        inverse = raw.dtype.type(1 / np.sqrt(square / width + eps))
        again = 0 if alike else np.int64(e)
        for j in range(width):
            out[e, j] = max(raw[e, j] * inverse * weight[j], zero) + initial[again, j]


@parallel
def backward_norm(
    x: Array,
    weight: Array,
    eps: float,
    grad_z: Array,
    grad: Array,
    grad_injection: Array,
    grad_weight: Array,
    chunks: int,
) -> None:
    """Add what reaches x and the injection through `normalise`."""
    rows, width = x.shape
    for chunk in prange(chunks):
        for i in range(rows * chunk // chunks, rows * (chunk + 1) // chunks):
            square, dot = x.dtype.type(0), x.dtype.type(0)
            for j in range(width):
                square += x[i, j] * x[i, j]
                dot += grad_z[i, j] * weight[j] * x[i, j]
            inverse = x.dtype.type(1 / np.sqrt(square / width + eps))
            bend = inverse * inverse * inverse * dot / x.dtype.type(width)
            for j in range(width):
                grad_weight[chunk, j] += grad_z[i, j] * x[i, j] * inverse
                grad[i, j] += inverse * weight[j] * grad_z[i, j] - bend * x[i, j]
            for j in range(width):
                grad_injection[i, j] += grad_z[i, j]


@parallel
def forward(
    x: Array,
    products: Array,
    bias: Array,
    start: Array,
    source: Array,
    order: Array,
    initial: Array,
    norm_weight: Array,
    norm_eps: float,
    edge_weight: Array,
    edge_eps: float,
    fresh: bool,
    passing: Array,
    raw: Array,
    edge_state: Array,
    total: Array,
    out: Array,
    chunks: int,
) -> None:
    """Fill what follows from the products: B, A, D, E of nodes side by side, C of edges in `raw` unless `fresh`."""
    rows, width = x.shape
    alike = initial.shape[0] == 1
    dtype = x.dtype.type
    zero = dtype(0)
    for chunk in prange(chunks):
        opened, passed = np.empty(width, x.dtype), np.empty(width, x.dtype)
        to = np.empty(width, x.dtype)
        for i in range(rows * chunk // chunks, rows * (chunk + 1) // chunks):
            for j in range(width):
                opened[j] = zero
                passed[j] = zero
            for j in range(width):
                to[j] = products[i, 2 * width + j] + bias[2, j]
            for j in range(width):
                passing[i, j] = products[i, j]
            for e in range(start[i], start[i + 1]):
                near, row = source[e], order[e]
                square = zero
                if fresh:
                    for j in range(width):
                        value = to[j] + products[near, 3 * width + j]
                        square += value * value
                        raw[row, j] = value
                else:
                    for j in range(width):
                        value = raw[row, j] + to[j] + products[near, 3 * width + j]
                        square += value * value
                        raw[row, j] = value
                for j in range(width):
                    gate = logistic(raw[row, j])
                    opened[j] += gate
                    passed[j] += gate * products[near, j]
                inverse = dtype(1 / np.sqrt(square / width + edge_eps))
                again = 0 if alike else row
                for j in range(width):
                    edge_state[row, j] = max(raw[row, j] * inverse * edge_weight[j], zero) + initial[again, j]
            square = zero
            for j in range(width):
                passed[j] = np.divide(passed[j] + bias[0, j] * opened[j], opened[j] + dtype(OPEN))
            for j in range(width):
                value = products[i, width + j] + bias[1, j] + passed[j]
                square += value * value
                total[i, j] = value
            inverse = dtype(1 / np.sqrt(square / width + norm_eps))
            for j in range(width):
                out[i, j] = x[i, j] + max(total[i, j] * inverse * norm_weight[j], zero)


@parallel
def backward_targets(
    grad: Array,
    total: Array,
    passing: Array,
    bias: Array,
    raw: Array,
    start: Array,
    source: Array,
    order: Array,
    norm_weight: Array,
    norm_eps: float,
    edge_weight: Array,
    edge_eps: float,
    grad_edges: Array,
    gates: Array,
    pull: Array,
    grad_raw: Array,
    grad_products: Array,
    sums: Array,
    chunks: int,
) -> None:
    """Go from the gradient of new nodes (and new edges, if they have one) back to the products at the targets."""
    rows, width = grad.shape
    dtype = grad.dtype.type
    from_edges = grad_edges.shape[0] > 0
    zero, one = dtype(0), dtype(1)
    for chunk in prange(chunks):
        opened, mean = np.empty(width, grad.dtype), np.empty(width, grad.dtype)
        back, arrived = np.empty(width, grad.dtype), np.empty(width, grad.dtype)
        edge = np.empty(width, grad.dtype)
        for i in range(rows * chunk // chunks, rows * (chunk + 1) // chunks):
            square, dot = zero, zero
            for j in range(width):
                back[j] = grad[i, j] if total[i, j] * norm_weight[j] > zero else zero
                square += total[i, j] * total[i, j]
                dot += back[j] * norm_weight[j] * total[i, j]
            inverse = dtype(1 / np.sqrt(square / width + norm_eps))
            bend = inverse * inverse * inverse * dot / dtype(width)
            for j in range(width):
                sums[chunk, OUT_NORM, j] += back[j] * total[i, j] * inverse
            for j in range(width):
                back[j] = inverse * norm_weight[j] * back[j] - bend * total[i, j]
                grad_products[i, width + j] = back[j]
            for j in range(width):
                sums[chunk, OWN, j] += back[j]
            for j in range(width):
                opened[j] = zero
                mean[j] = zero
                arrived[j] = zero
            for e in range(start[i], start[i + 1]):
                near, row = source[e], order[e]
                for j in range(width):
                    gates[row, j] = logistic(raw[row, j])
                for j in range(width):
                    opened[j] += gates[row, j]
                    mean[j] += gates[row, j] * passing[near, j]
            for j in range(width):
                part = np.divide(one, opened[j] + dtype(OPEN))
                mean[j] = (mean[j] + bias[0, j] * opened[j]) * part - bias[0, j]
                back[j] *= part
            for j in range(width):
                pull[i, j] = back[j]
                sums[chunk, PASSING, j] += back[j] * opened[j]
            for e in range(start[i], start[i + 1]):
                near, row = source[e], order[e]
                for j in range(width):
                    gate = gates[row, j]
                    edge[j] = back[j] * (passing[near, j] - mean[j]) * gate * (one - gate)
                if from_edges:
                    square, dot = zero, zero
                    for j in range(width):
                        value = grad_edges[row, j] if raw[row, j] * edge_weight[j] > zero else zero
                        square += raw[row, j] * raw[row, j]
                        dot += value * edge_weight[j] * raw[row, j]
                    inverse = dtype(1 / np.sqrt(square / width + edge_eps))
                    bend = inverse * inverse * inverse * dot / dtype(width)
                    for j in range(width):
                        value = grad_edges[row, j] * inverse if raw[row, j] * edge_weight[j] > zero else zero
                        sums[chunk, EDGE_NORM, j] += value * raw[row, j]
                        edge[j] += value * edge_weight[j] - bend * raw[row, j]
                for j in range(width):
                    arrived[j] += edge[j]
                    grad_raw[row, j] = edge[j]
            for j in range(width):
                grad_products[i, 2 * width + j] = arrived[j]
                sums[chunk, RAW, j] += arrived[j]

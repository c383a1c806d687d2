"""Fused updates of values that are chosen from neighbours, and their gradient, which recomputes every choice.

With rows of the values :math:`x`, of edges :math:`e` from :math:`j` to :math:`i`, and everything per channel,

    h_e = relu(base_e + D (x_j - x_i)),   a_e = softmax over the edges of i of C h_e,
    x_i = gate_i sum_e a_e (x_j + step_e)

All rows are whole vectors wide. Products are made of blocks of edges. Nodes are cut into parts as in `gine`: where no
edge leads from part to part, a part runs all its updates by itself.
"""
# fmt: off

import numpy as np

from ghr.jit import called, inlined, kernel
from ghr.ops.kernels.arrays import release, reserve
from ghr.ops.kernels.blocks import ROWS, add_outer, product
from ghr.ops.kernels.team import Team, handed_out
from ghr.ops.kernels.types import Array
from ghr.ops.kernels.vectors import exp, lanes_of, larger, load, spread, store, where_positive


@kernel
def forward(
    team: Team, first: int, stop: int,
    parts: Array, begin: int, end: int, updates: int, state: Array, between: Array, last: Array,
    base: Array, step: Array, start: Array, source: Array, target: Array, difference: Array, choice: Array,
    gate: Array, zeros: Array, logits: Array,
) -> None:
    """Let some parts run the updates from `begin` to `end`; values between go to `between`, in turn."""
    if handed_out(team, first, stop):
        return
    rows = between.shape[0]
    for part in range(first, stop):
        for update in range(begin, end):
            x = state if update == 0 else between[(update - 1) % rows]
            out = last if update == updates - 1 else between[update % rows]
            _forward(parts[part], parts[part + 1], x, base, step, start, source, target, difference, choice,
                     gate, zeros, logits, out)


@kernel
def backward(
    team: Team, first: int, stop: int, alone: bool, parts: Array, begin: int, end: int, state: Array, between: Array,
    base: Array, step: Array, start: Array, source: Array, target: Array, out_start: Array, out_edge: Array,
    difference: Array, choice: Array, difference_back: Array, choice_back: Array, gate: Array, zeros: Array,
    logits: Array, hidden: Array, sent: Array, grad: Array, grad_gate: Array, grad_base: Array, grad_step: Array,
    grad_difference: Array, grad_choice: Array,
) -> None:
    """Carry the gradient of some parts back over updates; gradients of weights are sums per part.

    Unless parts are alone, :func:`collect` must follow.
    """
    if handed_out(team, first, stop):
        return
    for part in range(first, stop):
        for update in range(end - 1, begin - 1, -1):
            x = state if update == 0 else between[update - 1]
            _backward(parts[part], parts[part + 1], part, x, base, step, start, source, target, difference, choice,
                      difference_back, choice_back, gate, zeros, logits, hidden, sent, grad, grad_gate, grad_base,
                      grad_step, grad_difference[part], grad_choice[part])
            if alone:
                _collect(parts[part], parts[part + 1], out_start, out_edge, sent, grad)


@kernel
def collect(
    team: Team, first: int, stop: int, count: int, out_start: Array, out_edge: Array, sent: Array, grad: Array,
) -> None:
    """Add to the gradients of nodes what was sent back along the edges that leave them, for some of `count` parts."""
    if handed_out(team, first, stop):
        return
    rows = grad.shape[0]
    for part in range(first, stop):
        _collect(rows * part // count, rows * (part + 1) // count, out_start, out_edge, sent, grad)


@inlined
def _hide(
    first: int, count: int, x: Array, base: Array, source: Array, target: Array, difference: Array,
    apart: Array, own: Array, hidden: Array,
) -> None:
    """Fill what the choice reads of a block of edges, after the ReLU, and the differences of values."""
    width, wide, lanes = x.shape[1], difference.shape[1], lanes_of(x)
    nothing = spread(x.dtype.type(0))
    for i in range(count):
        near, far = source[first + i] * width, target[first + i] * width
        for j in range(0, width, lanes):
            store(apart, i * width + j, load(x, near + j) - load(x, far + j))
    if base.shape[0] == 1:
        product(apart, difference, 0, wide, base, 0, 0, hidden, count, width, wide)
    else:
        for j in range(0, count * wide, lanes):
            store(own, j, load(base, first * wide + j))
        product(apart, difference, 0, wide, own, 0, wide, hidden, count, width, wide)
    for j in range(0, count * wide, lanes):
        store(hidden, j, larger(load(hidden, j), nothing))


@called
def _forward(
    begin: int, end: int, x: Array, base: Array, step: Array, start: Array, source: Array, target: Array,
    difference: Array, choice: Array, gate: Array, zeros: Array, logits: Array, out: Array,
) -> None:
    width, wide, lanes = x.shape[1], difference.shape[1], lanes_of(x)
    apart, chosen = reserve(ROWS * width, x), reserve(ROWS * width, x)
    hidden, own = reserve(ROWS * wide, x), reserve(ROWS * wide, x)
    nothing, lowest = spread(x.dtype.type(0)), spread(x.dtype.type(-np.inf))
    for first in range(start[begin], start[end], ROWS):
        count = min(ROWS, start[end] - first)
        _hide(first, count, x, base, source, target, difference, apart, own, hidden)
        product(hidden, choice, 0, width, zeros, 0, 0, chosen, count, wide, width)
        for j in range(0, count * width, lanes):
            store(logits, first * width + j, load(chosen, j))
    step_row = 0 if step.shape[0] == 1 else width
    for i in range(begin, end):
        for j in range(0, width, lanes):
            here = i * width + j
            if start[i] == start[i + 1]:
                store(out, here, load(gate, here) * load(x, here))
                continue
            best, total, taken = lowest, nothing, nothing
            for e in range(start[i], start[i + 1]):
                best = larger(best, load(logits, e * width + j))
            for e in range(start[i], start[i + 1]):
                weight = exp(load(logits, e * width + j) - best)
                total = total + weight
                taken = taken + weight * (load(x, source[e] * width + j) + load(step, e * step_row + j))
            store(out, here, load(gate, here) * (taken / total))
    release(apart, chosen, hidden, own)


@called
def _backward(
    begin: int, end: int, part: int, x: Array, base: Array, step: Array, start: Array, source: Array, target: Array,
    difference: Array, choice: Array, difference_back: Array, choice_back: Array, gate: Array, zeros: Array,
    logits: Array, hidden: Array, sent: Array, grad: Array, grad_gate: Array, grad_base: Array, grad_step: Array,
    grad_difference: Array, grad_choice: Array,
) -> None:
    """Turn the gradients of nodes into what they keep of them, and fill what they send along every edge."""
    width, wide, lanes = x.shape[1], difference.shape[1], lanes_of(x)
    apart, chosen = reserve(ROWS * width, x), reserve(ROWS * width, x)
    block, own = reserve(ROWS * wide, x), reserve(ROWS * wide, x)
    nothing, lowest = spread(x.dtype.type(0)), spread(x.dtype.type(-np.inf))
    for first in range(start[begin], start[end], ROWS):
        count = min(ROWS, start[end] - first)
        _hide(first, count, x, base, source, target, difference, apart, own, block)
        product(block, choice, 0, width, zeros, 0, 0, chosen, count, wide, width)
        for j in range(0, count * width, lanes):
            store(logits, first * width + j, load(chosen, j))
        for j in range(0, count * wide, lanes):
            store(hidden, first * wide + j, load(block, j))
    step_row, step_grad = (0, part * width) if step.shape[0] == 1 else (width, 0)
    for i in range(begin, end):
        for j in range(0, width, lanes):
            here = i * width + j
            back = load(grad, here) * load(gate, here)
            if start[i] == start[i + 1]:
                store(grad_gate, here, load(grad_gate, here) + load(grad, here) * load(x, here))
                store(grad, here, back)
                continue
            best, total, taken = lowest, nothing, nothing
            for e in range(start[i], start[i + 1]):
                best = larger(best, load(logits, e * width + j))
            for e in range(start[i], start[i + 1]):
                weight = exp(load(logits, e * width + j) - best)
                total = total + weight
                taken = taken + weight * (load(x, source[e] * width + j) + load(step, e * step_row + j))
                store(sent, e * width + j, weight)
            taken, back = taken / total, back / total
            store(grad_gate, here, load(grad_gate, here) + load(grad, here) * taken)
            store(grad, here, nothing)
            for e in range(start[i], start[i + 1]):
                share = load(sent, e * width + j) * back
                value = load(x, source[e] * width + j) + load(step, e * step_row + j)
                store(sent, e * width + j, share)
                store(logits, e * width + j, share * (value - taken))
                at = step_grad + e * step_row + j
                store(grad_step, at, load(grad_step, at) + share)
    base_row, base_grad = (0, part * wide) if base.shape[0] == 1 else (wide, 0)
    for first in range(start[begin], start[end], ROWS):
        count = min(ROWS, start[end] - first)
        for i in range(count):
            near, far = source[first + i] * width, target[first + i] * width
            for j in range(0, width, lanes):
                store(apart, i * width + j, load(x, near + j) - load(x, far + j))
        for j in range(0, count * width, lanes):
            store(chosen, j, load(logits, first * width + j))
        for j in range(0, count * wide, lanes):
            store(block, j, load(hidden, first * wide + j))
        add_outer(block, chosen, grad_choice, 0, width, count, wide, width)
        product(chosen, choice_back, 0, wide, zeros, 0, 0, own, count, width, wide)
        for i in range(count):
            at = base_grad + (first + i) * base_row
            for j in range(0, wide, lanes):
                value = where_positive(load(block, i * wide + j), load(own, i * wide + j), nothing)
                store(own, i * wide + j, value)
                store(grad_base, at + j, load(grad_base, at + j) + value)
        add_outer(apart, own, grad_difference, 0, wide, count, width, wide)
        product(own, difference_back, 0, width, zeros, 0, 0, chosen, count, wide, width)
        for i in range(count):
            at, far = (first + i) * width, target[first + i] * width
            for j in range(0, width, lanes):
                value = load(chosen, i * width + j)
                store(sent, at + j, load(sent, at + j) + value)
                store(grad, far + j, load(grad, far + j) - value)
    release(apart, chosen, block, own)


@called
def _collect(begin: int, end: int, out_start: Array, out_edge: Array, sent: Array, grad: Array) -> None:
    """Add to the gradients of nodes what was sent back along the edges that leave them."""
    width, lanes = grad.shape[1], lanes_of(grad)
    for i in range(begin, end):
        for j in range(0, width, lanes):
            total = load(grad, i * width + j)
            for e in range(out_start[i], out_start[i + 1]):
                total = total + load(sent, out_edge[e] * width + j)
            store(grad, i * width + j, total)

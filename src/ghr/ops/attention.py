"""Attention among the nodes of every graph of a batch, without padding."""

from typing import Any

import torch
from torch import Tensor
from torch.nn import functional as F

from ghr.ops.backend import kernels_for
from ghr.ops.kernels import attention as kernels
from ghr.ops.neighbours import as_array
from ghr.ops.operation import operation
from ghr.ops.share import share


def attend(qkv: Tensor, start: Tensor, heads: int) -> Tensor:
    r"""Let every node read the values of all nodes of its graph, weighed by how its query fits their keys.

    .. math::
        y_i = \sum_{j} \operatorname*{softmax}_{j}\big( q_i^\top k_j / \sqrt{d_h} \big)\, v_j

    in every head by itself, over the nodes :math:`j` of the graph of :math:`i`. On the CPU the kernels compute, in
    memory that grows with the nodes; elsewhere PyTorch does, graph by graph.

    Args:
        qkv: Queries, keys and values side by side.
        start: Where the nodes of every graph start, and the number of nodes, on the CPU.
        heads: Heads, of :math:`d_h = d / \mathrm{heads}` channels each.

    Shapes:
        - **qkv:** :math:`(N, 3d)`
        - **start:** :math:`(B + 1)`
        - **output:** :math:`(N, d)`
    """
    if kernels_for(qkv):
        out: Tensor = _attend(qkv.contiguous(), start, heads)[0]
        return out
    rows = []
    for graph in torch.split(qkv, start.diff().tolist()):
        query, key, value = graph.view(graph.size(0), 3, heads, -1).permute(1, 2, 0, 3).unsqueeze(1)
        rows.append(F.scaled_dot_product_attention(query, key, value)[0].transpose(0, 1).flatten(1))
    return torch.cat(rows)


@operation("ghr::attend")
def _attend(qkv: Tensor, start: Tensor, heads: int) -> tuple[Tensor, Tensor]:
    out, norm = qkv.new_empty(qkv.size(0), qkv.size(1) // 3), qkv.new_empty(qkv.size(0), heads)
    pieces = (start.numel() - 1) * heads
    share(kernels.forward, pieces, as_array(qkv), as_array(start), heads, as_array(out), as_array(norm))
    return out, norm


@_attend.register_fake
def _(qkv: Tensor, start: Tensor, heads: int) -> tuple[Tensor, Tensor]:
    return qkv.new_empty(qkv.size(0), qkv.size(1) // 3), qkv.new_empty(qkv.size(0), heads)


@operation("ghr::attend_backward")
def _attend_backward(grad_out: Tensor, qkv: Tensor, start: Tensor, out: Tensor, norm: Tensor, heads: int) -> Tensor:
    grad = torch.empty_like(qkv)
    pieces, given = (start.numel() - 1) * heads, grad_out.contiguous()
    share(kernels.backward, pieces, as_array(qkv), as_array(start), heads, *map(as_array, (out, norm, given, grad)))
    return grad


@_attend_backward.register_fake
def _(grad_out: Tensor, qkv: Tensor, start: Tensor, out: Tensor, norm: Tensor, heads: int) -> Tensor:
    return torch.empty_like(qkv)


def _remember(ctx: Any, inputs: tuple[Any, ...], output: tuple[Tensor, Tensor]) -> None:
    qkv, start, heads = inputs
    ctx.save_for_backward(qkv, start, *output)
    ctx.heads = heads


def _differentiate(ctx: Any, grad_out: Tensor, grad_norm: Tensor | None) -> tuple[Tensor | None, ...]:
    return _attend_backward(grad_out, *ctx.saved_tensors, ctx.heads), None, None


_attend.register_autograd(_differentiate, setup_context=_remember)

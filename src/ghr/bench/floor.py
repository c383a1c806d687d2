"""The time that the matrix products of a workload take at the least."""

import time
from collections.abc import Callable
from statistics import median
from typing import Any

import torch
from torch_geometric.data import Data

from ghr.bench.model_work import ModelWork
from ghr.hierarchy.data import levels_of
from ghr.nn.swiglu import SwiGLU
from ghr.ops.kernels.peak import multiply
from ghr.ops.neighbours import as_array
from ghr.ops.share import share

BLOCKS, ROWS, WIDTH = 64, 96, 64  # blocks of one work, their rows and their columns: they stay near a core


def product_flops(workload: ModelWork, data: Data) -> int:
    r"""Count the floating-point operations of all matrix products, each as seldom as the equations allow.

    Encoders count once, :math:`W_L''` on the clusters once per high-level step, the readout once per prediction, and
    the products of the message passing once per update. A backward pass has twice the products of its forward pass.
    Sums over neighbours, norms and activations are not counted.

    Args:
        workload: The workload.
        data: Its batch.
    """
    options, (fine, coarse) = workload.options, levels_of(data)
    width, steps = options["hidden_channels"], options["steps"]
    high = steps * options["t_high"]
    sizes = [(fine, high * options["t_low"], options["edge_dim"]), (coarse, high, options["coarse_edge_dim"])]
    products: int = fine.num_nodes * width * options["in_channels"] + high * coarse.num_nodes * width * width
    products += (steps if workload.train else 1) * fine.num_nodes * width * options["out_channels"]
    for level, updates, edge_dim in sizes:
        edges = level.edge_index.size(1)
        products += edges * width * (edge_dim or 0)
        products += updates * _per_update(options["conv"], level.num_nodes, edges, width)
    return 2 * products * (3 if workload.train else 1)


def _per_update(conv: str, nodes: int, edges: int, width: int) -> int:
    if conv == "gated_gcn":
        return (4 * nodes + edges) * width * width
    if conv in ("gcn", "gat", "adgn"):
        return (1 if conv == "gcn" else 2) * nodes * width * width
    return nodes * width * (3 * SwiGLU(width).inner if conv == "gated_gine" else 2 * width)


def product_speed(size: int = 2048, repeats: int = 5) -> float:
    """Return how many floating-point operations a second single-precision products reach here at the best.

    The faster of two counts: one large product of PyTorch, and products of blocks by our own kernels, as neither is
    faster on every CPU.
    """
    left, right = torch.rand(size, size), torch.rand(size, size)
    blocks = torch.rand(BLOCKS, ROWS * WIDTH)
    weight, bias, out = torch.rand(WIDTH * WIDTH), torch.rand(WIDTH), torch.empty_like(blocks)
    arrays = [as_array(tensor) for tensor in (blocks, weight, bias, out)]
    flops, once = 2 * size**3, 2 * BLOCKS * ROWS * WIDTH * WIDTH
    times = max(1, flops // once)
    return max(
        flops / _time(lambda: torch.mm(left, right), repeats),
        times * once / _time(lambda: share(multiply, BLOCKS, times, *arrays, WIDTH, WIDTH), repeats),
    )


def _time(work: Callable[[], Any], repeats: int) -> float:
    """Return the median time of a work in seconds, after it was done once."""
    work()
    seconds = []
    for _ in range(repeats):
        start = time.perf_counter()
        work()
        seconds.append(time.perf_counter() - start)
    return median(seconds)

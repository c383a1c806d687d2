import torch

from ghr import ops
from ghr.ops.gat import gat_loop
from ghr.testing import random_graph


def tensors(nodes, edges, channels):
    torch.manual_seed(0)
    shapes = (
        (nodes, channels), (nodes, channels), channels, (edges, channels), (2, channels, channels), (2, channels),
        channels, channels,
    )  # fmt: skip
    return [torch.randn(shape, dtype=torch.double, requires_grad=True) for shape in shapes]


def test_gradients_by_finite_differences():
    edge_index = torch.cat([random_graph(6, 8).edge_index, torch.arange(6).expand(2, -1)], dim=1)
    neighbours = ops.sort_edges(edge_index, 6)

    def loop(state, injection, norm, edges, maps, biases, attention, bias):
        return gat_loop(
            state, injection, (norm, 1e-6), edges, neighbours, maps, biases, attention, bias, updates=2
        )  # fmt: skip

    assert torch.autograd.gradcheck(loop, tensors(6, edge_index.size(1), 4))


def test_the_operation_is_well_formed():
    edge_index = torch.arange(5).expand(2, -1)
    arguments = (*tensors(5, 5, 8), *ops.sort_edges(edge_index, 5), 1e-6, 8, 2, True)
    torch.library.opcheck(torch.ops.ghr.gat_loop.default, arguments)

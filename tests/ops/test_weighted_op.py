import pytest
import torch

from ghr import ops
from ghr.ops.weighted import weighted_loop
from ghr.testing import random_graph


@pytest.mark.parametrize("rate", [None, 0.3])
def test_gradients_by_finite_differences(rate):
    neighbours = ops.sort_edges(random_graph(6, 8).edge_index, 6)
    draw = {"dtype": torch.double, "requires_grad": True}
    tensors = [
        torch.randn(shape, **draw) for shape in ((6, 4), (6, 4), 4, neighbours.source.numel(), (4, 4), (4, 4), 4)
    ]

    def loop(state, injection, norm, weight, own, near, bias):
        return weighted_loop(
            state, injection, (norm, 1e-6), weight, neighbours, own, near, bias, rate=rate, updates=2
        )  # fmt: skip

    assert torch.autograd.gradcheck(loop, tensors)


def test_the_operation_is_well_formed():
    neighbours = ops.sort_edges(random_graph(5, 6).edge_index, 5)
    draw = {"dtype": torch.double, "requires_grad": True}
    shapes = ((5, 8), (5, 8), 8, neighbours.source.numel(), (8, 8), (8, 8), 8)
    arguments = (*[torch.randn(shape, **draw) for shape in shapes], *neighbours, 1e-6, 8, 0.3, 2, True)
    torch.library.opcheck(torch.ops.ghr.weighted_loop.default, arguments)

import pytest
import torch
from torch import nn

import reference
from cases import AWKWARD, awkward, naive_edges, randomise, relative_error
from ghr.nn import GatedGINE, SwiGLU


@pytest.mark.parametrize("name", AWKWARD)
@pytest.mark.parametrize("edge_dim", [None, 3])
def test_equals_the_loops(name, edge_dim):
    conv = randomise(GatedGINE(6, edge_dim))
    x, edge_index, edge_attr = awkward(name, 6, edge_dim)
    edges = naive_edges(edge_index, edge_attr)
    expected, _ = reference.gated_gine(reference.read_weights(conv), reference.read_rows(x), edges)
    assert relative_error(conv(x, edge_index, edge_attr), expected) <= 1e-10


def test_zero_stays_zero():
    conv = randomise(GatedGINE(6, 3))
    nn.init.zeros_(conv.edge.bias)
    edge_index = torch.tensor([[0, 1], [1, 0]])
    zero = torch.zeros(2, 6, dtype=torch.double)
    assert torch.equal(conv(zero, edge_index, torch.zeros(2, 3, dtype=torch.double)), zero)


def test_update_is_a_gated_block_with_default_linear_start():
    torch.manual_seed(0)
    conv = GatedGINE(32, 32)
    assert isinstance(conv.update, SwiGLU)
    spread = float(conv.update.gate_content.weight.detach().std())
    assert spread == pytest.approx((1 / 32 / 3) ** 0.5, rel=0.05)  # uniform in +-1/sqrt(d), not normal with 0.02

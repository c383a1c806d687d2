import pytest
import torch
from torch_geometric.nn import AntiSymmetricConv

import reference
from cases import AWKWARD, awkward, naive_edges, randomise, relative_error
from ghr.nn import ADGN


@pytest.mark.parametrize("name", AWKWARD)
@pytest.mark.parametrize("edge_dim", [None, 1])
def test_equals_the_loops(name, edge_dim):
    conv = randomise(ADGN(5, edge_dim, epsilon=0.3, gamma=0.2))
    x, edge_index, edge_attr = awkward(name, 5, edge_dim)
    weights, edges = reference.read_weights(conv), naive_edges(edge_index, edge_attr)
    expected, _ = reference.adgn(weights, reference.read_rows(x), edges, epsilon=0.3, gamma=0.2)
    assert relative_error(conv(x, edge_index, edge_attr), expected) <= 1e-10


@pytest.mark.parametrize("name", AWKWARD)
def test_equals_pyg_without_its_own_residual(name):
    ours, theirs = randomise(ADGN(5)), AntiSymmetricConv(5, epsilon=0.1, gamma=0.1).double()
    theirs.W.data.copy_(ours.weight)
    theirs.bias.data.copy_(ours.bias)
    theirs.phi.lin.weight.data.copy_(ours.neighbour.weight)
    x, edge_index, _ = awkward(name, 5, None)
    expected = theirs(x, edge_index).detach() - x
    assert relative_error(ours(x, edge_index), expected) <= 1e-10


@pytest.mark.parametrize("gamma", [0.0, 0.5])
def test_local_dynamics_do_not_grow(gamma):
    conv = randomise(ADGN(6, gamma=gamma))
    torch.nn.init.zeros_(conv.neighbour.weight)
    no_edges = torch.empty(2, 0, dtype=torch.long)

    def node(v):
        return conv(v.unsqueeze(0), no_edges)[0]

    for seed in range(5):
        v = torch.randn(6, generator=torch.Generator().manual_seed(seed), dtype=torch.double)
        growth = torch.linalg.eigvals(torch.autograd.functional.jacobian(node, v))
        if gamma == 0:
            assert growth.real.abs().max() < 1e-14
            assert growth.imag.abs().max() > 1e-3
        else:
            assert growth.real.max() < 0


def test_starts_like_pyg():
    torch.manual_seed(0)
    conv = ADGN(64)
    assert conv.bias.abs().max() == 0
    assert float(conv.weight.detach().abs().max()) == pytest.approx(64**-0.5, rel=0.01)

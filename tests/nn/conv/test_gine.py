import pytest
import torch
from torch import nn
from torch_geometric.nn import GINEConv

import reference
from cases import AWKWARD, awkward, naive_edges, randomise, relative_error
from ghr.nn import GINE


@pytest.mark.parametrize("name", AWKWARD)
@pytest.mark.parametrize("edge_dim", [None, 3])
def test_equals_the_loops(name, edge_dim):
    conv = randomise(GINE(6, edge_dim))
    x, edge_index, edge_attr = awkward(name, 6, edge_dim)
    expected, _ = reference.gine(
        reference.read_weights(conv), reference.read_rows(x), naive_edges(edge_index, edge_attr)
    )
    assert relative_error(conv(x, edge_index, edge_attr), expected) <= 1e-10


@pytest.mark.parametrize("name", AWKWARD)
def test_equals_pyg(name):
    ours = randomise(GINE(6, 3))
    theirs = GINEConv(nn.Sequential(nn.Linear(6, 6), nn.ReLU(), nn.Linear(6, 6)), train_eps=True, edge_dim=3).double()
    theirs.nn.load_state_dict(ours.update.state_dict())
    theirs.lin.load_state_dict(ours.edge.state_dict())
    theirs.eps.data.copy_(ours.epsilon)
    x, edge_index, edge_attr = awkward(name, 6, 3)
    assert relative_error(ours(x, edge_index, edge_attr), theirs(x, edge_index, edge_attr).detach()) <= 1e-12


def test_sum_tells_one_neighbour_from_two():
    conv = randomise(GINE(4))
    x = torch.ones(3, 4, dtype=torch.double)
    out = conv(x, torch.tensor([[1, 2, 0], [0, 0, 1]]))
    assert not torch.allclose(out[0], out[1])


def test_zero_features_are_no_features():
    with_features, without = randomise(GINE(4, 2)), GINE(4).double()
    without.load_state_dict({k: v for k, v in with_features.state_dict().items() if not k.startswith("edge.")})
    nn.init.zeros_(with_features.edge.bias)
    x, edge_index, _ = awkward("directed", 4, None)
    edge_attr = torch.zeros(edge_index.size(1), 2, dtype=torch.double)
    assert torch.equal(with_features(x, edge_index, edge_attr), without(x, edge_index))


def test_epsilon_starts_at_zero_and_is_learned():
    conv = GINE(4)
    assert conv.epsilon.item() == 0
    assert conv.epsilon.requires_grad
    nn.init.ones_(conv.epsilon)
    before = conv.update[0].weight.clone()
    conv.reset_parameters()
    assert conv.epsilon.item() == 0
    assert not torch.equal(conv.update[0].weight, before)


def test_missing_or_wrong_edge_features_are_refused():
    conv = GINE(4, 3)
    x, edge_index = torch.randn(2, 4), torch.tensor([[0], [1]])
    with pytest.raises(ValueError, match="edge features with 3 columns; got None"):
        conv(x, edge_index)
    with pytest.raises(ValueError, match=r"edge features with 3 columns; got \(1, 2\)"):
        conv(x, edge_index, torch.randn(1, 2))

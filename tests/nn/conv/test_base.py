import pytest
import torch
from torch import nn
from torch_geometric.nn import GINEConv, SAGEConv

from cases import awkward, hierarchy, randomise, relative_error
from ghr import GHR
from ghr.nn import ADGN, CONVS, GCN, GINE
from ghr.nn.conv import CustomConv, make_conv
from ghr.testing import assert_gradients_reach_all_parameters, assert_permutation_equivariant


class Mean(nn.Module):
    """A user's own layer, which reads the edge features."""

    def __init__(self, channels, edge_dim=None):
        super().__init__()
        self.linear = nn.Linear(channels, channels)
        self.edge = nn.Linear(edge_dim, channels) if edge_dim else None

    def reset_parameters(self):
        self.linear.reset_parameters()

    def forward(self, x, edge_index, edge_attr=None):
        message = x[edge_index[0]]
        if self.edge is not None:
            message = message + self.edge(edge_attr)
        return self.linear(torch.zeros_like(x).index_add(0, edge_index[1], message))


class Narrow(nn.Module):
    def forward(self, x, edge_index, edge_attr):
        return x[:, 1:]


class Nothing(nn.Module):
    def forward(self, x, edge_index, edge_attr):
        return None


@pytest.mark.parametrize("name", CONVS)
def test_names_make_layers(name):
    conv = make_conv(name, 8, None)
    assert type(conv) is CONVS[name]
    assert repr(conv) == f"{CONVS[name].__name__}(8, edge_dim=None)"


@pytest.mark.parametrize("name", CONVS)
def test_prepare_and_propagate_are_forward(name):
    edge_dim = CONVS[name].edge_encoder(2, 6)[1]
    conv = randomise(make_conv(name, 6, edge_dim))
    x, edge_index, edge_attr = awkward("repeats", 6, edge_dim)
    expected = conv.propagate(x, conv.prepare(edge_index, edge_attr, x.size(0)))[0]
    assert torch.equal(conv(x, edge_index, edge_attr), expected)


@pytest.mark.parametrize("name", CONVS)
def test_reset_parameters_draws_anew(name):
    conv = make_conv(name, 6, None)
    before = [value.clone() for value in conv.state_dict().values() if value.dim() == 2]
    conv.reset_parameters()
    after = [value for value in conv.state_dict().values() if value.dim() == 2]
    assert not any(torch.equal(a, b) for a, b in zip(before, after, strict=True))


@pytest.mark.parametrize("name", CONVS)
@pytest.mark.parametrize("edges", [True, False])
def test_order_of_edges_does_not_matter(name, edges):
    edge_dim = CONVS[name].edge_encoder(2, 6)[1] if edges else None
    conv = randomise(make_conv(name, 6, edge_dim))
    x, edge_index, edge_attr = awkward("triangle and tail", 6, edge_dim)
    order = torch.randperm(edge_index.size(1), generator=torch.Generator().manual_seed(3))
    shuffled = conv(x, edge_index[:, order], edge_attr[order] if edges else None)
    assert relative_error(shuffled, conv(x, edge_index, edge_attr).detach()) <= 1e-12


def test_custom_module_is_copied_and_drawn_anew():
    module = Mean(6)
    first, second = make_conv(module, 6, None), make_conv(module, 6, None)
    assert isinstance(first, CustomConv)
    assert first.module is not module
    assert not torch.equal(first.module.linear.weight, second.module.linear.weight)
    assert repr(first).startswith("CustomConv(Mean(")


def test_custom_callable_gets_the_width():
    widths = []

    def make(channels):
        widths.append(channels)
        return Mean(channels)

    assert isinstance(make_conv(make, 7, None), CustomConv)
    assert widths == [7]
    assert isinstance(make_conv(lambda channels: GINE(channels), 7, None), GINE)


def test_custom_conv_is_the_module():
    conv = make_conv(Mean(6, 3), 6, 3).double()
    x, edge_index, edge_attr = awkward("directed", 6, 3)
    assert torch.equal(conv(x, edge_index, edge_attr), conv.module(x, edge_index, edge_attr))


@pytest.mark.parametrize(("module", "got"), [(Narrow(), r"\(3, 3\)"), (Nothing(), "NoneType")])
def test_wrong_output_of_a_custom_module_is_refused(module, got):
    conv = make_conv(module, 4, None)
    with pytest.raises(ValueError, match=rf"must return a tensor of shape \(3, 4\) as it was given; got {got}"):
        conv(torch.randn(3, 4), torch.tensor([[0], [1]]))


@pytest.mark.parametrize("conv", [3, None])
def test_what_is_no_layer_is_refused(conv):
    with pytest.raises(ValueError, match="conv must be a name, a module or a callable"):
        make_conv(conv, 4, None)


@pytest.mark.parametrize(
    ("conv", "edge_dim"),
    [
        (Mean(6), None),
        (Mean(6, 6), 3),
        (lambda channels: SAGEConv(channels, channels), None),
        (lambda channels: GINEConv(nn.Linear(channels, channels)), 3),
        (GINE(6, 6), 3),
        (lambda channels: GINE(channels, channels), 3),
        (GCN(6, 1), 3),
        (lambda channels: ADGN(channels, 1, epsilon=0.5), 3),
    ],
)
def test_custom_layers_obey_the_laws_inside_a_model(conv, edge_dim):
    torch.manual_seed(0)
    data = hierarchy(edge_dim=edge_dim)
    model = GHR(2, 6, 1, conv=_ignoring_attr(conv) if edge_dim is None else conv, edge_dim=edge_dim, steps=2, t_low=2)
    randomise(model)
    assert_permutation_equivariant(model, data, rtol=1e-10)
    assert_gradients_reach_all_parameters(model, data)


def _ignoring_attr(conv):
    class Ignoring(nn.Module):
        def __init__(self, module):
            super().__init__()
            self.module = module

        def forward(self, x, edge_index, edge_attr):
            assert edge_attr is None
            return self.module(x, edge_index)

    return Ignoring(conv) if isinstance(conv, nn.Module) else lambda channels: Ignoring(conv(channels))


@pytest.mark.parametrize("name", CONVS)
def test_edges_out_of_range_are_refused(name):
    with pytest.raises(ValueError, match="edge_index has node 100000000, but nodes run from 0 to 2"):
        make_conv(name, 6, None)(torch.randn(3, 6), torch.tensor([[0, 1], [1, 10**8]]))


@pytest.mark.parametrize(("conv", "edge_dim"), [(GINE(6), 6), (GINE(6, 6), None), (GINE(5), None)])
def test_a_layer_that_does_not_fit_the_model_is_refused(conv, edge_dim):
    with pytest.raises(ValueError, match=rf"needs a layer built with \(6, edge_dim={edge_dim}\).*; got GINE"):
        make_conv(conv, 6, edge_dim)


@pytest.mark.parametrize("conv", [5, [1], torch.ones(2), lambda channels: channels, str])
@pytest.mark.parametrize("edge_dim", [None, 1])
def test_what_makes_no_layer_is_no_conv(conv, edge_dim):
    with pytest.raises(
        ValueError, match=r"conv must (be a name, a module or a callable|return a module for 4 channels)"
    ):
        GHR(1, 4, 1, conv=conv, edge_dim=edge_dim)

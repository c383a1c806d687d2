import pytest
import torch

from cases import awkward, randomise, relative_error
from ghr.nn.conv.bare import BareOptions
from ghr.nn.layer import make_layers, prepare_layers
from ghr.ops import aggregate_sum


def layers(conv, *, norm="layer", residual=True, dropout=0.0, count=2):
    torch.manual_seed(0)
    options = BareOptions(5, 5)
    made = make_layers(conv, options, count, norm=norm, act="elu", dropout=dropout, residual=residual)
    return randomise(made)


@pytest.mark.parametrize("residual", [True, False])
def test_the_order_is_conv_norm_activation_residual(residual):
    first, _ = layers("gcn", residual=residual)
    x, edge_index, edge_attr = awkward("directed", 5, 5)
    edges = first.conv.prepare(edge_index, edge_attr, len(x))
    expected = torch.nn.functional.elu(first.norm(first.conv.propagate(x, edges)[0])) + (x if residual else 0)
    assert relative_error(first(x, edges)[0], expected) <= 1e-12


@pytest.mark.parametrize("residual", [True, False])
def test_gated_gcn_hands_its_edges_on(residual):
    """Spec by hand: the second layer reads the edges that the first returned, the third those of the second."""
    stack = layers("gated_gcn", residual=residual, count=3)
    x, edge_index, e = awkward("triangle and tail", 5, 5)
    state, edges = x, prepare_layers(stack, edge_index, e, len(x))
    for layer in stack:
        state, edges = layer(state, edges)

    source, target = edge_index
    h = x
    for number, layer in enumerate(stack):
        maps = layer.conv
        raw = maps.edge_target(h)[target] + maps.edge_source(h)[source] + maps.edge(e)
        gate = raw.sigmoid() / (aggregate_sum(raw.sigmoid(), target, len(h)) + 1e-6)[target]
        new = maps.own(h) + aggregate_sum(gate * maps.neighbour(h)[source], target, len(h))
        if number < 2:
            change = torch.nn.functional.elu(layer.edge_norm(raw))
            e = e + change if residual else change
        change = torch.nn.functional.elu(layer.norm(new))
        h = h + change if residual else change
    assert relative_error(state, h) <= 1e-12
    assert stack[2].edge_norm is None  # nobody would read them


def test_dropout_is_for_training_only():
    first, _ = layers("gine", dropout=0.5)
    x, edge_index, edge_attr = awkward("directed", 5, 5)
    edges = first.conv.prepare(edge_index, edge_attr, len(x))
    assert not torch.equal(first(x, edges)[0], first(x, edges)[0])
    first.eval()
    assert torch.equal(first(x, edges)[0], first(x, edges)[0])


def test_repr_is_one_line():
    text = repr(layers("gcn")[0])
    assert text.startswith("Layer(BareGCN(5, edge_dim=5), ")
    assert "\n" not in text

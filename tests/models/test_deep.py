import pytest
import torch

import reference
from cases import hierarchy, randomise, relative_error
from ghr import GHR, DeepGNN, EdgeReadout
from ghr.nn import CONVS
from ghr.testing import (
    assert_batch_equals_loop,
    assert_gradients_reach_all_parameters,
    assert_permutation_equivariant,
    path_graph,
)


def small(**options) -> DeepGNN:
    torch.manual_seed(0)
    return randomise(
        DeepGNN(**{"in_channels": 2, "hidden_channels": 6, "out_channels": 2, "layers": 3, **options}), scale=0.15
    )


@pytest.mark.parametrize("conv", CONVS)
@pytest.mark.parametrize(("edge_dim", "readout"), [(None, "node"), (3, "edge"), (3, "graph-mlp"), (None, "edge-mlp")])
def test_equals_the_loops(conv, edge_dim, readout):
    model = small(conv=conv, edge_dim=edge_dim, readout=readout)
    data = hierarchy(edge_dim=edge_dim)
    expected = reference.deep(
        reference.read_weights(model),
        reference.read_levels(data)[0],
        reference.read_rows(data.x),
        conv=conv,
        readout=readout.removesuffix("-mlp"),
    )
    assert relative_error(model(data), expected) <= 1e-10


@pytest.mark.parametrize("conv", CONVS)
def test_laws(conv):
    model = small(conv=conv, edge_dim=3)
    assert_permutation_equivariant(model, hierarchy(), rtol=1e-10)
    assert_batch_equals_loop(model, [hierarchy(n, n + 2, seed=n) for n in (4, 9, 6)], rtol=1e-10)
    torch.manual_seed(0)
    fresh = DeepGNN(2, 16, 1, layers=2, conv=conv, edge_dim=3).double()
    if conv == "gated_gcn":  # nobody reads the edges that the last layer returns
        last = fresh.convs[-1].edge_norm
        del last.weight
        last.register_buffer("weight", torch.ones(16).double())
    assert_gradients_reach_all_parameters(fresh, hierarchy(12, 18))


@pytest.mark.parametrize("layers", [1, 2, 5])
def test_reaches_exactly_as_many_hops_as_layers(layers):
    model = small(in_channels=1, layers=layers, conv="adgn")
    path = path_graph(12)
    path.x = torch.randn(12, 1).double()

    def predict(x):
        given = path.clone()
        given.x = x
        return model(given)[:, 0]

    support = torch.autograd.functional.jacobian(predict, path.x).abs().sum(dim=2) != 0
    here = torch.arange(12)
    assert torch.equal(support, (here[:, None] - here[None, :]).abs() <= layers)


@pytest.mark.parametrize("conv", CONVS)
def test_tied_layers_are_a_flat_recurrence(conv):
    deep = small(layers=4, conv=conv, edge_dim=3)
    flat = GHR(2, 6, 2, conv=conv, edge_dim=3, levels=1, steps=1, t_low=4).double()
    for layer in range(1, 4):
        deep.convs[layer].load_state_dict(deep.convs[0].state_dict())
        deep.norms[layer].load_state_dict(deep.norms[0].state_dict())
    cell = flat.cells[0]
    cell.conv.load_state_dict(deep.convs[0].state_dict())
    cell.norm.load_state_dict(deep.norms[0].state_dict())
    cell.initial.load_state_dict(deep.initial.state_dict())
    cell.edge_encoder.load_state_dict(deep.edge_encoder.state_dict())
    flat.node_encoder.load_state_dict(deep.node_encoder.state_dict())
    flat.readout.load_state_dict(deep.readout.state_dict())
    data = hierarchy()
    assert relative_error(deep(data), flat(data).detach()) <= 1e-12


@pytest.mark.parametrize("conv", ["gine", "gated_gine", "adgn"])
def test_steps_go_on_from_the_state_before(conv):
    """R steps of a stack are one pass through R copies of it."""
    recurrent, long = small(conv=conv, edge_dim=3, layers=2, steps=3), small(conv=conv, edge_dim=3, layers=6)
    own = recurrent.state_dict()
    for name in long.state_dict():
        part, _, rest = name.partition(".")
        if part in ("convs", "norms"):
            layer, _, inner = rest.partition(".")
            own[name] = recurrent.state_dict()[f"{part}.{int(layer) % 2}.{inner}"]
    long.load_state_dict(own)
    data = hierarchy()
    predictions = recurrent.rollout(data)
    assert len(predictions) == 3
    assert torch.equal(predictions[-1], recurrent(data))
    assert relative_error(predictions[-1], long(data)) <= 1e-12
    for count in (1, 2):
        assert torch.equal(predictions[count - 1], recurrent(data, steps=count))
    assert len(recurrent.rollout(data, steps=5)) == 5


def test_laws_of_the_recurrent_stack():
    model = small(conv="gated_gine", edge_dim=3, steps=2)
    assert_permutation_equivariant(model, hierarchy(), rtol=1e-10)
    assert_batch_equals_loop(model, [hierarchy(n, n + 2, seed=n) for n in (4, 9, 6)], rtol=1e-10)
    torch.manual_seed(0)
    fresh = DeepGNN(2, 16, 1, layers=2, conv="gated_gine", edge_dim=3, steps=2).double()
    assert_gradients_reach_all_parameters(fresh, hierarchy(12, 18))


def test_steps_do_not_change_the_weights():
    assert small(steps=4).state_dict().keys() == small().state_dict().keys()


def test_a_feed_forward_stack_has_no_steps():
    with pytest.raises(ValueError, match="DeepGNN has no loops, but steps=2 was given; leave it out"):
        small()(hierarchy(edge_dim=None), steps=2)
    with pytest.raises(ValueError, match="steps must be a whole number of at least 1; got 0"):
        small(steps=2).rollout(hierarchy(edge_dim=None), steps=0)
    with pytest.raises(ValueError, match="steps must be a whole number of at least 1; got 0"):
        small(steps=0)


def test_layers_have_weights_of_their_own():
    model = small()
    weights = [layer.update[0].weight for layer in model.convs]
    assert not torch.equal(weights[0], weights[1])
    count = {n: sum(p.numel() for p in small(layers=n).parameters()) for n in (1, 2, 3)}
    assert count[3] - count[2] == count[2] - count[1] > 0


def test_rollout_is_the_one_prediction():
    model = small()
    data = hierarchy()
    (prediction,) = model.rollout(data)
    assert torch.equal(prediction, model(data))


def test_repr_is_short():
    text = repr(DeepGNN(2, 6, 1, layers=3, edge_dim=1))
    assert text.startswith("DeepGNN(in_channels=2, hidden_channels=6, out_channels=1, layers=3, edge_dim=1) with ")
    assert "\n" not in text
    assert "edge_dim=1, steps=2) with " in repr(DeepGNN(2, 6, 1, layers=3, edge_dim=1, steps=2))


def test_readout_object():
    assert small(out_channels=4, readout=EdgeReadout(6, 4))(hierarchy()).shape == (18, 4)


@pytest.mark.parametrize("name", ["in_channels", "hidden_channels", "out_channels", "layers"])
def test_sizes_below_one_are_refused(name):
    with pytest.raises(ValueError, match=f"{name} must be a whole number of at least 1.*; got 0"):
        small(**{name: 0})


@pytest.mark.parametrize("edge_dim", [None, 3])
def test_unknown_names_are_refused(edge_dim):
    with pytest.raises(ValueError, match="Unknown readout 'nodes'; known are node"):
        small(edge_dim=edge_dim, readout="nodes")
    with pytest.raises(ValueError, match="Unknown conv 'gin'; known are gine"):
        small(edge_dim=edge_dim, conv="gin")


def test_missing_edge_features_are_refused():
    with pytest.raises(ValueError, match="The graph has no edge features, but the model was built for 3"):
        small(edge_dim=3)(hierarchy(edge_dim=None))


@pytest.mark.parametrize("name", ["layers", "steps"])
def test_depths_that_would_never_end_are_refused_at_once(name):
    with pytest.raises(ValueError, match=f"{name} must be a whole number of at most"):
        DeepGNN(1, 4, 1, **{name: 99999999999})
    with pytest.raises(ValueError, match="steps must be a whole number of at most"):
        DeepGNN(1, 4, 1, steps=2)(path_graph(3), steps=99999999999)

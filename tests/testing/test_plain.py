import pytest
import torch
from torch import nn
from torch_geometric.data import Batch

from cases import hierarchy, randomise, relative_error
from ghr import GHR, Coarsen, GridBlocks
from ghr.testing.plain import PlainGHR

SETTINGS = {"hidden_channels": 6, "out_channels": 2, "steps": 2, "t_high": 2, "t_low": 3}


def assert_same(model, data):
    """Predictions of every step, and gradients of a loss over all of them, agree."""
    plain = PlainGHR.like(model)
    ours, theirs = model.rollout(data), plain.rollout(data)
    assert len(ours) == len(theirs) == model.steps
    for actual, expected in zip(ours, theirs, strict=True):
        assert relative_error(actual, expected.detach()) < 1e-8
    assert torch.equal(plain(data), theirs[-1])
    weight = torch.randn(ours[0].shape, generator=torch.Generator().manual_seed(1), dtype=torch.double)
    for predictions in (ours, theirs):
        sum((prediction * weight).sum() / 2**step for step, prediction in enumerate(predictions)).backward()
    names = set()
    for name, parameter in model.named_parameters():
        twin = plain.get_parameter(plain.twin(name))
        assert parameter.grad is not None, name
        assert relative_error(parameter.grad, twin.grad.view_as(parameter)) < 1e-8, name
        names.add(plain.twin(name))
    assert names == {name for name, _ in plain.named_parameters()}


@pytest.mark.parametrize("pool", ["max", "sum", "mean"])
@pytest.mark.parametrize("conv", ["gine", "gated_gine", "gated_gcn", "gcn", "gat", "adgn"])
def test_predictions_and_gradients_equal_those_of_ghr(conv, pool):
    data = hierarchy(14, 24, edge_reduce=("min", "mean"))
    model = GHR(2, **SETTINGS, conv=conv, edge_dim=3, coarse_edge_dim=6, pool=pool)
    assert_same(randomise(model), data)


def test_batches_and_constant_edge_features():
    data = Batch.from_data_list([hierarchy(9, 11, edge_dim=1), hierarchy(5, 6, edge_dim=1)])
    data.edge_attr, data.level1_edge_attr = torch.ones_like(data.edge_attr), torch.ones_like(data.level1_edge_attr)
    assert_same(randomise(GHR(2, **SETTINGS, conv="gated_gine", edge_dim=1)), data)


@pytest.mark.parametrize(("edge_dim", "coarse_edge_dim"), [(None, 1), (None, None), (3, 0)])
def test_gated_gcn_goes_without_edge_features(edge_dim, coarse_edge_dim):
    data = hierarchy(16, 24)
    if coarse_edge_dim == 1:
        data = Coarsen(GridBlocks(2))(hierarchy(16, 24, levels=1))
        data.level1_edge_attr = data.level1_edge_attr.double()
    model = GHR(2, **SETTINGS, conv="gated_gcn", edge_dim=edge_dim, coarse_edge_dim=coarse_edge_dim, pool="sum")
    assert_same(randomise(model), data)


def test_the_number_of_steps_can_be_raised():
    data = hierarchy()
    model = randomise(GHR(2, **SETTINGS, edge_dim=3))
    plain = PlainGHR.like(model)
    assert len(plain.rollout(data, steps=5)) == 5
    assert relative_error(plain(data, steps=5), model(data, steps=5).detach()) < 1e-8


def test_weights_are_copies():
    model = GHR(2, **SETTINGS, edge_dim=3)
    plain = PlainGHR.like(model)
    with torch.no_grad():
        plain.node_encoder.weight.zero_()
    assert model.node_encoder.weight.abs().max() > 0


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"conv": nn.Identity()}, "gine, gated_gine, gated_gcn, gcn, gat, adgn; got "),
        ({"edge_dim": None}, "needs edge features on both levels"),
        ({"coarse_edge_dim": 0}, "needs edge features on both levels"),
        ({"levels": 3}, "levels=2; got 3"),
        ({"readout": "graph"}, "readout='node'; got 'graph'"),
        ({"time_informed": True}, "time_informed=False; got True"),
        ({"initial_state": "random"}, "initial_state='learned'; got 'random'"),
        ({"t_high": [2]}, "one number t_high; got [2]"),
    ],
)
def test_what_it_does_not_do_is_said(options, words):
    with pytest.raises(ValueError, match=words.replace("[", r"\[")):
        PlainGHR.like(GHR(2, **{**SETTINGS, "edge_dim": 3, **options}))

import pytest
import torch

from cases import hierarchy, relative_error
from ghr.models import NodeMLP
from stack_cases import check_budgets, check_by_name, check_laws, check_odd_graphs, check_reset, reach, settle


def small(**options) -> NodeMLP:
    return NodeMLP(2, 6, 2, **{"layers": 2, **options})


def test_equals_the_equation():
    torch.manual_seed(0)
    model, data = settle(small(norm="layer", act="tanh")), hierarchy(levels=1, edge_dim=None)
    for i, row in enumerate(data.x):
        h = model.node_encoder.weight @ row + model.node_encoder.bias
        for linear, norm, *_ in model.layers:
            h = linear.weight @ h + linear.bias
            h = (h - h.mean()) / (h.var(correction=0) + 1e-5).sqrt() * norm.weight + norm.bias
            h = h.tanh()
        assert relative_error(model(data)[i], model.readout.mlp(h)) <= 1e-12


def test_a_node_sees_itself_alone():
    assert torch.equal(reach(settle(small(act="elu"))), torch.eye(9, dtype=torch.bool))


def test_edges_are_read_by_a_readout_on_edges_alone():
    assert small(edge_dim=3).config["edge_dim"] is None
    assert small(edge_dim=3, readout="graph-mlp").config["edge_dim"] is None
    assert small(edge_dim=3, readout="edge").config["edge_dim"] == 3


def test_laws():
    check_laws(small)


def test_odd_graphs():
    check_odd_graphs(small)


def test_reset():
    check_reset(lambda: NodeMLP(2, 16, 2, layers=2, norm="batch"))


def test_name(tmp_path):
    check_budgets("mlp")
    check_by_name("mlp", tmp_path)


def test_bad_options_are_sentences():
    with pytest.raises(ValueError, match="layers must be a whole number of at least 1; got 0"):
        small(layers=0)
    with pytest.raises(ValueError, match="Unknown norm 'rms'"):
        small(norm="rms")
    with pytest.raises(ValueError, match="edge_dim must be a whole number"):
        small(edge_dim=0, readout="edge")

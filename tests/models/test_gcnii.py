import math

import numpy as np
import pytest
import torch
from torch_geometric.nn import GCN2Conv

import reference
from cases import hierarchy, relative_error
from ghr.models import GCNII
from stack_cases import check_budgets, check_by_name, check_laws, check_odd_graphs, check_reset, reach, settle


def small(**options) -> GCNII:
    return GCNII(2, 6, 2, **{"layers": 3, **options})


def expected_prediction(model, data, *, alpha, betas):
    """The equation of the docstring, node by node."""
    weights = reference.read_weights(model)
    initial = [reference.linear(weights, "node_encoder", row) for row in reference.read_rows(data.x)]
    (graph,) = reference.read_levels(data)
    edges = graph.edges
    if data.edge_attr is not None:
        for edge in edges:
            e = reference.linear(weights, "edge_encoder.map", edge.feature)
            edge.feature = [math.log1p(math.exp(float(reference.linear(weights, "weigh.0", e)[0])))]
    h = initial
    for number, beta in enumerate(betas):
        around = reference.normalised_sum(h, edges, data.edge_attr is not None)
        mixed = [(1 - alpha) * a + alpha * x for a, x in zip(around, initial, strict=True)]
        weight = weights[f"layers.{number}.weight1"]
        h = [reference.relu((1 - beta) * row + beta * (row @ weight)) for row in mixed]
    return [reference.linear(weights, "readout.mlp.0", row) for row in h]


@pytest.mark.parametrize("edge_dim", [3, None])
@pytest.mark.parametrize("identity_map", [True, False])
def test_equals_the_loops(edge_dim, identity_map):
    torch.manual_seed(0)
    model = settle(small(edge_dim=edge_dim, identity_map=identity_map, alpha=0.3, theta=0.7))
    data = hierarchy(edge_dim=edge_dim, levels=1)
    betas = [math.log(0.7 / layer + 1) if identity_map else 1.0 for layer in (1, 2, 3)]
    assert relative_error(model(data), expected_prediction(model, data, alpha=0.3, betas=betas)) <= 1e-10


def test_the_identity_map_grows_with_the_layer():
    betas = [layer.beta for layer in small(layers=64).layers]
    assert betas == [math.log(0.5 / number + 1) for number in range(1, 65)]
    assert {layer.beta for layer in small(identity_map=False).layers} == {1.0}
    assert GCN2Conv(4, 0.1).beta == 1.0  # without theta and layer, PyG has no identity map


def test_with_a_small_theta_only_the_average_is_left():
    model, data = settle(small(layers=1, theta=1e-12, alpha=0.2)), hierarchy(edge_dim=None, levels=1)
    h = model.node_encoder(data.x)
    around = reference.normalised_sum(reference.read_rows(h), reference.read_levels(data)[0].edges, False)
    average = 0.8 * torch.tensor(np.array(around)) + 0.2 * h
    assert relative_error(model(data), model.readout.mlp(average.relu())) <= 1e-10


def test_with_alpha_one_the_edges_do_not_matter():
    torch.manual_seed(0)
    for alpha, alike in ((1.0, True), (0.9, False)):
        model, data = settle(small(alpha=alpha)), hierarchy(edge_dim=None, levels=1)
        other = data.clone()
        other.edge_index = data.edge_index[:, :4]
        assert (relative_error(model(data), model(other)) <= 1e-12) == alike


def test_laws():
    check_laws(small)


def test_odd_graphs():
    check_odd_graphs(small)


def test_reset():
    check_reset(lambda: GCNII(2, 16, 2, layers=2, edge_dim=3))


def test_budgets():
    check_budgets("gcnii")


def test_by_name(tmp_path):
    check_by_name("gcnii", tmp_path)


def test_reaches_exactly_as_many_hops_as_layers():
    here = torch.arange(9)
    assert torch.equal(reach(settle(small(act="elu"))), (here[:, None] - here[None, :]).abs() <= 3)


def test_dropout_is_for_training_only():
    model, data = small(dropout=0.5).double(), hierarchy(edge_dim=None, levels=1)
    assert not torch.equal(model(data), model(data))
    model.eval()
    assert torch.equal(model(data), model(data))


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"alpha": 1.5}, "alpha must be a finite number of at least 0 and of at most 1; got 1.5"),
        ({"theta": 0}, "theta must be a finite number above 0; got 0"),
        ({"identity_map": "no"}, "identity_map must be True or False; got 'no'"),
        ({"layers": 0}, "layers must be a whole number of at least 1; got 0"),
        ({"act": "sine"}, "Unknown act 'sine'"),
        ({"dropout": 1}, r"dropout must lie in \[0, 1\)"),
    ],
)
def test_bad_options_are_sentences(options, words):
    with pytest.raises(ValueError, match=words):
        small(**options)

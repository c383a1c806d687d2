import numpy as np
import pytest
import torch

from cases import hierarchy, relative_error
from dynamics_cases import (
    ODD,
    adjacency,
    check_kinds,
    check_laws,
    check_loop,
    encode,
    gcn_entry,
    gcn_matrix,
    odd_graph,
    reach,
    read_nodes,
    small,
    sum_edges,
)
from ghr.models import GraphCON
from ghr.nn.aggregation import make_aggregation


def expected_prediction(model, graph, *, layers=3, dt=1.0, alpha=1.0, stiffness=1.0, act=lambda v: np.maximum(v, 0)):
    """The equation, with dense matrices."""
    weights, x, edges = encode(model, graph)
    a = adjacency(graph)
    p, w = gcn_matrix(a), weights["conv.weight"]
    constant = weights["conv.bias"] + np.zeros(x.shape)
    if edges:
        constant = constant + sum_edges(edges, x.shape, lambda i, j: gcn_entry(a, i, j)) @ weights["edge.weight"].T
    x = act(x)
    y = x
    for _ in range(layers):
        residual = x @ weights["residual.weight"].T + weights["residual.bias"] - x @ w.T
        y = y + dt * (act(p @ x @ w.T + constant + residual) - alpha * y - stiffness * x)
        x = x + dt * y
    return read_nodes(weights, x)


@pytest.mark.parametrize("name", ODD)
@pytest.mark.parametrize("edge_dim", [None, 3])
def test_equals_the_equation(name, edge_dim):
    model, graph = small(GraphCON, edge_dim=edge_dim), odd_graph(name, edge_dim)
    assert relative_error(model(graph), expected_prediction(model, graph)) <= 1e-10
    constants = {"dt": 0.3, "alpha": 0.2, "stiffness": 0.7}
    model = small(GraphCON, edge_dim=edge_dim, activation="tanh", **constants)
    assert relative_error(model(graph), expected_prediction(model, graph, act=np.tanh, **constants)) <= 1e-10


def trajectory(**options):
    """State and velocity after every step of oscillators that nothing drives."""
    model = small(GraphCON, **options)
    with torch.no_grad():
        for parameter in (*model.conv.parameters(), *model.residual.parameters()):
            parameter.zero_()
    graph = hierarchy(levels=1, edge_dim=None)
    aggregation = make_aggregation("gcn", graph.edge_index, 9, torch.double)
    generator = torch.Generator().manual_seed(2)
    state, velocity = (torch.randn(9, 5, generator=generator, dtype=torch.double) for _ in range(2))
    steps = [(state, velocity)]
    for _ in range(40):
        steps.append(tuple(value.detach() for value in model.step(*steps[-1], aggregation, None)))
    return steps


def test_free_oscillators_conserve_their_energy():
    dt, stiffness = 0.4, 0.9
    energies = [
        y**2 + stiffness * x**2 - dt * stiffness * x * y
        for x, y in trajectory(dt=dt, alpha=0, stiffness=stiffness, activation="tanh")
    ]
    assert max((energy - energies[0]).abs().max() for energy in energies) <= 1e-13
    moved = trajectory(dt=dt, alpha=0, stiffness=stiffness)
    assert (moved[-1][0] - moved[0][0]).abs().max() > 0.1


def test_damped_oscillators_come_to_rest():
    steps = trajectory(dt=0.2, alpha=0.8, stiffness=0.9)
    sizes = [float(x.square().sum() + y.square().sum()) for x, y in steps]
    assert sizes[-1] < 0.05 * sizes[0]
    assert sizes[20] < sizes[0]


@pytest.mark.parametrize("layers", [1, 2, 5])
def test_there_are_as_many_steps_as_layers(layers):
    model = small(GraphCON, in_channels=1, layers=layers, activation="tanh")
    assert reach(model, 9) == layers
    calls = []
    model.residual.register_forward_hook(lambda *_: calls.append(1))
    model(hierarchy(levels=1, edge_dim=None, in_channels=1))
    assert len(calls) == layers


def test_the_number_of_steps_is_a_loop_and_changes_no_weights():
    check_loop(GraphCON, edge_dim=3)


@pytest.mark.parametrize("options", [{}, {"dt": 0.3, "activation": "tanh"}])
def test_laws(options, tmp_path):
    check_laws(GraphCON, tmp_path, **options)


def test_kinds():
    check_kinds("graphcon")


def test_dropout_is_for_training_only():
    model, data = small(GraphCON, dropout=0.5), hierarchy(levels=1, edge_dim=None)
    assert not torch.equal(model(data), model(data))
    model.eval()
    assert torch.equal(model(data), model(data))


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"dt": 0}, "dt must be a finite number above 0; got 0"),
        ({"alpha": -1}, "alpha must be a finite number of at least 0; got -1"),
        ({"stiffness": -1}, "stiffness must be a finite number of at least 0; got -1"),
        ({"activation": "elu"}, "Unknown activation 'elu'; known are relu, tanh"),
        ({"dropout": 1}, r"dropout must lie in \[0, 1\); got 1"),
    ],
)
def test_bad_options_are_sentences(options, words):
    with pytest.raises(ValueError, match=words):
        small(GraphCON, **options)

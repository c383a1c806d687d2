import itertools
import math

import numpy as np
import pytest
import torch

import reference
from cases import hierarchy, relative_error
from dynamics_cases import (
    ODD,
    check_kinds,
    check_laws,
    check_loop,
    encode,
    gcn_entry,
    gcn_matrix,
    odd_graph,
    reach,
    small,
    sum_edges,
    undirected_adjacency,
)
from ghr.models import PHDGN
from ghr.models.network import LayerInput
from ghr.nn.ports import DAMPINGS, FORCINGS


def energy_gradient(weights, y, matrix, edge_sum):
    drive = y @ weights["own.weight"].T + weights["own.bias"] + matrix @ y @ weights["neighbour"].T
    if edge_sum is not None:
        drive = drive + edge_sum @ weights["edge.weight"].T
    s = np.tanh(drive)
    return s @ weights["own.weight"] + matrix.T @ s @ weights["neighbour"]


def damping_of(kind, weights, q, a):
    if kind.startswith("param"):
        value = weights["damping.weight"]
        return np.maximum(value, 0) if kind == "param+" else value
    if kind == "graph":
        return np.maximum(a @ q @ weights["damping.weight"].T, 0)
    for layer in range(4):
        q = np.maximum(np.array([reference.linear(weights, f"damping.layers.{layer}", row) for row in q]), 0)
    return q


def forcing_of(kind, weights, q, t, a):
    q = np.array([[*row, t] for row in q])
    if kind == "graph":
        return np.tanh(a @ q @ weights["forcing.weight"].T)
    for layer in range(3):
        q = np.sin(np.array([reference.linear(weights, f"forcing.layers.{layer}", row) for row in q]))
    return q @ weights["forcing.last.weight"].T


def expected_prediction(model, graph, *, epsilon, alpha, beta, damping, forcing, sums, final, layers=3):
    """The equations, with dense matrices."""
    weights, z, edges = encode(model, graph)
    a = undirected_adjacency(graph)
    matrices = {"naive": a, "gcn": gcn_matrix(a)}
    entries = {"naive": lambda i, j: float(i != j), "gcn": lambda i, j: gcn_entry(a, i, j)}
    totals = {name: sum_edges(edges, z.shape, entry) if edges else None for name, entry in entries.items()}
    p_weights, q_weights = (reference.under(weights, f"{name}_energy") for name in "pq")
    p = q = z
    for n in range(layers):
        velocity = energy_gradient(p_weights, p, matrices[sums[0]], totals[sums[0]])
        q = q + epsilon * velocity
        new = p - epsilon * energy_gradient(q_weights, q, matrices[sums[1]], totals[sums[1]])
        if damping is not None:
            new = new - epsilon * alpha * damping_of(damping, weights, q, a) * velocity
        if forcing is not None:
            new = new + epsilon * beta * forcing_of(forcing, weights, q, epsilon * n, a)
        p = new
    states = {"p": p, "q": q, "pq": np.concatenate([p, q], axis=1)}[final]
    return [reference.mlp(reference.under(weights, "readout.mlp"), row) for row in states]


VARIANTS = [
    {"damping": None, "forcing": None, "sums": ("naive", "gcn"), "final": "pq"},
    {"damping": "param", "forcing": "mlp", "sums": ("gcn", "naive"), "final": "q"},
    {"damping": "param+", "forcing": "graph", "sums": ("naive", "gcn"), "final": "p"},
    {"damping": "mlp", "forcing": None, "sums": ("naive", "naive"), "final": "p"},
    {"damping": "graph", "forcing": "mlp", "sums": ("gcn", "gcn"), "final": "pq"},
]


@pytest.mark.parametrize("name", ODD)
@pytest.mark.parametrize("edge_dim", [None, 3])
@pytest.mark.parametrize("variant", VARIANTS)
def test_equals_the_equations(name, edge_dim, variant):
    constants = {
        "epsilon": 0.2,
        "alpha": 0.7,
        "beta": -0.6,
        "damping": variant["damping"],
        "forcing": variant["forcing"],
    }
    sums, final = variant["sums"], variant["final"]
    model = small(PHDGN, edge_dim=edge_dim, p_aggregation=sums[0], q_aggregation=sums[1], final=final, **constants)
    graph = odd_graph(name, edge_dim)
    assert relative_error(model(graph), expected_prediction(model, graph, sums=sums, final=final, **constants)) <= 1e-10


def system(graph=None, **options):
    """A model, its neighbourhoods in a graph with edge features, and a state."""
    model = small(PHDGN, edge_dim=3, **options).requires_grad_(False)
    graph = hierarchy(6, 9, levels=1) if graph is None else graph
    edge_attr = model.edge_encoder.map(graph.edge_attr)
    size = graph.num_nodes
    around = model.neighbourhood(
        LayerInput(graph.edge_index, edge_attr, torch.zeros(size).long(), 1, graph), size, torch.double
    )
    generator = torch.Generator().manual_seed(1)
    p, q = (torch.randn(size, 5, generator=generator, dtype=torch.double) for _ in range(2))
    return model, around, p, q


CONSERVATIVE = {"damping": None, "forcing": None}


@pytest.mark.parametrize("sums", [("naive", "gcn"), ("gcn", "naive")])
@pytest.mark.parametrize("name", ["random", "directed"])
def test_a_conservative_step_is_symplectic(name, sums):
    graph = None if name == "random" else odd_graph("directed", 3)
    given = {**CONSERVATIVE, "epsilon": 0.3, "p_aggregation": sums[0], "q_aggregation": sums[1]}
    model, around, p, q = system(graph, **given)

    def step(state):
        return torch.cat(
            [value.flatten() for value in model.step(*(half.view_as(p) for half in state.chunk(2)), 0, around)]
        )

    jacobian = torch.autograd.functional.jacobian(step, torch.cat([p.flatten(), q.flatten()]))
    eye = torch.eye(p.numel()).double()
    omega = torch.cat([torch.cat([0 * eye, eye], 1), torch.cat([-eye, 0 * eye], 1)])
    assert (jacobian.T @ omega @ jacobian - omega).abs().max() <= 1e-12
    assert torch.linalg.det(jacobian) == pytest.approx(1, abs=1e-10)
    assert (jacobian - torch.eye(2 * p.numel())).abs().max() > 0.1


def test_a_damped_step_is_not():
    model, around, p, q = system(epsilon=0.3, forcing=None)
    jacobian = torch.autograd.functional.jacobian(lambda p: model.step(p, q, 0, around)[0].flatten(), p)
    assert abs(float(torch.linalg.det(jacobian.reshape(p.numel(), -1))) - 1) > 0.01


@pytest.mark.parametrize("sums", [("naive", "gcn"), ("gcn", "naive")])
def test_the_gradient_is_that_of_the_energy(sums):
    model, around, p, q = system(odd_graph("directed", 3), p_aggregation=sums[0], q_aggregation=sums[1])
    p.requires_grad_()
    q.requires_grad_()
    by_p, by_q = torch.autograd.grad(model.energy(p, q, around), (p, q))
    assert relative_error(model.p_energy.gradient(p, around.momentum, around.momentum_edges), by_p) <= 1e-12
    assert relative_error(model.q_energy.gradient(q, around.position, around.position_edges), by_q) <= 1e-12


def energies(steps, **options):
    model, around, p, q = system(**options)
    found = [float(model.energy(p, q, around))]
    for step in range(steps):
        p, q = model.step(p, q, step * model.epsilon, around)
        found.append(float(model.energy(p, q, around)))
    return found


def test_the_energy_drifts_in_proportion_to_the_step():
    drifts = []
    for steps in (50, 100, 200):
        found = energies(steps, epsilon=1 / steps, **CONSERVATIVE)
        drifts.append(max(abs(value / found[0] - 1) for value in found))
    assert 0 < drifts[0] < 0.1
    for coarse, fine in itertools.pairwise(drifts):
        assert coarse / fine == pytest.approx(2, rel=0.2)


@pytest.mark.parametrize("damping", [name for name in DAMPINGS if name != "param"])
def test_damping_takes_energy_away_at_its_rate(damping):
    found = energies(100, epsilon=0.005, damping=damping, forcing=None)
    assert found[-1] < found[0] - 1e-3
    model, around, p, q = system(epsilon=1e-7, damping=damping, forcing=None, alpha=0.6)
    velocity = model.p_energy.gradient(p, around.momentum, around.momentum_edges)
    loss = 0.6 * float((model.damping(q, around.ports) * velocity**2).sum())
    change = energies(1, epsilon=1e-7, damping=damping, forcing=None, alpha=0.6)
    assert (change[0] - change[1]) / 1e-7 == pytest.approx(loss, rel=1e-3)


def test_no_time_no_change():
    model, data = small(PHDGN, epsilon=0, final="pq"), hierarchy(levels=1, edge_dim=None)
    z = model.node_encoder(data.x)
    assert torch.equal(model(data), model.readout.mlp(torch.cat([z, z], dim=1)))


@pytest.mark.parametrize("kind", [*DAMPINGS.values(), *FORCINGS.values()])
def test_all_weights_of_the_ports_are_initialised(kind):
    torch.manual_seed(0)
    for name, parameter in kind(40).named_parameters():
        bound = 1.5 * math.sqrt(2 / 40) * 3
        assert 0 < parameter.abs().max() < bound, name
        assert torch.isfinite(parameter).all()


@pytest.mark.parametrize("variant", VARIANTS)
def test_laws(variant, tmp_path):
    check_laws(PHDGN, tmp_path, damping=variant["damping"], forcing=variant["forcing"], final=variant["final"])


def test_kinds():
    check_kinds("ph-dgn")


def test_the_number_of_steps_is_a_loop():
    check_loop(PHDGN, edge_dim=3, forcing="mlp")


def test_reaches_twice_as_many_hops_as_gradients():
    """A gradient sums twice over neighbours, and a step takes two of them."""
    assert reach(small(PHDGN, in_channels=1, layers=1, **CONSERVATIVE), 12) == 4
    assert reach(small(PHDGN, in_channels=1, layers=2, **CONSERVATIVE), 12) == 8


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"epsilon": -1}, "epsilon must be a finite number of at least 0; got -1"),
        ({"damping": "none"}, r"Unknown damping 'none'; known are None, param, param\+, mlp, graph"),
        ({"forcing": "sin"}, "Unknown forcing 'sin'; known are None, mlp, graph"),
        ({"final": "qp"}, "Unknown final 'qp'; known are p, q, pq"),
        ({"p_aggregation": "mean"}, "Unknown p_aggregation 'mean'; known are naive, gcn"),
        ({"alpha": "much"}, "alpha must be a finite number; got 'much'"),
        ({"hidden_channels": None, "final": "pq"}, "hidden_channels must be a whole number"),
    ],
)
def test_bad_options_are_sentences(options, words):
    with pytest.raises(ValueError, match=words):
        small(PHDGN, **options)

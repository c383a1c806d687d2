import numpy as np
import pytest
import torch

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
    read_nodes,
    small,
    sum_edges,
    undirected_adjacency,
)
from ghr.models import ADGN, SWAN
from ghr.models.swan import OPERATORS, make_space_operators


def expected_prediction(model, graph, *, layers=3, diffusion=0.1, epsilon=0.1, beta=1.0):
    """The equation, with dense matrices."""
    weights, x, edges = encode(model, graph)
    size, width = x.shape
    a = undirected_adjacency(graph)
    degree = [max(sum(row), 1) for row in a]
    hat = np.array([[a[i, j] / (degree[i] * degree[j]) ** 0.5 for j in range(size)] for i in range(size)])
    bar = np.array([[a[i, j] / degree[i] for j in range(size)] for i in range(size)])

    def entry(i, j):
        return 0.0 if i == j else (degree[i] * degree[j]) ** -0.5

    if model.operator == "antisymmetric":
        matrix, upper = hat, np.zeros((width, width))
        upper[np.triu_indices(width, 1)] = weights["neighbour.triangle"]
        v = upper - upper.T
    else:
        v = weights["neighbour.weight"]
        naive = model.operator == "bounded-naive"
        matrix = a if naive else gcn_matrix(a)

        def entry(i, j):
            return 0.0 if i == j else 1.0 if naive else gcn_entry(a, i, j)

    w, z = weights["field.weight"], np.zeros((width, width))
    if "space.triangle" in weights:
        z[np.triu_indices(width)] = weights["space.triangle"]
    z = z + z.T
    total = sum_edges(edges, x.shape, entry)
    for _ in range(layers):
        drive = x @ (w - w.T - diffusion * np.eye(width)).T + weights["field.bias"]
        drive = drive + matrix @ x @ v.T + beta * (bar - bar.T) @ x @ z.T
        if edges:
            drive = drive + total @ weights["edge.weight"].T
        x = x + epsilon * np.tanh(drive)
    return read_nodes(weights, x)


@pytest.mark.parametrize("name", ODD)
@pytest.mark.parametrize("operator", OPERATORS)
@pytest.mark.parametrize("edge_dim", [None, 3])
def test_equals_the_equation(name, operator, edge_dim):
    model, graph = small(SWAN, operator=operator, edge_dim=edge_dim), odd_graph(name, edge_dim)
    assert relative_error(model(graph), expected_prediction(model, graph)) <= 1e-10


def test_other_constants_enter():
    constants = {"diffusion": 0.4, "epsilon": 0.3, "beta": -0.7}
    model, graph = small(SWAN, **constants), odd_graph("triangle and tail", None)
    assert relative_error(model(graph), expected_prediction(model, graph, **constants)) <= 1e-10


def eigenvalues(graph, **options):
    """Of the Jacobian of the right hand side for the whole graph, edge features included."""
    model = small(SWAN, edge_dim=3, **options)
    size = graph.num_nodes
    phi, psi = model.operators(graph.edge_index, size, torch.double)
    x = torch.randn(size, 5, generator=torch.Generator().manual_seed(1), dtype=torch.double)
    edge_sum = model.edge(phi.sum_features(model.edge_encoder.map(graph.edge_attr)))
    jacobian = torch.autograd.functional.jacobian(lambda x: model.velocity(x, phi, psi, edge_sum), x)
    return torch.linalg.eigvals(jacobian.reshape(5 * size, 5 * size))


@pytest.mark.parametrize("name", ["random", "directed", "triangle and tail"])
def test_the_jacobian_of_the_whole_graph_does_not_grow(name):
    graph = hierarchy(8, 14, levels=1) if name == "random" else odd_graph(name, 3)
    values = eigenvalues(graph, diffusion=0.0)
    assert values.real.abs().max() <= 1e-13
    assert values.imag.abs().max() > 0.1
    assert eigenvalues(graph, diffusion=0.2).real.max() < -1e-9  # where tanh is flat, all is slow


def test_free_weights_do_grow():
    assert eigenvalues(hierarchy(8, 14, levels=1), diffusion=0.0, operator="bounded-naive").real.max() > 1e-2


def test_symmetries_of_the_weights_and_of_the_operators():
    model = small(SWAN, hidden_channels=7)
    v, z = model.neighbour.weight, model.space.weight
    assert torch.equal(v, -v.T)
    assert torch.equal(z, z.T)
    assert v.abs().max() > 0.1
    assert z.diagonal().abs().min() > 0
    graph = odd_graph("directed", None)
    phi, psi = (operator(torch.eye(5).double()) for operator in make_space_operators(graph.edge_index, 5, torch.double))
    assert torch.equal(phi, phi.T)
    assert torch.equal(psi, -psi.T)
    assert psi.abs().max() > 0.1


def test_the_order_of_the_edges_does_not_matter_to_the_operators():
    graph = hierarchy(8, 14, levels=1)
    shuffled = graph.edge_index[:, torch.randperm(graph.num_edges, generator=torch.Generator().manual_seed(0))]
    for first, second in zip(
        make_space_operators(graph.edge_index, 8, torch.double),
        make_space_operators(shuffled, 8, torch.double),
        strict=True,
    ):
        assert torch.equal(first(torch.eye(8).double()), second(torch.eye(8).double()))


def test_free_weights_without_the_space_operator_are_a_dgn():
    swan, adgn, graph = small(SWAN, operator="bounded-naive", beta=0), small(ADGN), hierarchy(levels=1, edge_dim=None)
    own = swan.state_dict()
    adgn.load_state_dict(
        {name: own[name.replace("cells.0.", "")] if "cells" in name else own[name] for name in adgn.state_dict()}
    )
    assert relative_error(swan(graph), adgn(graph)) <= 1e-13


@pytest.mark.parametrize("operator", OPERATORS)
def test_laws(operator, tmp_path):
    check_laws(SWAN, tmp_path, operator=operator)


def test_kinds():
    check_kinds("swan")


def test_the_number_of_updates_is_a_loop():
    check_loop(SWAN, edge_dim=3)


@pytest.mark.parametrize("layers", [1, 4])
def test_reaches_as_many_hops_as_updates(layers):
    assert reach(small(SWAN, in_channels=1, layers=layers), 9) == layers


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"epsilon": -1}, "epsilon must be a finite number above 0; got -1"),
        ({"diffusion": -1}, "diffusion must be a finite number of at least 0; got -1"),
        ({"beta": "much"}, "beta must be a finite number; got 'much'"),
        ({"operator": "sym"}, "Unknown operator 'sym'; known are antisymmetric, bounded-gcn, bounded-naive"),
    ],
)
def test_bad_options_are_sentences(options, words):
    with pytest.raises(ValueError, match=words):
        small(SWAN, **options)

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
from ghr.models import ADGN
from ghr.nn.aggregation import make_aggregation


def expected_prediction(model, graph, *, layers=3, diffusion=0.1, epsilon=0.1):
    """The equation, with dense matrices."""
    weights, x, edges = encode(model, graph)
    a = adjacency(graph)
    naive = model.aggregation == "naive"
    matrix = a if naive else gcn_matrix(a)
    total = sum_edges(edges, x.shape, lambda i, j: 1.0 if naive else gcn_entry(a, i, j))
    for layer in range(layers):
        cell = f"cells.{0 if model.shared else layer}"
        w, v = weights[f"{cell}.field.weight"], weights[f"{cell}.neighbour.weight"]
        field = w - w.T - diffusion * np.eye(len(w))
        drive = x @ field.T + matrix @ x @ v.T + weights[f"{cell}.field.bias"]
        if edges:
            drive = drive + total @ weights[f"{cell}.edge.weight"].T
        x = x + epsilon * np.tanh(drive)
    return read_nodes(weights, x)


@pytest.mark.parametrize("name", ODD)
@pytest.mark.parametrize(
    ("aggregation", "shared", "edge_dim"),
    [("naive", True, 3), ("gcn", True, 3), ("naive", False, None), ("gcn", False, 3)],
)
def test_equals_the_equation(name, aggregation, shared, edge_dim):
    model, graph = small(ADGN, aggregation=aggregation, shared=shared, edge_dim=edge_dim), odd_graph(name, edge_dim)
    assert relative_error(model(graph), expected_prediction(model, graph)) <= 1e-10


def test_other_constants_enter():
    model, graph = small(ADGN, diffusion=0.4, epsilon=0.3), odd_graph("directed", None)
    assert relative_error(model(graph), expected_prediction(model, graph, diffusion=0.4, epsilon=0.3)) <= 1e-10


def local_eigenvalues(diffusion):
    """Of the Jacobian of the right hand side, of a node without neighbours."""
    cell = small(ADGN, hidden_channels=8, diffusion=diffusion).cells[0]
    alone = make_aggregation("naive", torch.zeros(2, 0).long(), 1, torch.double)
    x = torch.randn(8, generator=torch.Generator().manual_seed(1), dtype=torch.double)
    jacobian = torch.autograd.functional.jacobian(lambda x: cell(x.unsqueeze(0), alone, None)[0], x)
    return torch.linalg.eigvals(jacobian)


def test_the_local_jacobian_does_not_grow():
    values = local_eigenvalues(0.0)
    assert values.real.abs().max() <= 1e-13
    assert values.imag.abs().max() > 0.1
    assert local_eigenvalues(0.2).real.max() < -1e-3


def test_the_field_is_antisymmetric_whatever_the_weights():
    field = small(ADGN, hidden_channels=8, diffusion=0.3).cells[0].field
    matrix = torch.autograd.functional.jacobian(field, torch.zeros(8).double()) + 0.3 * torch.eye(8).double()
    assert matrix.abs().max() > 0.1
    assert torch.equal(matrix, -matrix.T) or (matrix + matrix.T).abs().max() <= 1e-15


@pytest.mark.parametrize("options", [{}, {"aggregation": "gcn", "shared": False}])
def test_laws(options, tmp_path):
    check_laws(ADGN, tmp_path, **options)


def test_kinds():
    check_kinds("a-dgn")


def test_the_number_of_updates_is_a_loop_where_weights_are_shared():
    check_loop(ADGN, edge_dim=3)
    data = hierarchy(levels=1, edge_dim=None)
    apart = small(ADGN, shared=False)
    with pytest.raises(ValueError, match="ADGN has no loops, but layers=4 was given"):
        apart(data, layers=4)
    with pytest.raises(ValueError, match="layers must be a whole number of at least 1; got 0"):
        small(ADGN)(data, layers=0)
    for layer in (1, 2):
        apart.cells[layer].load_state_dict(apart.cells[0].state_dict())
    shared = small(ADGN)
    shared.load_state_dict({name: value for name, value in apart.state_dict().items() if name in shared.state_dict()})
    assert torch.equal(apart(data), shared(data))


@pytest.mark.parametrize("layers", [1, 4])
def test_reaches_as_many_hops_as_updates(layers):
    assert reach(small(ADGN, in_channels=1, layers=layers), 9) == layers


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"layers": 0}, "layers must be a whole number of at least 1; got 0"),
        ({"epsilon": 0}, "epsilon must be a finite number above 0; got 0"),
        ({"diffusion": -1}, "diffusion must be a finite number of at least 0; got -1"),
        ({"aggregation": "mean"}, "Unknown aggregation 'mean'; known are naive, gcn"),
        ({"shared": "yes"}, "shared must be True or False; got 'yes'"),
    ],
)
def test_bad_options_are_sentences(options, words):
    with pytest.raises(ValueError, match=words):
        small(ADGN, **options)

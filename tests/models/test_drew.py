import math

import numpy as np
import pytest
import torch
from torch_geometric.data import Batch

import reference
from cases import hierarchy, relative_error
from dynamics_cases import (
    ODD,
    adjacency,
    check_kinds,
    check_laws,
    encode,
    gcn_entry,
    gcn_matrix,
    odd_graph,
    reach,
    read_nodes,
    small,
    sum_edges,
)
from ghr import memory
from ghr.models import DRew
from ghr.testing import path_graph
from ghr.transforms import HopEdges


def hop_matrices(graph, most):
    """Entry (i, j) of matrix k is one if the shortest path from j to i has k edges, from powers of the adjacency."""
    a = (adjacency(graph) > 0).astype(float)
    seen, power, found = np.eye(graph.num_nodes), np.eye(graph.num_nodes), []
    for _ in range(most):
        power = power @ a
        found.append(((power > 0) & (seen == 0)).astype(float))
        seen = seen + found[-1]
    return found


def expected_prediction(model, graph, *, layers=3, max_hops=3, nu=1, normalise=True):
    """The equation, with dense matrices."""
    weights, x, edges = encode(model, graph)
    a, hops = adjacency(graph), hop_matrices(graph, max_hops)
    total = sum_edges(edges, x.shape, lambda i, j: gcn_entry(a, i, j))
    states = [x]
    for t in range(layers):
        change = np.zeros(x.shape)
        for k in range(1, min(t + 1, max_hops) + 1):
            if k > 1 and not hops[k - 1].any():
                continue
            past = states[t - (0 if nu is None else max(k - nu, 0))]
            around = gcn_matrix(a if k == 1 else hops[k - 1]) @ past + (total if k == 1 else 0)
            rows = [reference.linear(weights, f"layers.{t}.{k - 1}", row) for row in around]
            change = change + np.maximum(np.array(rows), 0)
        new = states[-1] + np.maximum(change, 0)
        if normalise:
            new = np.array([row / max(np.linalg.norm(row), 1e-12) for row in new])
        states.append(new)
    return read_nodes(weights, states[-1])


@pytest.mark.parametrize("name", [*ODD, "random", "path"])
@pytest.mark.parametrize("edge_dim", [None, 3])
@pytest.mark.parametrize(
    "options",
    [{}, {"nu": 2, "layers": 4, "max_hops": 3}, {"nu": None, "normalise": False}, {"max_hops": 2, "layers": 4}],
)
def test_equals_the_equation(name, edge_dim, options):
    graph = hierarchy(levels=1, edge_dim=edge_dim) if name == "random" else None
    if name == "path":
        graph = path_graph(7, edge_dim=edge_dim)
        graph.x = torch.randn(7, 2, generator=torch.Generator().manual_seed(0)).double()
        graph.edge_attr = None if edge_dim is None else graph.edge_attr.double()
    graph = odd_graph(name, edge_dim) if graph is None else graph
    model = small(DRew, edge_dim=edge_dim, **options)
    assert relative_error(model(model.prepare(graph)), expected_prediction(model, graph, **options)) <= 1e-10


@pytest.mark.parametrize(("nu", "hops"), [(1, 4), (2, 7), (None, 10), (math.inf, 10), (9, 10)])
def test_how_far_it_reaches(nu, hops):
    torch.manual_seed(0)
    model = DRew(1, 24, 1, layers=4, nu=nu).double()
    assert reach(model, 14) == hops


@pytest.mark.parametrize(("nu", "first"), [(1, [1, 2, 3, 4]), (2, [1, 2, 2, 3]), (None, [1, 2, 2, 3])])
def test_the_layer_that_first_sees_a_distance(nu, first):
    torch.manual_seed(0)
    seen = {layers: reach(DRew(1, 24, 1, layers=layers, nu=nu).double(), 14) for layers in (1, 2, 3, 4)}
    assert [min(layers for layers, hops in seen.items() if hops >= distance) for distance in (1, 2, 3, 4)] == first


def test_the_first_layer_is_a_graph_convolution():
    model, graph = small(DRew, layers=1, normalise=False), hierarchy(levels=1, edge_dim=None)
    linear, x = model.layers[0][0], model.node_encoder(graph.x)
    rows = reference.normalised_sum(reference.read_rows(x), reference.read_levels(graph)[0].edges, False)
    expected = x + linear(torch.from_numpy(np.array(rows))).relu()
    assert model.transform is None
    assert relative_error(model(graph), model.readout.mlp(expected)) <= 1e-12


def test_states_have_length_one_where_wanted():
    graph = hierarchy(levels=1, edge_dim=None)
    for normalise in (True, False):
        model, lengths = small(DRew, normalise=normalise), []
        model.readout.register_forward_pre_hook(
            lambda _, given, found=lengths: found.append(given[0].state.norm(dim=1))
        )
        model(model.prepare(graph))
        assert torch.allclose(lengths[0], torch.ones(9).double()) == normalise


def test_a_graph_without_distant_pairs_is_the_same_beside_one_with_them():
    model = small(DRew, layers=4)
    graphs = [path_graph(size) for size in (2, 9, 1)]
    for graph in graphs:
        graph.x = torch.randn(graph.num_nodes, 2, generator=torch.Generator().manual_seed(graph.num_nodes)).double()
    prepared = [model.prepare(graph) for graph in graphs]
    together = model(Batch.from_data_list(prepared))
    assert relative_error(together[:2], model(prepared[0])) <= 1e-12
    assert relative_error(together[11:], model(prepared[2])) <= 1e-12


@pytest.mark.parametrize("options", [{}, {"nu": None, "normalise": False}, {"max_hops": 1}])
def test_laws(options, tmp_path):
    check_laws(DRew, tmp_path, **options)


def test_kinds():
    check_kinds("drew")


def test_what_it_needs_of_a_graph():
    assert repr(small(DRew, layers=4).transform) == "HopEdges(4)"
    assert repr(small(DRew, layers=4, max_hops=3).transform) == "HopEdges(3)"
    assert repr(small(DRew, layers=2, max_hops=8).transform) == "HopEdges(2)"
    model, graph = small(DRew), hierarchy(levels=1, edge_dim=None)
    with pytest.raises(
        ValueError,
        match=r"DRew needs the pairs of nodes up to 3 hops apart, but the graph has no hop_edge_index, ",
    ):
        model(graph)
    with pytest.raises(ValueError, match="up to 3 hops away, but hop_limit of the graph is 2"):
        model(HopEdges(2)(graph))
    farther = model(HopEdges(6)(graph))
    assert torch.equal(farther, model(model.prepare(graph)))
    broken = model.prepare(graph)
    broken.hop_edge_index = broken.hop_edge_index + 100
    with pytest.raises(ValueError, match="hop_edge_index has node"):
        model(broken)


def test_too_many_messages_are_refused_with_their_memory(monkeypatch):
    model, graph = small(DRew, hidden_channels=64), path_graph(500)
    graph.x = torch.randn(500, 2).double()
    prepared = model.prepare(graph)
    monkeypatch.setattr(memory, "physical_memory", lambda: 2**20)
    with pytest.raises(ValueError, match=r"Passing messages between 1,990 pairs of nodes needs .* GiB of memory"):
        model(prepared)


def test_dropout_is_for_training_only():
    model = small(DRew, dropout=0.5)
    data = model.prepare(hierarchy(levels=1, edge_dim=None))
    assert not torch.equal(model(data), model(data))
    model.eval()
    assert torch.equal(model(data), model(data))


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"layers": 0}, "layers must be a whole number of at least 1; got 0"),
        ({"max_hops": 0}, "max_hops must be a whole number of at least 1, or None for as many as layers; got 0"),
        ({"nu": 0}, "nu must be a whole number of at least 1, or None for no delay; got 0"),
        ({"nu": 1.5}, "nu must be a whole number of at least 1, or None for no delay; got 1.5"),
        ({"normalise": 1}, "normalise must be True or False; got 1"),
        ({"dropout": 1}, r"dropout must lie in \[0, 1\); got 1"),
    ],
)
def test_bad_options_are_sentences(options, words):
    with pytest.raises(ValueError, match=words):
        small(DRew, **options)

import numpy as np
import pytest
import torch

import reference
from cases import hierarchy, naive_edges, relative_error
from dynamics_cases import ODD, check_kinds, check_laws, check_loop, encode, odd_graph, reach, read_nodes, small
from ghr import MODELS
from ghr.models import CacheGNN
from ghr.models.network import LayerInput


def gru(weights, message, state):
    """One gated recurrent unit, as the text books have it."""
    given = weights["weight_ih"] @ message + weights["bias_ih"]
    own = weights["weight_hh"] @ state + weights["bias_hh"]
    (gr, gz, gn), (hr, hz, hn) = np.split(given, 3), np.split(own, 3)
    reset, keep = reference.sigmoid(gr + hr), reference.sigmoid(gz + hz)
    return (1 - keep) * np.tanh(gn + reset * hn) + keep * state


def expected_prediction(model, graph, *, layers=3, window=None):
    """The equations, node by node."""
    weights, x, encoded = encode(model, graph)
    edges = naive_edges(graph.edge_index, None)
    for edge, (_, _, feature) in zip(edges, encoded, strict=False):
        edge.feature = feature
    conv, cell = reference.under(weights, "conv"), reference.under(weights, "cell")
    query, key, value = (weights[f"cache.{name}.weight"] for name in ("query", "key", "value"))
    states = [list(x)]
    for _ in range(layers):
        h, past = states[-1], states if window is None else states[-window:]
        messages, _ = reference.gine(conv, h, edges)
        new = []
        for i in range(len(h)):
            scores = [(query @ h[i]) @ (key @ old[i]) / len(h[i]) ** 0.5 for old in past]
            shares = np.exp(scores) / sum(np.exp(scores))
            read = sum(share * (value @ old[i]) for share, old in zip(shares, past, strict=True))
            new.append(gru(cell, messages[i], read))
        states.append(new)
    return read_nodes(weights, states[-1])


@pytest.mark.parametrize("name", ODD)
@pytest.mark.parametrize(("edge_dim", "window"), [(None, None), (3, None), (3, 2), (3, 1)])
def test_equals_the_equations(name, edge_dim, window):
    model, graph = small(CacheGNN, edge_dim=edge_dim, window=window), odd_graph(name, edge_dim)
    assert relative_error(model(graph), expected_prediction(model, graph, window=window)) <= 1e-10


def layer_input(model, graph):
    edge_attr = model.edge_encoder.map(graph.edge_attr)
    return LayerInput(graph.edge_index, edge_attr, torch.zeros(graph.num_nodes).long(), 1, graph)


def test_with_one_state_and_nothing_to_choose_it_is_a_recurrent_network():
    model, graph = small(CacheGNN, edge_dim=3, window=1, layers=4), hierarchy(levels=1)
    with torch.no_grad():
        model.cache.value.weight.copy_(torch.eye(5))
    state = model.node_encoder(graph.x)
    for _ in range(4):
        message = model.conv(state, graph.edge_index, model.edge_encoder.map(graph.edge_attr))
        state = model.cell(message, state)
    assert relative_error(model(graph), model.readout.mlp(state)) <= 1e-12


@pytest.mark.parametrize("window", [None, 3])
def test_the_cache_holds_the_past_states(window):
    model, graph = small(CacheGNN, edge_dim=3, window=window), hierarchy(levels=1)
    start, given = model.node_encoder(graph.x), layer_input(model, graph)
    last, entries = model.remember_states(start, given, 5)
    past = [start, *(model.iterate(start, given, count) for count in range(1, 6))]
    kept = past if window is None else past[-window:]
    assert len(entries) == len(kept)
    for entry, state in zip(entries, kept, strict=True):
        assert torch.equal(entry.state, state)
        assert torch.equal(entry.key, model.cache.key(state))
        assert torch.equal(entry.value, model.cache.value(state))
    assert torch.equal(entries[-1].state, last)


def test_equal_keys_read_the_mean_of_what_is_stored():
    model = small(CacheGNN)
    with torch.no_grad():
        model.cache.query.weight.zero_()
    states = torch.randn(3, 4, 5, dtype=torch.double)
    read = model.cache(states[0], [model.cache.store(state) for state in states])
    assert relative_error(read, model.cache.value(states.mean(dim=0))) <= 1e-12


def test_what_is_older_than_the_window_is_forgotten():
    graph = hierarchy(levels=1)
    wide, narrow = small(CacheGNN, edge_dim=3), small(CacheGNN, edge_dim=3, window=2)
    assert torch.equal(wide(graph, layers=1), narrow(graph, layers=1))
    assert not torch.allclose(wide(graph, layers=3), narrow(graph, layers=3))


def test_the_number_of_steps_is_a_loop_and_changes_no_weights():
    check_loop(CacheGNN, edge_dim=3)


@pytest.mark.parametrize("window", [None, 2])
def test_laws(window, tmp_path):
    check_laws(CacheGNN, tmp_path, window=window)


def test_kinds():
    check_kinds("cache-gnn")


def test_reaches_as_many_hops_as_steps():
    assert reach(small(CacheGNN, in_channels=1, layers=4), 9) == 4


def test_says_that_it_is_a_reconstruction():
    entry = MODELS["cache-gnn"]
    for text in (entry.summary, entry.reference, CacheGNN.__doc__):
        assert "reconstruction" in text


@pytest.mark.parametrize("window", [0, 1.5, "all"])
def test_bad_windows_are_sentences(window):
    with pytest.raises(ValueError, match="window must be a whole number of at least 1, or None for all states"):
        small(CacheGNN, window=window)

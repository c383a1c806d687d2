import numpy as np
import pytest
import torch
from analysis_cases import EDGE, GRAPH, KINDS, NODE, graph, small
from torch_geometric.data import Data

import ghr
from ghr import MODELS
from ghr.analysis import Profile, count_hops, measure_exchange
from ghr.analysis.exchange import exchange_all, find_most_different
from ghr.testing import path_graph, random_graph

WHOLE = {"nodes": 100, "sample": 100}


def slow(model, data, task=NODE):
    """Every prediction with every node exchanged, one graph at a time, in loops."""
    model, data = model.double(), model.prepare(data).apply(lambda x: x.double() if x.is_floating_point() else x)
    size, rows = data.num_nodes, task.rows(data)
    before, influence = model(data), np.zeros((rows, size))
    for v in range(size):
        apart = [float((data.x[v].double() - data.x[w].double()).abs().sum()) for w in range(size)]
        given = data.clone()
        given.x[v] = data.x[int(np.argmax(apart))]
        after = model(given)
        for u in range(rows):
            influence[u, v] = sum(abs(float(a) - float(b)) for a, b in zip(before[u], after[u], strict=True))
    return influence, data


@pytest.mark.parametrize("name", KINDS)
@torch.no_grad()
def test_it_is_what_loops_find_of_every_model(name):
    data = graph(7, 9, seed=1)
    influence, prepared = slow(small(name), data)
    expected = Profile.of([*influence], [*count_hops(prepared.edge_index, 7, range(7))])
    for batch_size in (3, 64):
        found = measure_exchange(small(name), [data], NODE, double=True, batch_size=batch_size, **WHOLE)
        assert found.share == pytest.approx(expected.share, rel=1e-6, abs=1e-9)
        assert (found.rows, found.silent) == (expected.rows, expected.silent)
    assert (found.range is None) == (name == "constant")


def test_on_edges_a_node_is_as_far_as_the_nearer_end():
    data = graph(7, 9, seed=1)
    with torch.no_grad():
        influence, prepared = slow(small("gine", EDGE), data, EDGE)
    ends = prepared.edge_index.numpy()
    hops = count_hops(prepared.edge_index, 7, range(7))
    far = np.where(hops < 0, 99, hops)
    nearer = np.minimum(far[ends[0]], far[ends[1]])
    expected = Profile.of([*influence], [*np.where(nearer == 99, -1, nearer)])
    found = measure_exchange(small("gine", EDGE), [data], EDGE, double=True, **WHOLE)
    assert found.range == pytest.approx(expected.range, rel=1e-9)


def test_a_second_source_brings_nodes_nearer_by_what_it_should():
    data, model = path_graph(9), ghr.load("rgg-sssp-general")
    data.x, data.edge_attr = (torch.arange(9) == 0).float().unsqueeze(1), torch.ones(16, 1)
    with torch.no_grad():
        found = exchange_all(model, model.prepare(data), NODE, [*range(9)], 4, {})
    truth = [[max(0, u - abs(u - v)) for v in range(1, 9)] for u in range(9)]
    assert found[:, 1:] == pytest.approx(np.array(truth), abs=0.02)  # without the first node there is no source at all


def test_what_is_out_of_reach_changes_nothing_not_even_in_rounding():
    data = path_graph(14, edge_dim=1)
    data.x = torch.rand(14, 1, generator=torch.Generator().manual_seed(0))
    for options in ({}, {"initial_state": "random"}):
        model = small("ghr", levels=1, steps=1, t_low=3, **options)
        found = measure_exchange(model, [data], NODE, batch_size=5, **WHOLE)
        assert all(found.share[distance] == 0 for distance in range(4, 14))
        assert found.share[3] > 0


def test_codes_are_exchanged_as_they_are():
    data = random_graph(10, 14, seed=4)
    data.x = torch.arange(10).remainder(3).unsqueeze(1)
    model = MODELS["gine"].for_data([data], NODE, {"hidden_channels": 8, "layers": 1}).eval()
    found = measure_exchange(model, [data], NODE, **WHOLE)
    assert found.within(1) == pytest.approx(1)
    assert found.share[1] > 0


def test_the_most_different_is_the_first_of_them():
    assert find_most_different(torch.tensor([[0.0, 0.0], [1.0, 0.0], [-1.0, 2.0], [3.0, 0.0]])).tolist() == [2, 2, 3, 2]
    assert find_most_different(torch.tensor([[1, 5], [1, 6], [2, 6], [1, 5]])).tolist() == [2, 0, 0, 2]
    assert find_most_different(torch.ones(3, 2)).tolist() == [0, 0, 0]


def test_nodes_that_are_all_alike_are_silent():
    data = graph()
    data.x = torch.ones(12, 1)
    found = measure_exchange(small("gine"), [data], NODE, **WHOLE)
    assert (found.range, found.rows, found.silent) == (None, 0, 12)


def test_model_and_random_numbers_stay_as_they_were():
    model, data = small("ghr"), graph()
    model.train()
    before = torch.random.get_rng_state()
    first = measure_exchange(model, [data, data], NODE, sample=1, nodes=4)
    assert (first.rows, model.training) == (4, True)
    assert torch.equal(torch.random.get_rng_state(), before)
    assert measure_exchange(model, [data, data], NODE, sample=1, nodes=4, steps=4) != first


@pytest.mark.parametrize(
    ("graphs", "task", "options", "words"),
    [
        ([], NODE, {}, "there are none"),
        ([1], NODE, {}, "graphs of PyTorch Geometric"),
        ([graph()], GRAPH, {}, "has no place"),
        ([graph()], NODE, {"nodes": 0}, "nodes must be a whole number"),
        ([graph()], NODE, {"batch_size": 0}, "batch_size must be a whole number"),
        ([graph()], NODE, {"depth": 2}, "has no loops, but depth=2 was given"),
        ([Data(edge_index=torch.zeros(2, 0, dtype=torch.long), num_nodes=2)], NODE, {}, "node features x"),
    ],
)
def test_odd_arguments_are_sentences(graphs, task, options, words):
    with pytest.raises(ValueError, match=words):
        measure_exchange(small("gine"), graphs, task, **options)

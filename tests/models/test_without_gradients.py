"""Without gradients a prediction writes over its states, and nobody sees it but by the memory."""

import pytest
import torch
from torch_geometric.data import Batch

from ghr import GHR, Coarsen, Graclus, NodeReadout, ops
from ghr.bench.graphs import geometric_graph
from ghr.hierarchy import near
from ghr.models.state import State
from ghr.ops import gine


def load(levels=2, graphs=1, *, weighted=False):
    """Graphs with random input; edges that are all alike, or differ."""
    listed = []
    for seed in range(graphs):
        graph = geometric_graph(300, seed=seed)
        generator = torch.Generator().manual_seed(seed)
        graph.x = graph.x.double() + torch.rand(300, 1, generator=generator, dtype=torch.double)
        graph.edge_attr = graph.edge_attr.double()
        if weighted:
            graph.edge_attr = 0.5 + torch.rand(graph.num_edges, 1, generator=generator, dtype=torch.double)
        listed.append(Coarsen(Graclus(rounds=1), levels=levels - 1)(graph) if levels > 1 else graph)
    return Batch.from_data_list(listed) if graphs > 1 else listed[0]


def make(levels=2, **options):
    torch.manual_seed(0)
    loops = {"steps": 3, "t_low": 2} if levels == 1 else {"steps": 3, "t_high": 2, "t_low": 2}
    return GHR(1, 8, 1, edge_dim=1, levels=levels, **loops, **options).double()


@pytest.fixture
def calls(monkeypatch):
    """What was written over, one entry for every loop."""
    over, written = gine._loop_in_place, []
    monkeypatch.setattr(gine, "_loop_in_place", lambda *given: (written.append(given[0].size(0)), over(*given))[1])
    return written


@pytest.mark.parametrize("far", [False, True])
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("graphs", [1, 3])
@pytest.mark.parametrize("levels", [1, 2, 3])
def test_predictions_are_those_with_gradients_and_those_of_pytorch(levels, graphs, weighted, far, monkeypatch, calls):
    if far:
        monkeypatch.setattr(near, "FAR", 20)
    model, data = make(levels), load(levels, graphs, weighted=weighted)
    with_gradients = model.rollout(data)
    assert calls == []
    with ops.using("torch"):
        by_pytorch = model(data).detach()
    with torch.no_grad():
        prediction, every = model(data), model.rollout(data)
    assert calls == [300 * graphs] * (3 * 2 ** (levels - 1))  # the loops of level 0 alone
    torch.testing.assert_close(every, [value.detach() for value in with_gradients], rtol=1e-12, atol=1e-12)
    torch.testing.assert_close(prediction, every[-1], rtol=1e-12, atol=1e-12)
    torch.testing.assert_close(prediction, by_pytorch, rtol=1e-9, atol=1e-12)


@torch.no_grad()
@pytest.mark.parametrize("weighted", [False, True])
def test_states_that_somebody_holds_stay_as_they_are(weighted):
    model, data = make(), load(weighted=weighted)
    state, held = model.initial_state(data), []
    state = State(tuple(value.clone() for value in state.levels))
    for _ in range(3):
        held.append((state, tuple(value.clone() for value in state.levels)))
        prediction, state = model.step(data, state)
    for given, before in held:
        assert all(torch.equal(*pair) for pair in zip(given.levels, before, strict=True))
    torch.testing.assert_close(prediction, model(data), rtol=1e-12, atol=1e-12)


@torch.no_grad()
def test_every_moment_of_a_trace_stays_as_it_was():
    model, data = make(), load()
    moments, before = [], []
    for moment in model.trace(data):
        moments.append(moment.state.low)
        before.append(moment.state.low.clone())
    assert all(torch.equal(*pair) for pair in zip(moments, before, strict=True))
    assert not torch.equal(moments[-1], moments[-2])


class States(NodeReadout):
    """A readout that hands out the states themselves."""

    def forward(self, given):
        return given.state


@torch.no_grad()
def test_predictions_that_are_states_stay_as_they_were():
    model, data = make(readout=States(8, 1)), load()
    state = model.initial_state(data)
    for prediction in model.rollout(data):
        expected, state = model.step(data, state)
        torch.testing.assert_close(prediction, expected, rtol=1e-12, atol=1e-12)


class Remembering(GHR):
    """A model whose states begin with tensors that it keeps."""

    def initial_state(self, data):
        self.first = getattr(self, "first", None) or super().initial_state(data)
        return self.first


@torch.no_grad()
@pytest.mark.parametrize("initial_state", ["learned", "random"])
def test_the_first_state_is_not_written_over(initial_state):
    data = load()
    model = Remembering(1, 8, 1, edge_dim=1, steps=2, initial_state=initial_state).double()
    assert torch.equal(model(data), model(data))


@torch.no_grad()
def test_weights_that_are_the_state_of_a_single_node_stay_as_they_are():
    model = make(levels=1)
    data = load(levels=1)
    single = data.subgraph(torch.tensor([0]))
    before = [value.clone() for value in model.parameters()]
    assert torch.equal(model(single), model(single))
    assert all(torch.equal(*pair) for pair in zip(before, model.parameters(), strict=True))


@torch.no_grad()
def test_a_compiled_prediction_is_the_same():
    model, data = make(), load()
    torch.compiler.reset()
    compiled = torch.compile(model, fullgraph=True, backend="aot_eager")
    torch.testing.assert_close(compiled(data), model(data), rtol=1e-12, atol=1e-12)
    torch.compiler.reset()

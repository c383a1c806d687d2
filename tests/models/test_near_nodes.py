"""Models compute large graphs in another order of their nodes, and nobody sees it but by the clock."""

import pytest
import torch

from ghr import GHR
from ghr.bench.graphs import geometric_graph
from ghr.hierarchy import near
from ghr.nn import NodeReadout
from ghr.nn.readout.scaled import ScaledReadout

OPTIONS = [
    {"conv": "gated_gine", "pool": "max"},
    {"conv": "gine", "pool": "mean", "readout": "graph"},
    {"conv": "gated_gcn", "pool": "sum", "readout": "edge"},
    {"conv": "gcn", "levels": 1},
    {"values": "select", "conv": None},
    {"values": "select", "conv": "gated_gine", "levels": 2},
]


def run(model, data):
    model.zero_grad()
    predictions = model.rollout(data)
    (sum(each.square().mean() for each in predictions) / len(predictions)).backward()
    return predictions, [value.grad for value in model.parameters() if value.grad is not None]


@pytest.mark.parametrize("options", OPTIONS)
def test_predictions_and_gradients_stay_the_same(options, monkeypatch):
    graph = geometric_graph(300)
    graph.x = graph.x.double() + torch.rand(300, 1, dtype=torch.double)
    graph.edge_attr = 0.5 + torch.rand(graph.num_edges, 1, dtype=torch.double)
    torch.manual_seed(0)
    model = GHR(1, 8, 2, edge_dim=1, **options).double()
    data = model.prepare(graph)
    before, grads = run(model, data)
    monkeypatch.setattr(near, "FAR", 20)
    assert model._encode_unseen(data).shown is not None
    after, others = run(model, data)
    torch.testing.assert_close(after, before, rtol=1e-9, atol=1e-12)
    torch.testing.assert_close(others, grads, rtol=1e-7, atol=1e-10)
    torch.testing.assert_close(model(data), before[-1], rtol=1e-9, atol=1e-12)


class Degrees(NodeReadout):
    """A readout of nodes that reads edges and input too."""

    def rows(self, given):
        degree = torch.bincount(given.edge_index[1], minlength=given.state.size(0)).unsqueeze(1)
        return given.state * degree + given.x


@pytest.mark.parametrize("scaled", [False, True])
@pytest.mark.parametrize("kind", [NodeReadout, Degrees])
def test_readouts_of_nodes_stay_the_same(kind, scaled, monkeypatch):
    graph = geometric_graph(300)
    graph.x, graph.edge_attr = torch.rand(300, 1, dtype=torch.double), graph.edge_attr.double()
    torch.manual_seed(0)
    readout = kind(8, 1)
    model = GHR(1, 8, 1, edge_dim=1, readout=ScaledReadout(readout, [2.0], [3.0]) if scaled else readout).double()
    data = model.prepare(graph)
    before = model(data)
    monkeypatch.setattr(near, "FAR", 20)
    torch.testing.assert_close(model(data), before, rtol=1e-9, atol=1e-12)


def test_the_second_list_of_edges_is_let_go(monkeypatch):
    monkeypatch.setattr(near, "FAR", 20)
    model = GHR(1, 8, 1, edge_dim=1)
    encoded = model._encode_unseen(model.prepare(geometric_graph(300)))
    assert [level.edge_index.numel() for level in encoded.levels] == [0, 0]
    assert [edges.edge_index.numel() for edges in encoded.edges] == [0, 0]
    assert encoded.shown.finest.edge_index.numel() > 0


def test_states_that_are_seen_are_in_the_order_of_the_nodes(monkeypatch):
    monkeypatch.setattr(near, "FAR", 20)
    torch.manual_seed(0)
    model = GHR(1, 8, 1, edge_dim=1).double()
    graph = geometric_graph(300)
    graph.x, graph.edge_attr = graph.x.double(), graph.edge_attr.double()
    data = model.prepare(graph)
    state = model.initial_state(data)
    for _ in range(model.steps):
        prediction, state = model.step(data, state)
    torch.testing.assert_close(prediction, model(data), rtol=1e-9, atol=1e-12)
    assert model.encode(data).shown is None

import pytest
import torch
from torch import nn
from torch_geometric.data import Batch

from cases import hierarchy, randomise, relative_error
from ghr.models.network import LayerInput, Network, check_dropout


class Sums(Network):
    """Adds to every node what arrives along its edges, twice."""

    def __init__(self, in_channels, hidden_channels, out_channels, *, edge_dim=None, readout="node", bend=1.0):
        super().__init__(
            in_channels, hidden_channels, out_channels, edge_dim=edge_dim, readout=readout, bend=float(bend)
        )
        self.bend, self.seen = bend, []

    def run(self, state, graph):
        self.seen.append(graph)
        for _ in range(2):
            source, target = graph.edge_index
            rows = state[source] if graph.edge_attr is None else state[source] + graph.edge_attr
            state = state + self.bend * torch.zeros_like(state).index_add(0, target, rows)
        return state


def linear(layer, row):
    return [
        b + sum(w * v for w, v in zip(line, row, strict=True))
        for line, b in zip(layer.weight.tolist(), layer.bias.tolist(), strict=True)
    ]


@pytest.mark.parametrize("edge_dim", [None, 3])
def test_nodes_and_edges_are_encoded_once_and_the_last_states_are_read(edge_dim):
    model = randomise(Sums(2, 4, 2, edge_dim=edge_dim, bend=0.3))
    data = hierarchy(6, 9, levels=1, edge_dim=edge_dim)
    states = [linear(model.node_encoder, row) for row in data.x.tolist()]
    features = [[0.0] * 4 for _ in range(data.num_edges)]
    if edge_dim is not None:
        maps = model.edge_encoder.map
        features = [maps(row).tolist() for row in data.edge_attr]
    for _ in range(2):
        new = [list(state) for state in states]
        for (source, target), feature in zip(data.edge_index.T.tolist(), features, strict=True):
            for c in range(4):
                new[target][c] += 0.3 * (states[source][c] + feature[c])
        states = new
    (layer,) = (part for part in model.readout.mlp if isinstance(part, nn.Linear))
    assert relative_error(model(data), [linear(layer, state) for state in states]) < 1e-12


def test_features_that_are_all_alike_are_a_row_for_every_edge():
    model, data = randomise(Sums(2, 4, 1, edge_dim=3)), hierarchy(6, 9, levels=1)
    data.edge_attr = torch.ones_like(data.edge_attr)
    model(data)
    assert model.seen[-1].edge_attr.shape == (data.num_edges, 4)


def test_layers_see_the_batch():
    model = randomise(Sums(2, 4, 1, readout="graph"))
    data = Batch.from_data_list([hierarchy(5, 6, levels=1, edge_dim=None), hierarchy(3, 2, levels=1, edge_dim=None)])
    assert model(data).shape == (2, 1)
    graph = model.seen[-1]
    assert isinstance(graph, LayerInput)
    assert graph.batch.tolist() == [0] * 5 + [1] * 3
    assert (graph.num_graphs, graph.edge_attr) == (2, None)
    assert graph.data is data


def test_its_own_options_stand_in_the_config_and_build_it_again():
    model = Sums(2, 4, 1, edge_dim=3, readout="graph-mlp", bend=2)
    assert model.config == {
        "in_channels": 2,
        "hidden_channels": 4,
        "out_channels": 1,
        "edge_dim": 3,
        "readout": "graph-mlp",
        "bend": 2.0,
    }
    again = Sums(**model.config)
    assert again.state_dict().keys() == model.state_dict().keys()
    assert model.edge_width == 4
    assert Sums(2, 4, 1).edge_width is None


def test_states_of_another_width_are_read():
    class Wide(Network):
        def __init__(self):
            super().__init__(2, 4, 1, edge_dim=None, readout="node", state_channels=8)

        def run(self, state, graph):
            return torch.cat([state, state], dim=1)

    assert Wide().double()(hierarchy(4, 4, levels=1, edge_dim=None)).shape == (4, 1)


def test_it_has_no_loops_and_a_subclass_says_what_runs():
    data = hierarchy(4, 4, levels=1, edge_dim=None)
    with pytest.raises(ValueError, match="Sums has no loops, but steps=2 was given"):
        Sums(2, 4, 1).double()(data, steps=2)
    with pytest.raises(NotImplementedError):
        Network(2, 4, 1, edge_dim=None, readout="node").double()(data)


@pytest.mark.parametrize("dropout", [1, 1.5, -0.1, "half", float("nan")])
def test_a_probability_that_is_none_is_a_sentence(dropout):
    with pytest.raises(ValueError, match="dropout must"):
        check_dropout(dropout)


def test_a_probability_comes_back_as_a_number():
    assert [check_dropout(value) for value in (0, 0.5)] == [0.0, 0.5]

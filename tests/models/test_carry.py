"""Values that are chosen alike on all levels, against plain loops written from their equations."""

import pytest
import torch
from torch.nn import functional as F
from torch_geometric.data import Batch

import ghr
from cases import relative_error
from ghr import GHR, Coarsen, Graclus, Task
from ghr.hierarchy.centres import CentrePaths
from ghr.models import MODELS
from ghr.nn.values import CarryCell
from ghr.ops import using
from ghr.testing import assert_batch_equals_loop, assert_gradients_reach_all_parameters, path_graph, random_graph


def make(*, seed=0, **options):
    torch.manual_seed(seed)
    given = {"in_channels": 2, "hidden_channels": 6, "out_channels": 1, "conv": None, "edge_dim": 1}
    loops = {"steps": 2, "t_high": 2, "t_low": 2, "value_channels": 3, "value_reach": 2, "levels": 2}
    model = GHR(**{**given, **loops, "values": "select", "value_carry": True, **options}).double().eval()
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.add_(0.3 * torch.randn_like(parameter))
    return model


def graph(nodes=9, edges=14, *, seed=0, lengths=True):
    """An undirected graph whose edges have a length each."""
    data = random_graph(nodes, edges, in_channels=2, edge_dim=1, seed=seed)
    source, target = data.edge_index
    pair = torch.minimum(source, target) * nodes + torch.maximum(source, target)
    length = 0.5 + torch.rand(nodes * nodes, 1, generator=torch.Generator().manual_seed(seed), dtype=torch.double)
    data.x, data.edge_attr = data.x.double(), length[pair] if lengths else None
    return data


def coarsen(data, levels=2):
    return Coarsen(Graclus(rounds=1), CentrePaths(), levels=levels - 1)(data)


def carry_by_loops(model, data):
    """Node by node, as the docstring of the values says it, for any number of levels; what is read last is a mean."""
    cell, levels = model.values.cell, data.levels
    sharp, m = cell.sharpness, model.values.channels
    open_ = [[1 - torch.sigmoid(sharp * cell.gate(cell.gate_input(row).relu())) for row in data.x]]
    for k in range(1, len(levels)):
        members = [
            [gate for gate, cluster in zip(open_[-1], levels[k].assignment.tolist(), strict=True) if cluster == c]
            for c in range(levels[k].num_nodes)
        ]
        open_.append([torch.stack(gates).min(dim=0).values for gates in members])
    values = [[torch.zeros(m, dtype=torch.double) for _ in range(level.num_nodes)] for level in levels]

    def choose(k):
        level, new = levels[k], []
        for node in range(level.num_nodes):
            arrived, logits = [], []
            for edge, (source, target) in enumerate(level.edge_index.T.tolist()):
                if target != node:
                    continue
                length = torch.ones(1, dtype=torch.double) if level.edge_attr is None else level.edge_attr[edge]
                arrived.append(values[k][source] + length * F.softplus(cell.edges.rate))
                hidden = cell.edges.bias + cell.difference(arrived[-1] - values[k][node])
                logits.append(sharp * cell.choice(hidden.relu()))
            if not arrived:
                new.append(open_[k][node] * values[k][node])
                continue
            weight = torch.stack(logits).softmax(dim=0)
            new.append(open_[k][node] * (weight * torch.stack(arrived)).sum(dim=0))
        values[k] = new

    def carry(k, change):
        """Add what changed at the clusters of level `k` to all that is below them."""
        if k == 0:
            return
        below = [change[cluster] for cluster in levels[k].assignment.tolist()]
        values[k - 1] = [value + more for value, more in zip(values[k - 1], below, strict=True)]
        carry(k - 1, below)

    def loop(k):
        """Update level `k` as often as it is in one pass, and what is below it after each."""
        for _ in range(model.t_low if k == 0 else model.t_high):
            before = values[k]
            for _ in range(1 if k == 0 else model.values.reach):
                choose(k)
            if k > 0:
                carry(k, [new - old for new, old in zip(values[k], before, strict=True)])
                loop(k - 1)

    for _ in range(model.steps):
        loop(len(levels) - 1)
    weight = model.readout.weight.softmax(dim=1)
    return model.readout.factor * (torch.stack(values[0]) @ weight.t())


@pytest.mark.parametrize("levels", [2, 3])
@pytest.mark.parametrize("lengths", [True, False])
@pytest.mark.parametrize("backend", ["numba", "torch"])
def test_carried_values_equal_the_loops(levels, lengths, backend):
    model = make(levels=levels, edge_dim=1 if lengths else None)
    model.values.sharpen(2.0)
    data = coarsen(graph(seed=levels, lengths=lengths), levels)
    with using(backend):
        assert relative_error(model(data), carry_by_loops(model, data)) <= 1e-10


def test_a_trace_ends_where_the_model_does():
    model, data = make(levels=3), coarsen(graph(12, 20, seed=4), 3)
    state = model.initial_state(data)
    for _ in range(model.steps):
        _, state = model.step(data, state)
    *_, last = model.trace(data)
    for traced, stepped in zip(last.state.values, state.values, strict=True):
        torch.testing.assert_close(traced, stepped, rtol=1e-10, atol=1e-12)


def test_a_coarse_level_speeds_up_and_never_spoils():
    """Set by hand to count hops: after few updates far nodes are known nearly, and after many exactly."""
    path, exact = path_graph(40), torch.arange(40.0)
    path.x = torch.eye(40)[:, :1]
    flat, carried = counting(levels=1), counting(levels=2, value_carry=True, value_reach=4)
    data = carried.prepare(path)
    far, near = (
        (model(given, steps=6, t_low=2).flatten() - exact).abs().mean()
        for model, given in ((flat, path), (carried, data))
    )
    assert near < 0.2 * far
    torch.testing.assert_close(carried(data, steps=20, t_low=3).flatten(), exact)


def counting(**options):
    """A model whose values are the hops from the marked node."""
    model = GHR(1, 4, 1, conv=None, edge_dim=None, values="select", value_channels=1, t_high=1, **options).eval()
    cell = model.values.cell if model.config["value_carry"] else model.values.cells[0]
    with torch.no_grad():
        for parameter in cell.parameters():
            parameter.zero_()
        if isinstance(cell, CarryCell):
            cell.edges.rate.fill_(50.0)  # of a large number the softplus is the number
        else:
            cell.edges.step[0].weight[0], cell.edges.step[2].weight[0, 0] = 1.0, 50.0
        cell.difference.weight[0], cell.difference.weight[1] = 1.0, -1.0
        cell.choice.weight[0, 0], cell.choice.weight[0, 1] = -100.0, 100.0
        cell.gate_input.weight[0] = 1.0
        cell.gate.weight[0, 0], cell.gate.bias[0] = 200.0, -100.0
        model.readout.factor.fill_(1 / 50)
    return model


def test_twice_the_lengths_are_twice_the_steps():
    """Where nothing else is read, a graph whose edges are twice as long has values twice as large."""
    model = make(levels=2)
    with torch.no_grad():
        cell = model.values.cell
        cell.edges.bias.zero_()
        cell.choice.weight.mul_(1e9)  # a sharp choice, which a factor does not change
    data = graph(seed=3)
    twice = data.clone()
    twice.edge_attr = 2 * data.edge_attr
    torch.testing.assert_close(model(coarsen(twice)), 2 * model(coarsen(data)), rtol=1e-9, atol=1e-9)


def test_batches_gradients_and_saving(tmp_path):
    model = make(levels=2)
    graphs = [coarsen(graph(nodes, 2 * nodes, seed=nodes)) for nodes in (5, 9, 7)]
    assert_batch_equals_loop(model, graphs, rtol=1e-10)
    assert_gradients_reach_all_parameters(model, Batch.from_data_list(graphs))
    model.save_pretrained(tmp_path)
    again = ghr.load(tmp_path).double()
    torch.testing.assert_close(again(graphs[0]), model(graphs[0]), rtol=1e-6, atol=1e-6)


def test_any_number_of_levels_with_the_same_weights():
    model = make(levels=3, share_coarse=True)
    for levels in (2, 3, 4):
        data = coarsen(graph(14, 26, seed=1), levels)
        assert relative_error(model(data), carry_by_loops(model, data)) <= 1e-10


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"levels": 1}, "levels=1"),
        ({"conv": "gine"}, "without control"),
        ({"value_gate": "graph"}, "value_gate='node'"),
        ({"edge_dim": 3}, "one feature"),
        ({"values": "sum"}, "values that are chosen"),
        ({"value_carry": "yes"}, "value_carry"),
    ],
)
def test_what_cannot_be_carried_is_refused(options, words):
    with pytest.raises(ValueError, match=words):
        make(**options)


def test_coarse_edges_of_another_meaning_are_refused():
    data = graph(lengths=False)
    with pytest.raises(ValueError, match="centre_paths"):
        make(edge_dim=None)(Coarsen(Graclus(rounds=1))(data))
    with pytest.raises(ValueError, match="edge_dim=1"):
        make(edge_dim=None)(coarsen(graph()))


def test_data_and_a_benchmark_s_suggestions_lead_to_edges_as_long_as_paths():
    suggested = {"partition": "graclus", "rounds": 2, "edge_reduce": ("min", "mean")}
    options, path = {"levels": 2, "value_carry": True}, path_graph(12)
    model = MODELS["ghr-select"].for_data(path, Task("node"), options, suggested)
    assert model.transform.config["edge_reduce"] == "centre_paths"
    assert model.transform.config["rounds"] == 2
    with pytest.raises(ValueError, match="carries values down from a coarse level; got levels=1"):
        MODELS["ghr-select"].for_data(path, Task("node"), {"value_carry": True}, suggested)

"""Models with values, against plain loops written from their equations."""

import math

import pytest
import torch
from torch_geometric.data import Batch, Data

import ghr
from cases import hierarchy, relative_error
from ghr import GHR, Coarsen, Graclus, GridBlocks, Task
from ghr.hierarchy.lattice import lattice_edges
from ghr.nn.readout.mixture import STEEP
from ghr.nn.values import SweepCell
from ghr.nn.values.sweep import STEEP as STEEP_SCORES
from ghr.testing import (
    assert_batch_equals_loop,
    assert_gradients_reach_all_parameters,
    assert_permutation_equivariant,
    path_graph,
    random_graph,
)

KINDS = ("select", "sum")
CONVS = (None, "gine", "gated_gine", "gcn", "gated_gcn", "gat", "adgn")


def make(values="select", *, seed=0, **options):
    torch.manual_seed(seed)
    given = {
        "in_channels": 2,
        "hidden_channels": 12,
        "out_channels": 2,
        "conv": None,
        "edge_dim": 3,
        "value_channels": 3,
    }
    model = GHR(**{**given, "steps": 2, "t_high": 2, "t_low": 2, "values": values, **options}).double().eval()
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.add_(0.3 * torch.randn_like(parameter))
    return model


def lattice(side, *, seed=0, levels=2):
    x = torch.randn(side * side, 1, generator=torch.Generator().manual_seed(seed), dtype=torch.double)
    return Coarsen(GridBlocks(2), levels=levels)(Data(x=x, edge_index=lattice_edges(side)))


def make_lattice_model(**options):
    given = {"in_channels": 1, "out_channels": 1, "edge_dim": None, "share_coarse": True, "directions": True}
    return make("sum", **{**given, "t_high": 1, "t_low": 1, "steps": 1, **options})


# Chosen values


def linear(layer, row):
    weight = layer.weight.tolist()
    bias = [0.0] * len(weight) if layer.bias is None else layer.bias.tolist()
    return [
        b + sum(w * value for w, value in zip(line, row, strict=True)) for line, b in zip(weight, bias, strict=True)
    ]


def relu(row):
    return [max(0.0, value) for value in row]


def softplus(row):
    return [math.log1p(math.exp(value)) for value in row]


def plus(*rows):
    return [sum(values) for values in zip(*rows, strict=True)]


def choose_by_loops(cell, own, candidates):
    """One node: `candidates` are pairs of values and of an encoder with its features."""
    logits, arrived = [], []
    for value, encoder, features in candidates:
        difference = [theirs - mine for theirs, mine in zip(value, own, strict=True)]
        logit = (lean_by_loops if isinstance(cell, SweepCell) else mix_differences)(cell, encoder, features, difference)
        logits.append([cell.sharpness.item() * value for value in logit])
        step = softplus(linear(encoder.step[2], relu(linear(encoder.step[0], features))))
        arrived.append(plus(value, step * (len(own) // len(step))))
    out = []
    for channel in range(len(own)):
        weight = [math.exp(row[channel]) for row in logits]
        total = sum(w * row[channel] for w, row in zip(weight, arrived, strict=True))
        out.append(total / sum(weight) if weight else own[channel])
    return out


def mix_differences(cell, encoder, features, difference):
    """What a candidate is worth for every channel, from the differences of all."""
    return linear(cell.choice, relu(plus(linear(encoder.base, features), linear(cell.difference, difference))))


def lean_by_loops(cell, encoder, features, difference):
    """What a candidate is worth for every channel, from its own difference in steps of an edge without features."""
    first, _, last = cell.edges.step
    (unit,) = softplus(linear(last, relu(linear(first, [0.0] * cell.edges.edge_dim))))
    above, below = cell.slopes.tolist()
    said = linear(cell.choice, relu(linear(encoder.base, features)))
    return [
        a * max(0.0, d / unit) - b * max(0.0, -d / unit) + word
        for a, b, d, word in zip(above, below, difference, said, strict=True)
    ]


def select_by_loops(model, data):
    """A model with chosen values, without control, as its docstring says it, for any number of levels."""
    levels = data.levels
    values = [[[0.0] * model.values.channels for _ in range(level.num_nodes)] for level in levels]
    updates = (model.t_low, *[model.t_high] * (len(levels) - 1))

    def update(k, above):
        cell, level = model.values.cells[k], levels[k]
        new = []
        for node in range(level.num_nodes):
            candidates = []
            for edge, (source, target) in enumerate(level.edge_index.T.tolist()):
                if target == node:
                    candidates.append((values[k][source], cell.edges, level.edge_attr[edge].tolist()))
            if k > 0:
                for member, cluster in enumerate(level.assignment.tolist()):
                    if cluster == node:
                        candidates.append((values[k - 1][member], cell.members, [1.0]))
            if above is not None:
                candidates.append((above[levels[k + 1].assignment[node]], cell.cluster, [1.0]))
            chosen = choose_by_loops(cell, values[k][node], candidates)
            if k == 0:
                chosen = [v * (1 - rho) for v, rho in zip(chosen, gates[node], strict=True)]
            new.append(chosen)
        values[k] = new

    def loop(k):
        above = values[k + 1] if k + 1 < len(levels) else None
        for _ in range(updates[k]):
            update(k, above)
            if k > 0:
                loop(k - 1)

    for _ in range(model.steps):
        gates = gate_by_loops(model.values.cells[0], levels[0], values[0], data.x.tolist())
        loop(len(levels) - 1)
    size = math.sqrt(sum(v * v for value in values[0] for v in value) / (len(values[0]) * model.values.channels))
    return torch.tensor([mix_by_loops(model.readout, value, size) for value in values[0]], dtype=torch.double)


def gate_by_loops(cell, level, values, x):
    """How much of every value the gates take away, for the nodes of one graph."""
    sharpness = cell.sharpness.item()
    if not isinstance(cell, SweepCell):
        scores = [linear(cell.gate, relu(linear(cell.gate_input, row))) for row in x]
        return [[1 / (1 + math.exp(-sharpness * score)) for score in row] for row in scores]
    encoder = cell.edges.step
    steps = [softplus(linear(encoder[2], relu(linear(encoder[0], row.tolist())))) for row in level.edge_attr]
    unit = sum(step for (step,) in steps) / len(steps)
    scores = []
    for value, row in zip(values, x, strict=True):
        apart = [
            math.tanh((own - end(other[channel] for other in values)) / unit)
            for end in (max, min)
            for channel, own in enumerate(value)
        ]
        hidden = relu(plus(linear(cell.gate_input, row), linear(cell.gate_graph, apart)))
        far = [much * below for much, below in zip(cell.farthest.tolist(), apart, strict=False)]
        scores.append([STEEP_SCORES * score for score in plus(linear(cell.gate, hidden), far)])
    best = [max(column) for column in zip(*scores, strict=True)]
    return [[math.exp(sharpness * (s - top)) for s, top in zip(row, best, strict=True)] for row in scores]


def mix_by_loops(readout, value, size):
    prediction = []
    for column, factor in enumerate(readout.factor.tolist()):
        lean = 0.0 if readout.lean is None else STEEP * float(readout.sharpness * readout.lean[column])
        logits = [w + lean * v / size for w, v in zip(readout.weight[column].tolist(), value, strict=True)]
        total = sum(math.exp(logit) for logit in logits)
        prediction.append(factor * sum(math.exp(logit) * v for logit, v in zip(logits, value, strict=True)) / total)
    return prediction


@pytest.mark.parametrize("levels", [1, 2, 3])
@pytest.mark.parametrize("sharpness", [1.0, 3.0])
def test_select_equals_the_loops(levels, sharpness):
    model, data = make(levels=levels), hierarchy(8, 14, levels=max(levels, 2), seed=levels)
    model.values.sharpen(sharpness)
    given = data if levels > 1 else Data(x=data.x, edge_index=data.edge_index, edge_attr=data.edge_attr)
    expected = select_by_loops(model, given if levels > 1 else _flat(given))
    assert relative_error(model(given), expected) <= 1e-10


@pytest.mark.parametrize("levels", [1, 2])
@pytest.mark.parametrize("sharpness", [1.0, 3.0])
def test_sweeps_equal_the_loops(levels, sharpness):
    model, data = make(levels=levels, value_gate="graph", steps=3), hierarchy(8, 14, seed=5)
    with torch.no_grad():
        model.values.cells[0].slopes.normal_()
    model.values.sharpen(sharpness)
    model.readout.sharpen(sharpness)
    given = data if levels > 1 else Data(x=data.x, edge_index=data.edge_index, edge_attr=data.edge_attr)
    expected = select_by_loops(model, given if levels > 1 else _flat(given))
    assert relative_error(model(given), expected) <= 1e-10


class _Flat:
    def __init__(self, data):
        self.x, self.levels = data.x, ghr.hierarchy.data.levels_of(data)


def _flat(data):
    return _Flat(data)


@pytest.mark.parametrize("size", [1.0, 1e3])
def test_values_keep_their_size(size):
    """Where the gate is closed, adding a number to a channel adds it after any number of updates."""
    model, data = make(levels=1, steps=1, t_low=5), random_graph(9, 20, in_channels=2, edge_dim=3).apply(_double)
    with torch.no_grad():
        model.values.cells[0].gate.bias.fill_(-1e4)
    state = model.initial_state(data)
    shift = size * torch.tensor([1.0, 0.5, -2.0], dtype=torch.double)
    _, plain = model.step(data, state)
    _, shifted = model.step(data, state._replace(values=(state.values[0] + shift,)))
    torch.testing.assert_close(shifted.values[0], plain.values[0] + shift, rtol=1e-9, atol=1e-9)


def _double(value):
    return value.double() if value.is_floating_point() else value


def test_a_node_without_neighbours_keeps_its_value():
    model = make(levels=1, edge_dim=None)
    data = Data(x=torch.zeros(2, 2, dtype=torch.double), edge_index=torch.empty(2, 0, dtype=torch.long))
    assert torch.equal(model(data), torch.zeros(2, 2, dtype=torch.double))


def test_training_makes_the_choice_sharper_and_loading_keeps_it(tmp_path):
    model = GHR(1, 4, 1, conv=None, levels=1, values="select", value_sharpness=9.0)
    seen = []
    for progress in (0.0, 0.5, 0.675, 0.85, 1.0):
        model.anneal(progress)
        seen.append(model.values.cells[0].sharpness.item())
    assert seen == pytest.approx([1, 1, 3, 9, 9])
    model.save_pretrained(tmp_path)
    assert ghr.load(tmp_path).values.cells[0].sharpness.item() == 9
    model.reset_parameters()
    assert model.values.cells[0].sharpness.item() == 1


def test_sweeps_start_at_the_farthest_node_and_are_read_by_a_maximum_that_becomes_sharp(tmp_path):
    ends = 0
    for seed in range(5):
        torch.manual_seed(seed)
        model = GHR(1, 16, 1, conv=None, levels=1, values="select", value_gate="graph", steps=3, t_low=20)
        path = path_graph(20)
        path.x = torch.randn(20, 1)
        state = model.initial_state(path)
        for _ in range(model.steps):
            _, state = model.step(path, state)
        starts = (state.values[0] == 0).int().argmax(dim=0)
        ends += int(((starts == 0) | (starts == 19)).sum())
    assert ends >= 32, "of 40 channels most start at an end of the path, before any training"
    model.anneal(1.0)
    model.save_pretrained(tmp_path)
    again = ghr.load(tmp_path)
    assert again.readout.sharpness.item() == again.values.cells[0].sharpness.item() == 6
    again.reset_parameters()
    assert again.readout.sharpness.item() == 1


def test_gates_can_read_the_extremes_of_each_graph_alone():
    model = make(levels=1, value_gate="graph")
    graphs = [random_graph(n, 2 * n, in_channels=2, edge_dim=3, seed=n).apply(_double) for n in (5, 9, 7)]
    assert_batch_equals_loop(model, graphs, rtol=1e-10)
    assert_permutation_equivariant(model, graphs[1])


def test_a_channel_starts_at_one_node_of_every_graph():
    """The node of the best score has a value of exactly zero, whatever the weights are."""
    model = make(levels=1, value_gate="graph", steps=2)
    graphs = [random_graph(n, 2 * n, in_channels=2, edge_dim=3, seed=n).apply(_double) for n in (5, 9)]
    for graph in graphs:
        _, state = model.step(graph, model.initial_state(graph))
        assert torch.equal((state.values[0] == 0).any(dim=0), torch.ones(3, dtype=torch.bool))


def test_the_farthest_node_can_be_the_next_source():
    """Two sweeps by hand: the first from the marked node, the second from the end that it found farthest."""
    model = GHR(1, 4, 1, conv=None, levels=1, values="select", value_channels=2, value_gate="graph", steps=2, t_low=9)
    cell = model.values.cells[0]
    with torch.no_grad():
        for parameter in cell.parameters():
            parameter.zero_()
        cell.edges.step[2].bias.fill_(math.log(math.e - 1))  # steps of one
        cell.slopes.fill_(-50.0)  # the smaller is chosen
        cell.gate_input.weight[0] = 1.0
        cell.gate.weight[0, 0] = 5.0  # the first channel starts at the mark
        cell.gate_graph.weight[1, 0] = 1.0  # the second where the first was largest
        cell.gate_graph.bias[1] = 1.0
        cell.gate.weight[1, 1] = 5.0
    data = path_graph(8)
    data.x = torch.eye(8)[:, 2:3]
    _, state = model.step(data, model.initial_state(data))
    _, state = model.step(data, state)
    torch.testing.assert_close(state.values[0][:, 0], (torch.arange(8.0) - 2).abs())
    torch.testing.assert_close(state.values[0][:, 1], 7 - torch.arange(8.0))


# Values that are added up


def sum_by_loops(model, data):
    """A sum on lattices, as its docstring says it: a matrix per place and per offset."""
    cell, levels = model.values.cell, data.levels
    m = cell.channels
    sides = [math.isqrt(level.num_nodes) for level in levels]
    down = cell.pool.weight.view(4, m, m)
    up = cell.unpool.matrices.view(9, m, 4, m)
    source = [data.x @ cell.lift.weight.t()]
    for k in range(1, len(levels)):
        sums = torch.zeros(levels[k].num_nodes, m, dtype=torch.double)
        for node in range(levels[k - 1].num_nodes):
            row, column = divmod(node, sides[k - 1])
            sums[row // 2 * sides[k] + column // 2] += source[-1][node] @ down[row % 2 * 2 + column % 2]
        source.append(sums)
    moved = None
    for k in reversed(range(len(levels))):
        kind = 0 if k == 0 else 2 if k + 1 == len(levels) else 1
        reach = cell.reaches[kind]
        weight = cell.stencils[kind].weight.view(2 * reach + 1, 2 * reach + 1, m, m)
        new = torch.zeros(levels[k].num_nodes, m, dtype=torch.double)
        for node in range(levels[k].num_nodes):
            row, column = divmod(node, sides[k])
            for a in range(-reach, reach + 1):
                for b in range(-reach, reach + 1):
                    other = (row + a) % sides[k] * sides[k] + (column + b) % sides[k]
                    new[node] += source[k][other] @ weight[a + reach, b + reach]
            if moved is not None:
                side, place = sides[k + 1], row % 2 * 2 + column % 2
                for number, (a, b) in enumerate((a, b) for a in (-1, 0, 1) for b in (-1, 0, 1)):
                    cluster = (row // 2 + a) % side * side + (column // 2 + b) % side
                    new[node] += moved[cluster] @ up[number, :, place]
        moved = new
    weight = data.x @ model.readout.map.weight.t()
    return (weight * moved).sum(dim=1, keepdim=True)


@pytest.mark.parametrize("levels", [1, 2])
def test_sums_on_lattices_equal_the_loops(levels):
    model, data = make_lattice_model(value_reach=1), lattice(8, levels=levels)
    assert relative_error(model(data), sum_by_loops(model, data)) <= 1e-10


def test_sums_are_linear_in_the_input_and_so_is_the_readout():
    model, data = make_lattice_model(), lattice(8)
    twice = data.clone()
    twice.x = 2 * data.x
    torch.testing.assert_close(model(twice), 4 * model(data))


def test_lattices_of_other_sizes_and_mixed_batches():
    model = make_lattice_model()
    graphs = [lattice(side, seed=side) for side in (8, 16, 8)]
    assert_batch_equals_loop(model, graphs, rtol=1e-10)
    assert model(lattice(16, levels=3)).shape == (256, 1)


def test_a_shift_by_whole_blocks_of_the_coarsest_level_shifts_the_prediction():
    model, data = make_lattice_model(), lattice(8)
    shifted = data.clone()
    shifted.x = data.x.view(8, 8).roll((4, -4), (0, 1)).reshape(-1, 1)
    torch.testing.assert_close(model(shifted), model(data).view(8, 8).roll((4, -4), (0, 1)).reshape(-1, 1))


def test_other_graphs_are_refused_with_directions():
    data = Coarsen(Graclus(rounds=1))(random_graph(16, 30, in_channels=1)).apply(_double)
    with pytest.raises(ValueError, match="periodic square lattice"):
        make_lattice_model()(data)


def test_more_steps_feed_back_what_the_last_one_arrived_at():
    model, data = make_lattice_model(), lattice(8)
    assert not torch.allclose(model(data, steps=2), model(data))
    with torch.no_grad():
        model.values.cell.feedback.weight.zero_()
    torch.testing.assert_close(model(data, steps=2), model(data))
    assert model.loops == ("steps",)


def test_training_batches_are_shifted_only_where_places_are_told_apart():
    batch = Batch.from_data_list([lattice(8, seed=seed) for seed in range(2)])
    assert not torch.equal(make_lattice_model().augment(batch).x, batch.x)
    assert make(levels=1).augment(batch) is batch


# Both, with any control, on any task


@pytest.mark.parametrize("conv", CONVS)
@pytest.mark.parametrize("values", KINDS)
def test_laws_with_any_control(values, conv):
    model = make(values, conv=conv, levels=3)
    graphs = [hierarchy(n, 2 * n, levels=3, seed=n) for n in (5, 12, 9)]
    assert_batch_equals_loop(model, graphs, rtol=1e-9)
    assert_permutation_equivariant(model, graphs[1], rtol=1e-8)
    if (values, conv) != ("select", "gated_gcn"):  # it updates edges, but those of the control are new at every update
        assert_gradients_reach_all_parameters(model, graphs[1])


@pytest.mark.parametrize("readout", ["node", "graph", "edge", "node-mlp", "graph-mlp", "edge-mlp"])
@pytest.mark.parametrize("conv", [None, "gated_gine"])
@pytest.mark.parametrize("values", KINDS)
def test_all_readouts(values, conv, readout, tmp_path):
    model, data = make(values, conv=conv, readout=readout), hierarchy(8, 14)
    rows = {"node": data.num_nodes, "graph": 1, "edge": data.num_edges}[readout.partition("-")[0]]
    prediction = model(data)
    assert prediction.shape == (rows, 2)
    model.save_pretrained(tmp_path)
    assert torch.equal(ghr.load(tmp_path)(data), prediction)
    assert [part.shape for part in model.rollout(data, steps=3)] == [(rows, 2)] * 3


@pytest.mark.parametrize("values", KINDS)
def test_state_in_and_state_out(values):
    model, data = make(values, conv="gine"), hierarchy(8, 14)
    state = model.initial_state(data)
    assert [tuple(value.shape) for value in state.values] == [(level.num_nodes, 3) for level in data.levels]
    expected = model.rollout(data)
    for prediction in expected:
        found, state = model.step(data, state)
        assert torch.equal(found, prediction)


@pytest.mark.parametrize("values", KINDS)
def test_codes_and_classes(values):
    data = random_graph(9, 20, in_channels=2, edge_dim=2, seed=0)
    data.x, data.edge_attr = torch.randint(4, (9, 2)), torch.randint(3, (data.num_edges, 2))
    task = Task("node", out_channels=5, loss="cross_entropy", metric="accuracy")
    for conv in (None, "gine"):
        model = GHR.for_data(data, task, values=values, conv=conv, hidden_channels=4)
        assert model.config["readout"] == "node-mlp"
        assert model(model.prepare(data)).shape == (9, 5)


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"conv": None}, "conv=None is for models with values"),
        ({"values": "product"}, "Unknown values 'product'; known are select, sum"),
        ({"values": "select", "value_gate": "x"}, "Unknown value_gate 'x'"),
        ({"values": "select", "value_gate": "graph"}, "value_gate='graph' is for values without control"),
        ({"values": "select", "value_channels": 0}, "value_channels must be a whole number of at least 1"),
        ({"values": "sum", "value_reach": 99}, "value_reach must be a whole number of at most 16"),
        ({"values": "select", "time_informed": True}, "time_informed is for models without values"),
        ({"values": "select", "directions": True}, "directions are for values that are added up"),
        ({"directions": True}, "directions are for values that are added up"),
        ({"values": "sum", "scale_law": 1.0}, "scale_law is for lattices"),
        ({"values": "sum", "directions": True, "scale_law": -1.0}, "scale_law must be a finite number of at least 0"),
        ({"values": "select", "value_sharpness": 0.5}, "value_sharpness must be a finite number of at least 1"),
    ],
)
def test_options_that_make_no_sense_are_sentences(options, sentence):
    with pytest.raises(ValueError, match=sentence):
        GHR(1, 4, 1, **options)


def test_the_model_of_the_paper_has_no_values():
    model = GHR(1, 4, 1)
    assert model.values is None
    assert not any(name.startswith("values") for name in model.state_dict())
    assert model.initial_state(Coarsen(Graclus(rounds=1))(path_graph(6))).values == ()

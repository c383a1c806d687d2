from types import SimpleNamespace

import numpy as np
import pytest
import torch
from analysis_cases import EDGE, GRAPH, KINDS, NODE, graph, small, three_levels
from torch_geometric.data import Data

import ghr
from ghr import MODELS, GraphModel, Task
from ghr.analysis import Profile, count_hops, measure_range, range_of
from ghr.datasets import LRIM
from ghr.datasets.generators.ising import couplings
from ghr.hierarchy.data import levels_of
from ghr.nn import GraphReadout, NodeReadout
from ghr.testing import path_graph, random_graph

WHOLE = {"nodes": 100, "sample": 100}


class Linear(GraphModel):
    """A kernel K on the nodes of a path, y = K x a; of a graph the squared sum of it."""

    def __init__(self, kernel, width=1, level="node"):
        super().__init__()
        self.register_buffer("kernel", kernel)
        self.mix = torch.nn.Parameter(torch.arange(1.0, width + 1).unsqueeze(1))
        self.in_channels, self.level = width, level
        self.readout = NodeReadout(1, 1) if level == "node" else GraphReadout(1, 1)
        with torch.no_grad():
            for parameter in self.readout.parameters():
                parameter.fill_(1.0)

    def rollout(self, data, **loops):
        self.check_loops(loops)
        size = len(self.kernel)
        x = data.x.reshape(-1, size, data.x.size(1))
        state = (self.kernel @ x @ self.mix).reshape(-1, 1)
        predicted = self.read(data, state)
        return [predicted if self.level == "node" else predicted.square()]


def dense(model, data, task, through):
    """The sizes of a dense Jacobian, by torch.autograd.functional, as they are defined."""
    reads = []

    def at(x):
        given = data.clone()
        given.x = x
        return model(given)

    x = data.x.clone()
    if task.level != "graph":
        return torch.autograd.functional.jacobian(at, x).abs().sum(dim=(1, 3))
    if through == "hessian":
        columns = range(task.out_channels)
        found = [torch.autograd.functional.hessian(lambda x, c=c: at(x)[0, c], x) for c in columns]
        return torch.stack(found).abs().sum(dim=(0, 2, 4))
    handle = model.readout.register_forward_pre_hook(lambda _, given: reads.append(given[0]))

    def states(x):
        reads.clear()
        at(x)
        return reads[-1].state

    slope = torch.autograd.functional.jacobian(states, x)  # (u, k, v, i)
    reads.clear()
    at(x)
    last = reads[-1]
    read = torch.autograd.functional.jacobian(lambda state: model.readout(last._replace(state=state)), last.state)
    handle.remove()
    return torch.einsum("cuk,ukvi->cuvi", read[0], slope).abs().sum(dim=(0, 3))


def expect(sizes, hops):
    """The range as it is defined, from dense sizes, row by row."""
    found = []
    for row, size in enumerate(sizes.numpy()):
        near = hops[row] >= 0
        if size[near].sum() > 0:
            found.append((size[near] * hops[row][near]).sum() / size[near].sum())
    return np.mean(found)


def in_double(model, data):
    return model.double(), model.prepare(data).apply(lambda part: part.double() if part.is_floating_point() else part)


@pytest.mark.parametrize("name", ["ghr", "ghr-select", "gated-gcn", "gps-rwse", "swan"])
@pytest.mark.parametrize("case", [(NODE, "readout"), (EDGE, "readout"), (GRAPH, "readout"), (GRAPH, "hessian")])
def test_it_is_that_of_the_dense_jacobian(name, case):
    task, through = case
    if name == "ghr-select" and case == (GRAPH, "readout"):
        pytest.skip("its readout reads values, for which the slow version has no place")
    model, data = in_double(small(name, task), graph(7, 9, seed=1))
    with torch.nn.attention.sdpa_kernel(torch.nn.attention.SDPBackend.MATH):
        sizes = dense(model, data, task, through)
    hops = count_hops(data.edge_index, 7, range(7))
    if task is EDGE:
        ends = data.edge_index.numpy()
        both = np.stack([hops[ends[0]], hops[ends[1]]])
        hops = np.where(both < 0, 99, both).min(axis=0)
        hops[hops == 99] = -1
    found = measure_range(model, [data], task, through=through, **WHOLE)
    assert found.range == pytest.approx(expect(sizes, hops), rel=1e-9)
    assert found.rows == int((sizes.sum(dim=1) > 0).sum())


@pytest.mark.parametrize("name", KINDS)
def test_every_model_has_one_and_a_batch_is_its_graphs_one_by_one(name):
    model, graphs = small(name), [graph(5 + seed, 9, seed=seed) for seed in range(3)]
    together, alone = (
        measure_range(model, graphs, NODE, nodes=3, double=True, batch_size=size, seed=2) for size in (8, 1)
    )
    assert together.rows + together.silent == 9
    if together.range is None:
        assert name in ("constant", "min-plus")  # which only asks whether a node is marked clearly enough
        assert alone.range is None
        return
    assert together.range == pytest.approx(alone.range, rel=1e-9, abs=1e-12)
    assert together.share == pytest.approx(alone.share, rel=1e-9, abs=1e-12)
    assert sum(together.share.values()) == pytest.approx(1)


def test_a_kernel_of_known_width_has_the_range_it_should():
    hops = torch.from_numpy(count_hops(path_graph(9).edge_index, 9, range(9))).double()
    kernel = -(2.0**-hops)
    data = path_graph(9)
    data.x = torch.rand(9, 2)
    sizes = kernel.abs()
    expected = float(((sizes * hops).sum(1) / sizes.sum(1)).mean())
    found = measure_range(Linear(kernel.float(), 2).eval(), [data, data.clone()], NODE, double=True, **WHOLE)
    assert found.range == pytest.approx(expected, rel=1e-9)
    assert found.even == pytest.approx(float(hops.mean()))
    assert found.within(8) == pytest.approx(1)


def test_of_a_whole_graph_both_ways_by_hand():
    kernel, data = torch.diag(torch.arange(1.0, 6.0)), path_graph(5)
    data.x = torch.ones(5, 1)
    model = Linear(kernel, level="graph").eval()
    # Each state is made of its own node; the square multiplies all of them with each other.
    assert measure_range(model, [data], GRAPH, double=True, **WHOLE).range == 0
    hops, weight = count_hops(data.edge_index, 5, range(5)), 1.2 * np.arange(1.0, 6.0)  # their sum and their mean
    weight[4] += 5  # and their maximum
    expected = np.mean([(weight * row).sum() / weight.sum() for row in hops])
    found = measure_range(model, [data], GRAPH, through="hessian", double=True, **WHOLE)
    assert found.range == pytest.approx(expected, rel=1e-6)


@pytest.mark.parametrize(("name", "task"), [("gine", NODE), ("gated-gcn", NODE), ("gine", GRAPH), ("gcn", EDGE)])
def test_a_stack_sees_no_further_than_it_has_layers(name, task):
    for layers in (1, 2, 4):
        found = measure_range(small(name, task, layers=layers), [path_graph(14, edge_dim=1)], task, **WHOLE)
        assert all(found.share[distance] == 0 for distance in range(layers + 1, 14) if distance in found.share)
        assert found.share[layers] > 0


def test_a_node_by_itself_has_no_range_and_a_coarse_level_brings_some():
    data = path_graph(14, edge_dim=1)
    assert measure_range(small("mlp"), [data], NODE, **WHOLE).range == 0
    flat, pooled = (measure_range(small("ghr", levels=k, t_low=1), [data], NODE, **WHOLE) for k in (1, 3))
    assert flat.share[3] == flat.share[13] == 0
    assert min(pooled.share.values()) > 0


def test_codes_are_followed_through_all_that_reads_them():
    data = random_graph(10, 14, seed=4)
    data.x = torch.arange(10).remainder(3).unsqueeze(1)
    data.edge_attr = torch.arange(data.num_edges).remainder(2).unsqueeze(1)
    torch.manual_seed(0)
    for name in ("ghr", "ghr-select", "ghr-sum", "gine"):
        model = small_for(name, data)
        found = measure_range(model, [data], NODE, **WHOLE)
        assert found.range > 0
        assert found.rows == 10
        for parameter in model.parameters():
            parameter.requires_grad_(False)
        assert measure_range(model, [data], NODE, **WHOLE) == found
    model = small_for("gine", data, layers=1)
    assert set(measure_range(model, [data], NODE, **WHOLE).share) >= {0, 1, 2}
    assert measure_range(model, [data], NODE, **WHOLE).within(1) == pytest.approx(1)


def small_for(name, data, **options):
    return MODELS[name].for_data([data], NODE, {"hidden_channels": 8, **options} if name != "ghr-sum" else {}).eval()


def test_truth_values_are_numbers():
    data = graph()
    data.x = data.x > 0.5
    floats = data.clone()
    floats.x = data.x.float()
    model = small("gine")
    assert measure_range(model, [data], NODE, **WHOLE) == measure_range(model, [floats], NODE, **WHOLE)


def test_what_is_drawn_depends_on_the_seed_alone_and_leaves_the_model_as_it_was():
    model, graphs = small("ghr"), [graph(30, 45, seed=seed) for seed in range(6)]
    prepared = [model.prepare(data) for data in graphs]
    model.train()
    before = torch.random.get_rng_state()
    first = measure_range(model, graphs, NODE, sample=3, nodes=4)
    assert measure_range(model, prepared, NODE, sample=3, nodes=4) == first
    assert measure_range(model, graphs, NODE, sample=3, nodes=4, seed=1) != first
    assert (first.rows, model.training) == (12, True)
    assert torch.equal(torch.random.get_rng_state(), before)
    assert all(value.grad is None for value in model.parameters())
    assert not graphs[0].x.requires_grad
    exact = measure_range(model, graphs, NODE, sample=3, nodes=4, double=True)
    assert exact.range == pytest.approx(first.range, rel=1e-3)
    assert next(model.parameters()).dtype == torch.float32


def test_only_nodes_that_count_are_looked_at():
    data = path_graph(9, edge_dim=1)
    data.mask = torch.arange(9) == 0
    found = measure_range(small("gine"), [data], NODE, **WHOLE)
    assert found.rows == 1
    assert max(found.share) == 8


def test_memory_that_is_saved_and_loops_change_only_what_they_should():
    data = [graph(20, 30)]
    plain, saving = (measure_range(small("ghr", checkpoint=flag), data, NODE, double=True) for flag in (False, True))
    assert saving.range == pytest.approx(plain.range, rel=1e-9)
    further = measure_range(small("ghr"), data, NODE, double=True, steps=4)
    assert further.range != pytest.approx(plain.range, rel=1e-3)


def test_the_one_number_of_a_run():
    model, data = three_levels(), graph()
    run = SimpleNamespace(model=model, task=NODE)
    assert range_of(run, data, nodes=5, steps=1) == measure_range(model, [data], NODE, nodes=5, steps=1).range
    assert range_of(SimpleNamespace(model=small("constant"), task=NODE), [data, data]) is None


def test_several_outputs_add_up():
    task = Task("node", out_channels=3)
    model, data = in_double(small("gine", task), graph())
    sizes = dense(model, data, task, "readout")
    expected = expect(sizes, count_hops(data.edge_index, 12, range(12)))
    assert measure_range(model, [data], task, **WHOLE).range == pytest.approx(expected, rel=1e-9)


def test_graphs_of_patches_have_no_states_of_nodes():
    model = small("graph-vit", GRAPH)
    with pytest.raises(ValueError, match="does not read nodes"):
        measure_range(model, [graph()], GRAPH)
    assert measure_range(model, [graph()], GRAPH, through="hessian", nodes=2, double=True).rows > 0


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"nodes": 0}, "nodes must be a whole number"),
        ({"sample": 1.5}, "sample must be a whole number"),
        ({"through": "walls"}, "through"),
        ({"double": "yes"}, "double"),
        ({"seed": -1}, "seed"),
        ({"depth": 2}, "has no loops, but depth=2 was given"),
    ],
)
def test_odd_arguments_are_sentences(options, words):
    with pytest.raises(ValueError, match=words):
        measure_range(small("gine"), [graph()], NODE, **options)


def test_odd_graphs_are_sentences_or_answers():
    model = small("gine")
    for graphs, words in (([], "there are none"), ([1], "graphs of PyTorch Geometric")):
        with pytest.raises(ValueError, match=words):
            measure_range(model, graphs, NODE)
    bare = Data(edge_index=torch.zeros(2, 0, dtype=torch.long), num_nodes=2)
    with pytest.raises(ValueError, match="node features x"):
        measure_range(model, [bare], NODE)
    assert measure_range(small("constant"), [bare], NODE).range is None
    other = graph()
    other.length = torch.ones(12)
    with pytest.raises(ValueError, match="cannot form a batch"):
        measure_range(model, [other, graph()], NODE)
    lonely = Data(x=torch.ones(1, 1), edge_index=torch.zeros(2, 0, dtype=torch.long), edge_attr=torch.zeros(0, 1))
    assert measure_range(model, [lonely], NODE).range in (0.0, None)
    assert levels_of(lonely)[0].num_nodes == 1


def test_the_bundled_model_of_lattices_has_the_range_of_the_true_energies(tmp_path):
    side, graphs = 16, LRIM(tmp_path, 16, 0.6, "test", num_graphs=2)
    coupling, influence = couplings(side, 0.6), []
    hops = count_hops(graphs[0].edge_index, side**2, range(side**2))
    for data in graphs:
        spins = data.x.view(side, side).double().numpy()
        for node in range(side**2):
            kernel = np.roll(coupling, divmod(node, side), axis=(0, 1))
            size = kernel.flatten()
            size[node] = abs((kernel * spins).sum())  # by its own spin
            influence.append(size)
    truth = Profile.of(influence, [*hops, *hops])
    found = measure_range(ghr.load("lrim-16-hard"), graphs, graphs.task, **{**WHOLE, "nodes": side**2})
    assert found.range == pytest.approx(truth.range, rel=0.01)
    assert found.share == pytest.approx(truth.share, abs=0.005)

import math
from dataclasses import dataclass

import pytest
import torch
from scipy.sparse import csr_array
from scipy.sparse.csgraph import dijkstra
from torch_geometric.data import Batch, Data

from cases import randomise, relative_error
from ghr import CentrePaths, Coarsen, Graclus, MinPlusGHR, ops
from ghr.testing import (
    assert_batch_equals_loop,
    assert_gradients_reach_all_parameters,
    assert_permutation_equivariant,
    path_graph,
    random_graph,
)


def graph(num_nodes=20, pairs=30, *, levels=2, weighted=True, seed=0, in_channels=1, rounds=1):
    data = random_graph(num_nodes, pairs, in_channels=in_channels, edge_dim=1 if weighted else None, seed=seed)
    data.x = torch.zeros(num_nodes, in_channels).double()
    data.x[seed % num_nodes, 0] = 1
    if weighted:
        data.edge_attr = data.edge_attr.abs().double() + 0.1
    if levels == 1:
        return data
    coarse = Coarsen(Graclus(rounds=rounds), CentrePaths(), levels=levels - 1)(data)
    return coarse.apply(lambda value: value.double() if value.is_floating_point() else value)


def small(**options):
    torch.manual_seed(0)
    return randomise(MinPlusGHR(**{"hidden_channels": 4, "steps": 2, "t_low": 2, **options}), scale=0.2).eval()


def bellman_ford(**options):
    """A model that only scales."""
    model = small(**options)
    with torch.no_grad():
        model.cell.mix_in.weight.zero_()
        model.readout.weight /= float((torch.nn.functional.softplus(model.cell.rate) * model.readout.weight).sum())
    return model


@dataclass
class ByLoops:
    """The recurrence in plain loops, one level's states as lists of rows."""

    model: MinPlusGHR

    def __post_init__(self):
        self.w = {name: value.tolist() for name, value in self.model.state_dict().items()}
        self.width = range(self.model.cell.channels)
        self.rate = [math.log1p(math.exp(value)) for value in self.w["cell.rate"]]

    def predict(self, data, steps, counts):
        levels = data.levels if hasattr(data, "levels") else [None]
        self.assign, self.r, self.edges, sizes = [None], [None], [], [data.num_nodes]
        for k, level in enumerate(levels):
            attr = data.edge_attr if k == 0 else level.edge_attr
            index = data.edge_index if k == 0 else level.edge_index
            cost = [1.0] * index.size(1) if attr is None else attr[:, 0].tolist()
            self.edges.append([(*ends, e) for ends, e in zip(index.T.tolist(), cost, strict=True)])
            if k > 0:
                self.assign.append(level.assignment.tolist())
                self.r.append(level.centre_distance.tolist())
                sizes.append(level.num_nodes)
        length = [e for *_, e in self.edges[0]]
        self.cap = data.num_nodes * (max(length) * max(self.rate) if length else 1.0)
        self.x = data.x.tolist()
        nothing = [[[self.cap] * len(self.width) for _ in range(size)] for size in sizes]
        self.h = [[self.update(row, i, 0) for i, row in enumerate(nothing[0])], *nothing[1:]]
        for _ in range(steps):
            self.loop(len(self.h) - 1, counts)
        return [
            [sum(r * h for r, h in zip(w, row, strict=True)) for w in self.w["readout.weight"]] for row in self.h[0]
        ]

    def loop(self, k, counts):
        for _ in range(counts[k]):
            new = []
            for i in range(len(self.h[k])):
                ways = [[self.cap] * len(self.width)]
                ways += [self.along(self.h[k][s], e) for s, t, e in self.edges[k] if t == i]
                if k > 0:
                    below = enumerate(self.h[k - 1])
                    ways += [self.along(row, self.r[k][j]) for j, row in below if self.assign[k][j] == i]
                if k + 1 < len(self.h):
                    ways.append(self.along(self.h[k + 1][self.assign[k + 1][i]], self.r[k + 1][i]))
                new.append(self.update([min(way[c] for way in ways) for c in self.width], i, k))
            self.h[k] = new
            if k > 0:
                self.loop(k - 1, counts)

    def along(self, row, e):
        return [row[c] + self.rate[c] * e for c in self.width]

    def update(self, a, i, k):
        first, last, mean = self.w["cell.mix_in.weight"], self.w["cell.mix_out.weight"], sum(a) / len(a)
        hidden = [max(0.0, sum(first[c][d] * (a[d] - mean) for d in self.width)) for c in self.width]
        row = []
        for c in self.width:
            value = a[c] + sum(last[c][d] * hidden[d] for d in self.width)
            if k == 0:
                marks = zip(self.x[i], self.w["cell.mark"], strict=True)
                value -= self.cap * sum(x * math.log1p(math.exp(v[c])) for x, v in marks)
            row.append(min(max(0.0, value), self.cap))
        return row


@pytest.mark.parametrize("backend", ["torch", "numba"])
@pytest.mark.parametrize("weighted", [True, False])
@pytest.mark.parametrize(("levels", "t_high"), [(1, None), (2, 1), (2, 3), (3, (2, 1)), (4, 1)])
def test_equals_the_loops(backend, weighted, levels, t_high):
    model = small(levels=min(levels, 2), out_channels=2, in_channels=2)
    data = graph(levels=levels, weighted=weighted, in_channels=2)
    counts = [2, *([t_high] * (levels - 1) if isinstance(t_high, int) else t_high or ())]
    with ops.using(backend):
        ours = model(data, t_high=t_high)
    assert relative_error(ours, ByLoops(model).predict(data, 2, counts)) <= 1e-12


@pytest.mark.parametrize("levels", [1, 2, 3])
def test_one_node_and_no_edges(levels):
    model = small(levels=levels)
    for nodes in (1, 3):
        data = Data(x=torch.eye(nodes)[:, :1].double(), edge_index=torch.empty(2, 0, dtype=torch.long))
        data = data if levels == 1 else Coarsen(Graclus(), CentrePaths(), levels=levels - 1)(data)
        data = data.apply(lambda value: value.double() if value.is_floating_point() else value)
        expected = ByLoops(model).predict(data, 2, [2, *[1] * (levels - 1)])
        assert relative_error(model(data), expected) <= 1e-12


@pytest.mark.parametrize("levels", [1, 2, 3])
def test_both_backends_have_the_same_gradients(levels):
    model, data, results = small(), graph(levels=levels), []
    model.levels = min(levels, 2)
    for backend in ("numba", "torch"):
        with ops.using(backend):
            prediction = model(data)
        weight = torch.linspace(-1, 2, prediction.numel(), dtype=torch.double).view_as(prediction)
        results.append([prediction, *torch.autograd.grad((prediction * weight).sum(), model.parameters())])
    for ours, theirs in zip(*results, strict=True):
        assert relative_error(ours, theirs) <= 1e-10


# What it is for


def shortest(data):
    length = torch.ones(data.num_edges).double() if data.edge_attr is None else data.edge_attr[:, 0]
    table = csr_array((length.numpy(), tuple(data.edge_index.numpy())), shape=(data.num_nodes,) * 2)
    return torch.from_numpy(dijkstra(table, indices=int(data.x[:, 0].argmax())))


@pytest.mark.parametrize("weighted", [True, False])
@pytest.mark.parametrize("levels", [1, 2, 3])
def test_without_mixing_it_settles_at_the_shortest_paths_on_any_number_of_levels(weighted, levels):
    model = bellman_ford(levels=min(levels, 2))
    for seed in range(4):
        data = graph(60, 80, levels=levels, weighted=weighted, seed=seed, rounds=2)
        distance = shortest(data)
        near = distance.isfinite()
        assert relative_error(model(data, steps="auto")[near, 0], distance[near]) <= 1e-12
        assert relative_error(model(data, steps=99)[near, 0], distance[near]) <= 1e-12, "further steps change nothing"


def test_a_coarse_level_gets_there_in_fewer_steps():
    long = path_graph(120)
    flat = bellman_ford(levels=1, steps=10, t_low=2)
    two = bellman_ford(steps=10, t_low=2)
    data = Coarsen(Graclus(rounds=3), CentrePaths())(long)
    data = data.apply(lambda value: value.double() if value.is_floating_point() else value)
    reached = [(model(data)[:, 0] - torch.arange(120)).abs() < 1e-9 for model in (flat, two)]
    assert int(reached[0].sum()) == 21
    assert int(reached[1].sum()) > 50


@pytest.mark.parametrize("backend", ["torch", "numba"])
def test_with_learned_lengths_it_does_what_it_does_with_these_lengths_given(backend):
    model, data = small(levels=1, edge_dim=2), graph(levels=1)
    data.edge_attr = torch.randn(data.num_edges, 2, generator=torch.Generator().manual_seed(1)).double()
    given = data.clone()
    given.edge_attr = model.length(data.edge_attr).detach()
    with ops.using(backend):
        assert relative_error(model(data), ByLoops(model).predict(given, 2, [2])) <= 1e-12
        with torch.no_grad():
            model.cell.mark.fill_(-1)  # a source that is not cut off at zero
        assert_gradients_reach_all_parameters(model, data)


# Laws


@pytest.mark.parametrize("levels", [1, 2, 3])
def test_laws(levels):
    model = small(levels=min(levels, 2), t_high=2)
    assert_permutation_equivariant(model, graph(levels=levels), rtol=1e-10)
    assert_batch_equals_loop(model, [graph(n, 2 * n, levels=levels, seed=n) for n in (5, 12, 9)], rtol=1e-10)


@pytest.mark.parametrize("levels", [1, 2])
def test_gradients_reach_all_parameters(levels):
    model = small(levels=levels)
    with torch.no_grad():
        model.cell.mark.fill_(-1)  # a source that is not cut off at zero
    assert_gradients_reach_all_parameters(model, graph(levels=levels))


def test_steps_states_and_checkpoints():
    model, data = small(steps=3), graph()
    expected, state = model.rollout(data), model.initial_state(data)
    encoded = model.encode(data)
    assert model.encode(encoded) is encoded
    for prediction in expected:
        ours, state = model.step(encoded, state)
        assert torch.equal(ours, prediction)
    saving = small(steps=3, checkpoint=True)
    saving.load_state_dict(model.state_dict())
    grads = [torch.autograd.grad(each(data).sum(), each.parameters(), allow_unused=True) for each in (model, saving)]
    for ours, theirs in zip(*grads, strict=True):
        torch.testing.assert_close(ours, theirs)


def test_the_cap_is_jittered_in_training_only():
    model = small(cap_jitter=3.0)
    data = Batch.from_data_list([graph(6, 9, seed=s) for s in range(200)])
    still = model.encode(data).caps[0]
    assert torch.equal(still, model.encode(data).caps[0])
    ratio = (model.train().encode(data).caps[0] / still).log() / math.log(3)
    assert 0 <= float(ratio.min()) < 0.05
    assert 0.95 < float(ratio.max()) <= 1
    assert abs(float(ratio.mean()) - 0.5) < 0.1


def test_no_path_is_too_long():
    """A chain is as long as a graph can be, and a heavy edge on a cloud of light ones as uneven as can be."""
    torch.manual_seed(0)
    model = MinPlusGHR(hidden_channels=4, levels=1).eval()
    with torch.no_grad():
        model.cell.mix_out.weight.zero_()
        model.cell.rate.copy_(torch.tensor([-2.0, 0.0, 1.0, 3.0]))
        rate = torch.nn.functional.softplus(model.cell.rate)
        model.readout.weight.copy_((torch.eye(4) / rate)[3:])  # the channel that scales most
    chain = path_graph(60)
    assert torch.allclose(model(chain, steps="auto").flatten(), torch.arange(60.0))
    pairs = torch.combinations(torch.arange(20)).T
    pairs = torch.cat([pairs, torch.tensor([[19], [20]])], dim=1)
    length = torch.full((191, 1), 0.01)
    length[-1] = 100.0
    lopsided = Data(
        x=torch.eye(21)[:, :1], edge_index=torch.cat([pairs, pairs.flip(0)], 1), edge_attr=torch.cat([length, length])
    )
    assert model(lopsided, steps="auto")[-1].item() == pytest.approx(100.01)


def test_the_penalty_is_that_of_the_mixing():
    model = small(sparsity=0.5)
    expected = model.cell.mix_in.weight.abs().sum() + model.cell.mix_out.weight.abs().sum()
    assert model.penalty(graph()).item() == pytest.approx(0.5 * expected.item())


@pytest.mark.parametrize("readout", ["proportional", "node-mlp"])
def test_saved_and_loaded_it_is_the_same(tmp_path, readout):
    model, data = small(readout=readout, t_high=(2,)), graph()
    model.save_pretrained(tmp_path)
    again = MinPlusGHR.from_pretrained(tmp_path).eval()
    assert torch.equal(model(data), again(data))
    assert again.config == model.config
    assert "MinPlusGHR(hidden_channels=4" in repr(again)


def test_what_does_not_fit_gets_a_sentence():
    model = small()
    data = graph()
    del data.level1_centre_distance
    with pytest.raises(ValueError, match=r"coarsen the graph with Coarsen\(\.\.\., CentrePaths\(\)\)"):
        model(data)
    data = graph()
    data.x = 5 * data.x
    with pytest.raises(ValueError, match="reads marks between 0 and 1; x runs from 0 to 5"):
        model(data)
    data = graph()
    data.edge_attr = -data.edge_attr
    with pytest.raises(ValueError, match="cannot be negative; level 0 has one of -"):
        model(data)
    data.edge_attr = data.edge_attr.abs().repeat(1, 2)
    with pytest.raises(ValueError, match="one length per edge, but level 0 has 2 edge features"):
        model(data)
    with pytest.raises(ValueError, match="2 features per edge, but level 0 has 1 edge features"):
        small(levels=1, edge_dim=2)(graph(levels=1))
    with pytest.raises(ValueError, match=r"\(edge_dim\) need levels=1.*got levels=2"):
        MinPlusGHR(edge_dim=2)
    with pytest.raises(ValueError, match="cap_jitter must be"):
        MinPlusGHR(cap_jitter=0.5)
    with pytest.raises(ValueError, match="sparsity must be"):
        MinPlusGHR(sparsity=-1)
    with pytest.raises(ValueError, match="no coarse level"):
        model(graph(levels=1))

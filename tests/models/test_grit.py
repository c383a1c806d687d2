import math

import pytest
import torch
from torch_geometric.data import Batch

from cases import hierarchy, randomise, relative_error
from ghr import MODELS, Task, memory
from ghr.models import GRIT
from ghr.nn.grit import GRITLayer
from ghr.testing import (
    assert_batch_equals_loop,
    assert_gradients_reach_all_parameters,
    assert_permutation_equivariant,
    path_graph,
    random_graph,
)
from ghr.transforms import RelativeRandomWalk
from ghr.transforms.pairs import all_pairs


def small(**options) -> GRIT:
    torch.manual_seed(0)
    given = {"in_channels": 2, "hidden_channels": 6, "out_channels": 2, "layers": 2, "walk_steps": 5, **options}
    model = randomise(GRIT(**given), scale=0.2)
    generator = torch.Generator().manual_seed(1)
    for name, buffer in model.named_buffers():
        if name.endswith(("running_mean", "running_var")):
            buffer += 0.5 * torch.rand(buffer.shape, generator=generator, dtype=torch.double)
    return model.eval()


def normalise(norm, x):
    return (x - norm.running_mean) / (norm.running_var + norm.eps).sqrt() * norm.weight + norm.bias


def slow_layer(layer, x, e, degree):
    """The equations of one graph: x is a list of nodes, e a table of pairs (target, source)."""
    size, width = len(x), layer.width
    hat, logit = {}, {}
    for i, j in e:
        factor, shift = layer.pair(e[i, j]).chunk(2)
        s = (layer.query(x[i]) + layer.key(x[j])) * factor
        hat[i, j] = (s.sign() * s.abs().sqrt() + shift).relu()
        for head in range(layer.heads):
            own = hat[i, j][head * width : (head + 1) * width]
            value = sum(layer.score[c, head, 0].item() * own[c].item() for c in range(width))
            logit[i, j, head] = min(max(value, -5.0), 5.0)
    nodes, pairs = [], {}
    for i in range(size):
        parts, nothing = [], torch.zeros(width, dtype=torch.double)
        near = [j for j in range(size) if (i, j) in e]
        for head in range(layer.heads):
            own = slice(head * width, (head + 1) * width)
            total = sum(math.exp(logit[i, j, head]) for j in near)
            share = {j: math.exp(logit[i, j, head]) / total for j in near}
            read = sum((share[j] * layer.value(x[j])[own] for j in near), nothing)
            seen = sum((share[j] * hat[i, j][own] for j in near), nothing)
            parts.append(read + seen @ layer.pair_value[:, head, :])
        o = torch.cat(parts)
        scale, by_degree = layer.degree_scale[0].unbind(1)
        h = normalise(layer.norm, x[i] + layer.node_out(o * scale + math.log(1 + degree[i]) * o * by_degree))
        nodes.append(normalise(layer.ffn_norm, h + layer.ffn(h)))
    for key in hat:
        pairs[key] = e[key] if layer.pair_out is None else normalise(layer.pair_norm, e[key] + layer.pair_out(hat[key]))
    return nodes, pairs


def slow_prediction(model, data):
    size = data.num_nodes
    walk = torch.zeros(size, size, dtype=torch.double)
    for u, v in data.edge_index.T.tolist():
        walk[u, v] += 1
    walk = walk / walk.sum(dim=1, keepdim=True).clamp(min=1)
    powers = torch.stack([torch.linalg.matrix_power(walk, k) for k in range(model.walk_steps)], dim=2)
    x = [model.node_encoder(data.x[i]) + model.node_walk.weight @ powers[i, i] for i in range(size)]
    e = {(i, j): model.pair_walk.weight @ powers[i, j] for i in range(size) for j in range(size)}
    if model.pairs == "edges":
        e = {(v, u): e[v, u] for u, v in data.edge_index.T.tolist()}
    degree = [0] * size
    for number, (u, v) in enumerate(data.edge_index.T.tolist()):
        degree[v] += 1
        if data.edge_attr is not None:
            e[v, u] = e[v, u] + model.edge_encoder.map(data.edge_attr[number])
    for layer in model.layers:
        x, e = slow_layer(layer, x, e, degree)
    return model.readout.mlp(torch.stack(x))


@pytest.mark.parametrize(("num_nodes", "num_edges"), [(7, 9), (1, 0), (3, 0)])
@pytest.mark.parametrize("edge_dim", [3, None])
@pytest.mark.parametrize("pairs", ["all", "edges"])
def test_equals_the_equations(num_nodes, num_edges, edge_dim, pairs):
    model = small(edge_dim=edge_dim, pairs=pairs)
    data = hierarchy(num_nodes, num_edges, levels=1, edge_dim=edge_dim)
    assert relative_error(model(data), slow_prediction(model, data)) <= 1e-10


@pytest.mark.parametrize("pairs", ["all", "edges"])
@pytest.mark.parametrize(("readout", "level"), [("node", "node"), ("graph", "graph"), ("edge-mlp", "edge")])
def test_laws(readout, level, pairs):
    model = small(edge_dim=3, readout=readout, pairs=pairs)
    assert_permutation_equivariant(model, hierarchy(), level=level, rtol=1e-10)
    assert_batch_equals_loop(model, [hierarchy(n, n + 2, seed=n) for n in (4, 1, 9)], rtol=1e-10)
    assert_gradients_reach_all_parameters(model, hierarchy(12, 18))
    assert_gradients_reach_all_parameters(small(readout=readout, edge_dim=3, pairs=pairs).train(), hierarchy(12, 18))


def test_along_edges_a_layer_reaches_one_hop():
    data = path_graph(6)
    data.x = torch.rand(6, 2, dtype=torch.double, requires_grad=True)
    model = small(pairs="edges")
    model(data)[0].sum().backward()
    assert (data.x.grad.abs().sum(dim=1) > 0).tolist() == [True] * 3 + [False] * 3


def test_single_precision_codes_and_training():
    model = GRIT([4, 3], 8, 1, layers=2, edge_dim=[5])
    data = path_graph(6)
    data.x, data.edge_attr = torch.randint(3, (6, 2)), torch.randint(5, (data.num_edges, 1))
    assert model(data).dtype == torch.float32
    assert not torch.equal(model(data), model(data))  # dropout
    with pytest.raises(ValueError, match="cannot be trained on a single node"):
        GRIT(1, 4, 1)(path_graph(1))


def layer_case():
    torch.manual_seed(0)
    layer = randomise(GRITLayer(6, 2, dropout=0.0, attention_dropout=0.0), scale=1.0).eval()
    return layer, torch.randn(5, 6).double(), all_pairs(5), 3 * torch.randn(25, 6).double(), torch.rand(5, 1).double()


def test_weights_add_up_to_one_and_logits_are_bounded():
    layer, x, pairs, state, _ = layer_case()
    raised = 100 * layer.raise_pairs(x, pairs, state)
    logits = layer.rate(raised)
    assert logits.abs().max() == 5
    total = torch.zeros(5, 2).double().index_add(0, pairs[1], layer.weigh(raised, pairs[1], 5))
    torch.testing.assert_close(total, torch.ones(5, 2).double())


def test_nodes_and_pairs_follow_a_renumbering():
    layer, x, pairs, state, degree = layer_case()
    nodes, states = layer(x, pairs, state, degree)
    order = torch.randperm(5)
    turned = state.view(5, 5, 6)[order][:, order].flatten(0, 1)
    other_nodes, other_states = layer(x[order], pairs, turned, degree[order])
    torch.testing.assert_close(other_nodes, nodes[order])
    torch.testing.assert_close(other_states, states.view(5, 5, 6)[order][:, order].flatten(0, 1))


def test_the_slope_of_the_root_at_zero_is_zero():
    layer, x, pairs, state, degree = layer_case()
    with torch.no_grad():
        layer.query.weight.zero_()
        layer.query.bias.zero_()
        layer.key.weight.zero_()
    layer(x, pairs, state, degree)[0].sum().backward()
    assert torch.isfinite(layer.pair.weight.grad).all()


def test_stored_walks_give_the_same():
    model = small(edge_dim=3).float()
    graphs = [random_graph(n, 2 * n, in_channels=2, edge_dim=3, seed=n) for n in (5, 1, 8)]
    stored = Batch.from_data_list([RelativeRandomWalk(5)(graph) for graph in graphs])
    torch.testing.assert_close(model(stored), model(Batch.from_data_list(graphs)))
    with pytest.raises(ValueError, match=r"reads rrwp of shape \(90, 5\); got \(90, 4\)"):
        model(Batch.from_data_list([RelativeRandomWalk(4)(graph) for graph in graphs]))


def test_save_and_load(tmp_path):
    model, data = small(edge_dim=3, walk_steps=7), hierarchy()
    model.save_pretrained(tmp_path)
    assert torch.equal(GRIT.from_pretrained(tmp_path).eval()(data), model(data))


@pytest.mark.parametrize("budget", [15_000, 500_000])
@pytest.mark.parametrize("level", ["node", "graph"])
def test_budgets(budget, level):
    model = MODELS["grit"].for_data(random_graph(6, 9, edge_dim=1), Task(level), {"budget": budget})
    assert abs(model.num_parameters - budget) <= budget / 10


def test_it_says_its_memory_before_it_fails(monkeypatch):
    model, data = small(edge_dim=3), hierarchy()
    monkeypatch.setattr(memory, "physical_memory", lambda: 10_000)
    with pytest.raises(ValueError, match=r"Attention over all pairs of 9 nodes in 1 graphs needs [\d,]+ GiB of memory"):
        model(data)
    with pytest.raises(
        ValueError, match=r"reads random walks between all pairs of 9 nodes in 1 graphs needs [\d,]+ GiB"
    ):
        small(edge_dim=3, pairs="edges")(data)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"layers": 0}, "layers must be a whole number of at least 1; got 0"),
        ({"heads": 4}, "hidden_channels must be a multiple of heads=4; got 6"),
        ({"pairs": "some"}, "Unknown pairs 'some'; known are all, edges"),
        ({"walk_steps": 0}, "walk_steps must be a whole number of at least 1; got 0"),
        ({"attention_dropout": 1.0}, r"dropout must lie in \[0, 1\); got 1.0"),
    ],
)
def test_bad_options_are_sentences(options, words):
    with pytest.raises(ValueError, match=words):
        small(**options)

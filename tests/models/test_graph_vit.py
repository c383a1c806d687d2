import math

import pytest
import torch
from torch_geometric.data import Batch

from cases import hierarchy, randomise, relative_error
from ghr import MODELS, Task
from ghr.models import GraphViT
from ghr.nn.patches import copy_patches, overlap, patch_walks
from ghr.testing import (
    assert_batch_equals_loop,
    assert_gradients_reach_all_parameters,
    assert_permutation_equivariant,
    path_graph,
    random_graph,
)


def small(**options) -> GraphViT:
    torch.manual_seed(0)
    given = {"in_channels": 2, "hidden_channels": 6, "out_channels": 2, "layers": 2, "patches": 4, **options}
    model = randomise(GraphViT(**given), scale=0.2)
    generator = torch.Generator().manual_seed(1)
    for name, buffer in model.named_buffers():
        if name.endswith(("running_mean", "running_var")):
            buffer += 0.5 * torch.rand(buffer.shape, generator=generator, dtype=torch.double)
    return model.eval()


def normalise(norm, x):
    return (x - norm.running_mean) / (norm.running_var + norm.eps).sqrt() * norm.weight + norm.bias


def mapped(block, x):
    return normalise(block[1], block[0].weight @ x).relu()


def mean(rows):
    return sum(rows) / len(rows)


def slow_layer(layer, copies, edges):
    """Copies are a dictionary (patch, node) -> state."""
    patches = sorted({patch for patch, _ in copies})
    if layer.patch_map is not None:
        told = {p: mapped(layer.patch_map, mean([x for (q, _), x in copies.items() if q == p])) for p in patches}
        copies = {(p, i): x + told[p] for (p, i), x in copies.items()}
        shared = {i: mean([x for (_, j), x in copies.items() if i == j]) for _, i in copies}
        copies = {(p, i): shared[i] for p, i in copies}
    new = {}
    for (p, i), x in copies.items():
        total = (1 + layer.conv.epsilon) * x
        for u, v, e in edges:
            if v == i and (p, u) in copies:
                message = copies[p, u] if e is None else copies[p, u] + layer.conv.edge(e)
                total = total + message.relu()
        first, norm, _, last = layer.conv.update
        y = last(normalise(norm, first(total)).relu())
        new[p, i] = layer.linear(x + normalise(layer.norm, y).relu())
    return new


def slow_mixer(mixer, tokens, c):
    """Tokens are a dictionary patch -> state, c the overlap of any two."""
    width = mixer.channels // mixer.heads
    normed = {p: mixer.norm(x) for p, x in tokens.items()}
    new = {}
    for p, x in tokens.items():
        parts = []
        for head in range(mixer.heads):
            own = slice(head * width, (head + 1) * width)
            query = mixer.query(normed[p])[own]
            score = {q: math.exp((query @ mixer.key(normed[q])[own]).item() / width**0.5) for q in tokens}
            total = sum(score.values())
            parts.append(sum(c[p, q] * score[q] / total * mixer.value(normed[q])[own] for q in tokens))
        x = x + mixer.out(torch.cat(parts))
        new[p] = x + mixer.ffn(mixer.ffn_norm(x))
    return new


def slow_prediction(model, data, *, graph):
    member = data.patches.tolist()
    inside = [(p, i) for i in range(data.num_nodes) for p in range(model.patches) if member[i][p]]
    attr = (
        [None] * data.num_edges if data.edge_attr is None else [model.edge_encoder.map(row) for row in data.edge_attr]
    )
    edges = [(u, v, e) for (u, v), e in zip(data.edge_index.T.tolist(), attr, strict=True)]
    walks = data.rwse.double()
    state = [model.node_encoder(data.x[i]) + mapped(model.walk_map, walks[i]) for i in range(data.num_nodes)]
    copies = {(p, i): state[i] for p, i in inside}
    for layer in model.layers:
        copies = slow_layer(layer, copies, edges)
    patches = sorted({p for p, _ in inside})
    c = {(p, q): sum(row[p] and row[q] for row in member) for p in patches for q in patches}
    size = {p: sum(c[p, q] for q in patches) for p in patches}
    walk = torch.tensor([[c[p, q] / size[p] for q in patches] for p in patches], dtype=torch.double)
    tokens = {}
    for number, p in enumerate(patches):
        back = [torch.linalg.matrix_power(walk, k)[number, number] for k in range(1, model.patch_steps + 1)]
        tokens[p] = mean([x for (q, _), x in copies.items() if q == p])
        tokens[p] = tokens[p] + mapped(model.patch_walk_map, torch.stack(back))
    for mixer in model.mixers:
        tokens = slow_mixer(mixer, tokens, c)
    if graph:
        rows = torch.stack(list(tokens.values()))
        return model.readout.mlp(torch.cat([rows.amax(0), rows.mean(0), rows.sum(0)])[None])
    nodes = [mean([x + tokens[p] for (p, j), x in copies.items() if j == i]) for i in range(data.num_nodes)]
    return model.readout.mlp(torch.stack(nodes))


@pytest.mark.parametrize(("num_nodes", "num_edges"), [(9, 11), (1, 0), (3, 0)])
@pytest.mark.parametrize(("edge_dim", "readout"), [(3, "node"), (None, "graph")])
def test_equals_the_equations(num_nodes, num_edges, edge_dim, readout):
    model = small(edge_dim=edge_dim, readout=readout)
    data = model.prepare(hierarchy(num_nodes, num_edges, levels=1, edge_dim=edge_dim))
    assert relative_error(model(data), slow_prediction(model, data, graph=readout == "graph")) <= 1e-10


@pytest.mark.parametrize(("readout", "level"), [("node", "node"), ("graph", "graph"), ("edge-mlp", "edge")])
def test_laws(readout, level):
    model = small(edge_dim=3, readout=readout)
    graphs = [model.prepare(hierarchy(n, n + 2, seed=n)) for n in (9, 1, 5)]
    assert_permutation_equivariant(model, graphs[0], level=level, rtol=1e-10)  # with the patches that it has
    assert_batch_equals_loop(model, graphs, rtol=1e-10)
    assert_gradients_reach_all_parameters(model, model.prepare(hierarchy(12, 18)))
    assert_gradients_reach_all_parameters(small(readout=readout, edge_dim=3).train(), model.prepare(hierarchy(12, 18)))


def test_one_patch_and_no_mixers_are_message_passing_and_a_mean():
    model = small(patches=1, mixer_layers=0, readout="graph", edge_dim=3)
    with torch.no_grad():
        model.patch_walk_map[1].weight.zero_()
        model.patch_walk_map[1].bias.fill_(-1)  # a ReLU follows
    data = model.prepare(hierarchy())
    copies = copy_patches(data.patches, data.edge_index, torch.zeros(9, dtype=torch.long))
    assert torch.equal(copies.node, torch.arange(9))
    x = model.node_encoder(data.x) + model.walk_map(data.rwse.double())
    edge_attr = model.edge_encoder.map(data.edge_attr)
    for layer in model.layers:
        if layer.patch_map is not None:
            x = x + layer.patch_map(x.mean(dim=0, keepdim=True))
        x = layer.linear(x + layer.norm(layer.conv(x, data.edge_index, edge_attr)).relu())
    pooled = x.mean(dim=0)
    expected = model.readout.mlp(pooled.repeat(3)[None])
    assert relative_error(model(data), expected) <= 1e-10


def test_copies_of_a_node_average():
    model = small(layers=2)
    data = model.prepare(hierarchy(edge_dim=None))
    data.patches = torch.ones_like(data.patches)  # all patches alike: copies of a node agree, so averaging is no change
    one = small(layers=2, patches=1)
    single = one.prepare(hierarchy(edge_dim=None))
    copies = copy_patches(data.patches, data.edge_index, torch.zeros(9, dtype=torch.long))
    alone = copy_patches(single.patches, data.edge_index, torch.zeros(9, dtype=torch.long))
    x = torch.randn(9, 6).double()
    many, few = model.layers[1](x[copies.node], copies, None, 9), model.layers[1](x, alone, None, 9)
    torch.testing.assert_close(many, few[copies.node])


def test_copies_and_their_overlap():
    member = torch.tensor([[1, 1, 0], [0, 1, 0], [1, 0, 0], [0, 0, 1]]).bool()
    batch = torch.tensor([0, 0, 0, 1])
    copies = copy_patches(member, torch.tensor([[0, 1, 2, 1], [1, 0, 0, 2]]), batch)
    assert copies.node.tolist() == [0, 0, 1, 2, 3]
    assert copies.filled.tolist() == [0, 1, 5]
    assert copies.patch.tolist() == [0, 1, 1, 0, 2]
    assert copies.edge_index.T.tolist() == [[1, 2], [2, 1], [3, 0]]  # 1 -> 2 is in no patch
    assert copies.edge.tolist() == [0, 1, 2]
    shared = overlap(member, batch, 2)
    assert shared[0].tolist() == [[2, 1, 0], [1, 2, 0], [0, 0, 0]]
    assert torch.allclose(patch_walks(shared, 2)[0], torch.tensor([[2 / 3, 5 / 9], [2 / 3, 5 / 9], [0, 0]]))


def test_graphs_of_a_batch_do_not_see_each_other():
    model = small(edge_dim=3)
    first, second, other = (model.prepare(hierarchy(seed=seed)) for seed in (1, 2, 3))
    together, changed = (model(Batch.from_data_list([first, beside]))[:9] for beside in (second, other))
    assert relative_error(changed, together) <= 1e-12


def test_every_node_reads_every_other_where_patches_overlap():
    model = small(in_channels=1)
    path = model.prepare(path_graph(7))

    def predict(x):
        given = path.clone()
        given.x = x
        return model(given)[:, 0]

    jacobian = torch.autograd.functional.jacobian(predict, torch.randn(7, 1).double())
    assert (jacobian.abs().sum(dim=2) != 0).all()


def test_single_precision_codes_diffusion_and_training():
    model = GraphViT([4, 3], 8, 1, layers=2, edge_dim=[5], diffusion=2, dropout=0.5)
    data = path_graph(6)
    data.x, data.edge_attr = torch.randint(3, (6, 2)), torch.randint(5, (data.num_edges, 1))
    data = model.prepare(data)
    assert model(data).dtype == torch.float32
    assert not torch.equal(model(data), model(data))
    one = GraphViT(1, 4, 1)
    with pytest.raises(ValueError, match="cannot be trained on a single patch"):
        one(one.prepare(path_graph(1)))


def test_save_and_load(tmp_path):
    model = small(edge_dim=3, mixer_layers=1, patches=5)
    data = model.prepare(hierarchy())
    model.save_pretrained(tmp_path)
    loaded = GraphViT.from_pretrained(tmp_path).eval()
    assert torch.equal(loaded(data), model(data))
    assert repr(loaded.transform) == repr(model.transform)


@pytest.mark.parametrize("name", ["graph-vit", "gps-rwse", "gps-laplacian"])
@pytest.mark.parametrize("budget", [15_000, 500_000])
@pytest.mark.parametrize("level", ["node", "graph"])
def test_budgets(name, budget, level):
    model = MODELS[name].for_data(random_graph(6, 9, edge_dim=1), Task(level), {"budget": budget})
    assert abs(model.num_parameters - budget) <= budget / 10


def test_graphs_must_be_prepared():
    model = small(edge_dim=3)
    with pytest.raises(ValueError, match=r"The graph has no patches; prepare it: model\.prepare\(graph\)"):
        model(hierarchy())
    data = model.prepare(hierarchy())
    data.patches[3] = False
    with pytest.raises(ValueError, match="A node is in no patch"):
        model(data)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"mixer_layers": -1}, "mixer_layers must be a whole number of at least 0; got -1"),
        ({"heads": 4}, "hidden_channels must be a multiple of heads=4; got 6"),
        ({"patches": 0}, "count must be a whole number of at least 1; got 0"),
    ],
)
def test_bad_options_are_sentences(options, words):
    with pytest.raises(ValueError, match=words):
        small(**options)

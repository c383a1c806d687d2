import copy

import pytest
import torch
from torch_geometric.data import Batch
from torch_geometric.nn import GINEConv, GPSConv

from cases import hierarchy, randomise, relative_error
from ghr import GPS, memory, ops
from ghr.models.gps import GPSLayer
from ghr.nn import CONVS, GINE, attention
from ghr.nn.encodings import LaplacianEncoder, WalkEncoder
from ghr.testing import (
    assert_batch_equals_loop,
    assert_gradients_reach_all_parameters,
    assert_permutation_equivariant,
    path_graph,
)


def small(**options) -> GPS:
    """A model in double precision and evaluation mode, whose batch norms have seen other numbers than zero and one."""
    torch.manual_seed(0)
    given = {"in_channels": 2, "hidden_channels": 6, "out_channels": 2, "layers": 2, "heads": 2, **options}
    model = randomise(GPS(**given), scale=0.15)
    generator = torch.Generator().manual_seed(1)
    for name, buffer in model.named_buffers():
        if name.endswith(("running_mean", "running_var")):
            buffer += 0.5 * torch.rand(buffer.shape, generator=generator, dtype=torch.double)
    return model.eval()


def normalise(norm, x):
    """Batch norm with the statistics it has gathered."""
    scale = norm.module.weight / (norm.module.running_var + norm.module.eps).sqrt()
    return (x - norm.module.running_mean) * scale + norm.module.bias


def attend(attention, x):
    """Multi-head attention over the rows of one graph, head by head and row by row."""
    width = x.size(1) // attention.num_heads
    query, key, value = (x @ attention.in_proj_weight.T + attention.in_proj_bias).chunk(3, dim=1)
    out = torch.zeros_like(x)
    for head in range(attention.num_heads):
        part = slice(head * width, (head + 1) * width)
        for i in range(x.size(0)):
            score = torch.stack([query[i, part] @ key[j, part] for j in range(x.size(0))]) / width**0.5
            weight = score.exp() / score.exp().sum()
            out[i, part] = sum(weight[j] * value[j, part] for j in range(x.size(0)))
    return out @ attention.out_proj.weight.T + attention.out_proj.bias


def expected_prediction(model, data):
    """The equations of the docstring, one graph."""
    edge_attr = None if data.edge_attr is None else model.edge_encoder.map(data.edge_attr)
    h = model.node_encoder(data.x)
    for layer, norm in zip(model.layers, model.norms, strict=True):
        z = h / (h.square().mean(dim=1, keepdim=True) + 1e-6).sqrt() * norm.weight
        local = normalise(layer.norm1, z + layer.conv(z, data.edge_index, edge_attr))
        y = local + normalise(layer.norm2, z + attend(layer.attn, z))
        h = h + normalise(layer.norm3, y + layer.mlp(y))
    return model.readout.mlp(h)


@pytest.mark.parametrize(("conv", "edge_dim"), [("gine", 3), ("gine", None), ("gat", 3), ("gated_gine", 3)])
def test_equals_the_equations(conv, edge_dim):
    model, data = small(conv=conv, edge_dim=edge_dim), hierarchy(edge_dim=edge_dim)
    assert relative_error(model(data), expected_prediction(model, data)) <= 1e-10


def test_the_layer_is_pyg_s_with_pyg_s_gine():
    """With the same weights, GPSConv around PyG's own GINEConv gives the same."""
    model, data = small(edge_dim=3, layers=1), hierarchy()
    ours = model.layers[0]
    update = copy.deepcopy(ours.conv.update)
    theirs = GPSConv(6, GINEConv(update, train_eps=True, edge_dim=6).double(), heads=2, dropout=0.3).double().eval()
    weights = {
        name.replace("conv.epsilon", "conv.eps")
        .replace("conv.edge.", "conv.lin.")
        .replace("conv.update.", "conv.nn."): value
        for name, value in ours.state_dict().items()
    }
    weights["conv.eps"] = weights["conv.eps"].reshape(theirs.conv.eps.shape)
    theirs.load_state_dict(weights)
    x, edge_attr = torch.randn(9, 6, dtype=torch.double), torch.randn(data.num_edges, 6, dtype=torch.double)
    batch = torch.tensor([0, 0, 0, 0, 1, 2, 2, 2, 2])
    start = torch.tensor([0, 4, 5, 9])
    expected = theirs(x, data.edge_index, batch, edge_attr=edge_attr)
    assert relative_error(ours(x, data.edge_index, edge_attr, start), expected) <= 1e-12


@pytest.mark.parametrize("conv", CONVS)
def test_laws(conv):
    model = small(conv=conv, edge_dim=3)
    assert_permutation_equivariant(model, hierarchy(), rtol=1e-10)
    assert_batch_equals_loop(model, [hierarchy(n, n + 2, seed=n) for n in (4, 9, 6)], rtol=1e-10)
    if conv != "gated_gcn":  # nobody reads the edges that its layers return
        assert_gradients_reach_all_parameters(small(conv=conv, edge_dim=3), hierarchy(12, 18))


@pytest.mark.parametrize("readout", ["graph", "edge-mlp"])
def test_other_readouts(readout):
    model = small(readout=readout, edge_dim=3)
    assert_permutation_equivariant(model, hierarchy(), level=readout.removesuffix("-mlp"), rtol=1e-10)


def test_edges_that_are_all_alike_are_encoded_once_and_give_the_same():
    model, data = small(edge_dim=3, conv="gine"), hierarchy()
    data.edge_attr = data.edge_attr[:1].expand(data.num_edges, -1).contiguous()
    assert relative_error(model(data), expected_prediction(model, data)) <= 1e-10


def test_graphs_of_a_batch_do_not_see_each_other():
    model = small(edge_dim=3)
    first, second, other = (hierarchy(seed=seed) for seed in (1, 2, 3))
    together, changed = (model(Batch.from_data_list([first, beside]))[:9] for beside in (second, other))
    assert relative_error(changed, together) <= 1e-12


def test_reaches_every_node_of_a_graph_by_attention_and_neighbours_alone_without():
    model, path = small(in_channels=1, layers=1), path_graph(7)
    path.x = torch.randn(7, 1).double()

    def support():
        def predict(x):
            given = path.clone()
            given.x = x
            return model(given)[:, 0]

        return torch.autograd.functional.jacobian(predict, path.x).abs().sum(dim=2) != 0

    assert support().all()
    with torch.no_grad():
        model.layers[0].attn.out_proj.weight.zero_()
    here = torch.arange(7)
    assert torch.equal(support(), (here[:, None] - here[None, :]).abs() <= 1)


def test_dropout_is_for_training_only():
    model, data = small(dropout=0.5), hierarchy(edge_dim=None)
    assert torch.equal(model(data), model(data))
    model.train()
    assert not torch.equal(model(data), model(data))


def test_one_node_and_no_edges():
    for nodes in (1, 3):
        assert small()(hierarchy(nodes, 0, levels=1, edge_dim=None)).shape == (nodes, 2)


def test_rollout_is_the_one_prediction_and_repr_is_short():
    model, data = small(edge_dim=3), hierarchy()
    (prediction,) = model.rollout(data)
    assert torch.equal(prediction, model(data))
    with pytest.raises(ValueError, match="GPS has no loops, but steps=7 was given"):
        model.rollout(data, steps=7)
    text = repr(GPS(2, 8, 1, layers=3))
    assert text.startswith("GPS(in_channels=2, hidden_channels=8, out_channels=1, layers=3) with ")
    assert "\n" not in text


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"layers": 0}, "layers must be a whole number of at least 1; got 0"),
        ({"heads": 4}, "hidden_channels must be a multiple of heads=4; got 6"),
        ({"dropout": 1.0}, r"dropout must lie in \[0, 1\); got 1.0"),
        ({"conv": "gin"}, "Unknown conv 'gin'"),
        ({"readout": "nodes"}, "Unknown readout 'nodes'"),
    ],
)
def test_bad_options_are_sentences(options, words):
    with pytest.raises(ValueError, match=words):
        small(**options)


def test_layers_that_would_never_end_are_refused_at_once():
    with pytest.raises(ValueError, match="layers must be a whole number of at most"):
        GPS(1, 4, 1, layers=99999999999)


def test_attention_needs_the_nodes_of_a_graph_side_by_side():
    data = path_graph(4)
    data.batch = torch.tensor([0, 1, 0, 1])
    with pytest.raises(ValueError, match="batch is not sorted"):
        GPS(1, 4, 1, layers=1)(data)


def test_starts_as_pyg_s_layers_start():
    """The same seed gives the weights that it gave when the layers were PyG's own."""
    torch.manual_seed(3)
    ours = GPSLayer(GINE(8, 8), 8, 2, 0.3)
    torch.manual_seed(3)
    theirs = GPSConv(8, GINE(8, 8), heads=2, dropout=0.3)
    assert list(ours.state_dict()) == list(theirs.state_dict())
    assert all(torch.equal(value, theirs.state_dict()[name]) for name, value in ours.state_dict().items())


def test_without_attention_the_other_branch_is_left():
    model, data = small(edge_dim=3, layers=1), hierarchy()
    layer = model.layers[0]
    with torch.no_grad():
        layer.attn.out_proj.weight.zero_()
        layer.attn.out_proj.bias.zero_()
    x, edge_attr = torch.randn(9, 6).double(), torch.randn(data.num_edges, 6).double()
    local = normalise(layer.norm1, x + layer.conv(x, data.edge_index, edge_attr))
    y = local + normalise(layer.norm2, x)
    expected = normalise(layer.norm3, y + layer.mlp(y))
    assert relative_error(layer(x, data.edge_index, edge_attr, torch.tensor([0, 9])), expected) <= 1e-12


def expected_encoding(encoding, data):
    """What an encoding adds to a node, in loops."""
    rows = []
    for i in range(data.num_nodes):
        if isinstance(encoding, WalkEncoder):
            norm = encoding.norm
            raw = data.rwse[i].double()
            scaled = (raw - norm.running_mean) / (norm.running_var + norm.eps).sqrt() * norm.weight + norm.bias
            rows.append(encoding.linear.weight @ scaled + encoding.linear.bias)
        else:
            total = torch.zeros(encoding.out_channels, dtype=torch.double)
            for m in range(min(encoding.count, data.num_nodes)):
                pair = torch.stack([data.lap_vectors[i, m], data.lap_values[0, m]]).double()
                total = total + encoding.phi(pair).relu()
            rows.append(total)
    return torch.stack(rows)


@pytest.mark.parametrize("encoding", ["rwse", "laplacian"])
def test_encodings(encoding, tmp_path):
    model = small(encoding=encoding, edge_dim=3, hidden_channels=8)
    graphs = [model.prepare(hierarchy(n, n + 2, seed=n)) for n in (1, 4, 13)]
    for data in graphs:
        found = model.encoding(data, torch.zeros(data.num_nodes, dtype=torch.long))
        assert relative_error(found, expected_encoding(model.encoding, data)) <= 1e-10
    assert_permutation_equivariant(model, graphs[2], rtol=1e-10)  # with the encoding that it has
    assert_batch_equals_loop(model, graphs, rtol=1e-10)
    assert_gradients_reach_all_parameters(model, graphs[2])
    model.save_pretrained(tmp_path)
    loaded = GPS.from_pretrained(tmp_path).eval()
    assert torch.equal(loaded(graphs[2]), model(graphs[2]))
    assert repr(loaded.transform) == repr(model.transform)
    with pytest.raises(ValueError, match=r"The graph has no (rwse|lap_vectors); prepare it"):
        model(hierarchy())


def test_signs_are_random_in_training_alone():
    encoder = LaplacianEncoder(6, count=4).double()
    data = Batch.from_data_list([encoder.transform(path_graph(n)) for n in (5, 5, 2)])
    torch.manual_seed(0)
    draws = [encoder(data, data.batch) for _ in range(12)]
    assert any(not torch.allclose(draw[:5], draw[5:10]) for draw in draws)  # each graph has its own signs
    assert len({round(draw[0].sum().item(), 6) for draw in draws}) <= 2**4
    encoder.eval()
    fixed = encoder(data, data.batch)
    assert torch.equal(fixed, encoder(data, data.batch))
    assert torch.equal(fixed[:5], fixed[5:10])


def test_wrong_encodings_are_sentences():
    with pytest.raises(ValueError, match="Unknown encoding 'rws'; known are rwse, laplacian"):
        small(encoding="rws")
    with pytest.raises(ValueError, match="needs hidden_channels of at least 2; got 1"):
        small(encoding="rwse", hidden_channels=1, heads=1)
    model = small(encoding="rwse")
    data = model.prepare(hierarchy(edge_dim=None))
    data.rwse = data.rwse[:, :3]
    with pytest.raises(ValueError, match=r"reads rwse of shape \(9, 16\); got \(9, 3\)"):
        model(data)


def test_a_config_of_an_older_version_builds_the_same_model():
    model = small()
    config = {name: value for name, value in model.config.items() if name != "encoding"}
    again = GPS(**config).double().eval()
    again.load_state_dict(model.state_dict())
    data = hierarchy(edge_dim=None)
    assert torch.equal(again(data), model(data))


@pytest.mark.parametrize("backend", ["torch", "numba"])
def test_attention_says_what_it_would_take(backend, monkeypatch):
    model, data = small(), hierarchy(edge_dim=None)
    monkeypatch.setattr(memory, "physical_memory", lambda: 1000)
    monkeypatch.setattr(attention, "MOST_PAIRS", 80)
    words = r"needs 0 GiB of memory" if backend == "torch" else r"weighs 81 pairs, 0 GiB of weights"
    start = "Attention over all pairs of 9 nodes in 1 graphs"
    with ops.using(backend), pytest.raises(ValueError, match=f"{start} {words}"):
        model(data)


def test_batch_norms_cannot_be_trained_on_one_node():
    with pytest.raises(ValueError, match="cannot be trained on a single node"):
        GPS(1, 4, 1, layers=1)(path_graph(1))
    assert GPS(1, 4, 1, layers=1).eval()(path_graph(1)).shape == (1, 1)

import copy

import pytest
import torch
from torch_geometric.data import Batch
from torch_geometric.nn import GINEConv, GPSConv

from cases import hierarchy, randomise, relative_error
from ghr import GPS
from ghr.nn import CONVS
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
    given = (x, data.edge_index, torch.zeros(9, dtype=torch.long))
    assert relative_error(ours(*given, edge_attr=edge_attr), theirs(*given, edge_attr=edge_attr)) <= 1e-12


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


def test_batch_norms_cannot_be_trained_on_one_node():
    with pytest.raises(ValueError, match="cannot be trained on a single node"):
        GPS(1, 4, 1, layers=1)(path_graph(1))
    assert GPS(1, 4, 1, layers=1).eval()(path_graph(1)).shape == (1, 1)

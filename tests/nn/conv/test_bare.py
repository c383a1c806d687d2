import math

import pytest
import torch

import reference
from cases import AWKWARD, awkward, naive_edges, randomise, relative_error
from ghr.nn.conv.bare import BARE_CONVS, BareGCN, BareOptions, make_bare_convs
from stack_cases import DEGREES, PYG, pyg_layer


def make(name, edge_dim, *, width=6):
    """A layer with weights off their start, in double precision."""
    torch.manual_seed(0)
    return randomise(make_bare_convs(name, BareOptions(width, edge_dim, 2, DEGREES), 1)[0])


def incoming(edge_index, edge_attr, i):
    """The sources of the edges that arrive at a node, with their features."""
    columns = [column for column in range(edge_index.size(1)) if int(edge_index[1, column]) == i]
    features = [None if edge_attr is None else edge_attr[column] for column in columns]
    return [(int(edge_index[0, column]), feature) for column, feature in zip(columns, features, strict=True)]


def slow_gin(layer, x, edge_index, edge_attr, i):
    total = (1 + layer.eps) * x[i] + sum(x[j] for j, _ in incoming(edge_index, None, i))
    return layer.nn(total)


def slow_sage(layer, x, edge_index, edge_attr, i):
    near = [x[j] for j, _ in incoming(edge_index, None, i)]
    mean = sum(near) / len(near) if near else torch.zeros_like(x[i])
    return layer.lin_l.weight @ mean + layer.lin_l.bias + layer.lin_r.weight @ x[i]


def slow_gat(layer, x, edge_index, edge_attr, i):
    """GATv2 with two heads; the self loop has the mean of the incoming features, and replaces those there are."""
    near = [(j, feature) for j, feature in incoming(edge_index, edge_attr, i) if j != i]
    own = None
    if edge_attr is not None:
        own = sum(feature for _, feature in near) / len(near) if near else torch.zeros(edge_attr.size(1)).double()
    near.append((i, own))
    parts = []
    for head in range(2):
        rows = slice(3 * head, 3 * head + 3)
        scores, values = [], []
        for j, feature in near:
            value = layer.lin_l.weight[rows] @ x[j] + layer.lin_l.bias[rows]
            query = value + layer.lin_r.weight[rows] @ x[i] + layer.lin_r.bias[rows]
            if feature is not None:
                query = query + layer.lin_edge.weight[rows] @ feature
            scores.append(torch.where(query > 0, query, 0.2 * query) @ layer.att[0, head])
            values.append(value)
        share = torch.stack(scores).exp() / torch.stack(scores).exp().sum()
        parts.append(sum(a * value for a, value in zip(share, values, strict=True)))
    return torch.cat(parts) + layer.bias


def slow_transformer(layer, x, edge_index, edge_attr, i):
    def part(linear, row, rows):
        return linear.weight[rows] @ row + (0 if linear.bias is None else linear.bias[rows])

    parts = []
    for head in range(2):
        rows = slice(3 * head, 3 * head + 3)
        scores, values = [], []
        for j, feature in incoming(edge_index, edge_attr, i):
            edge = 0 if feature is None else part(layer.lin_edge, feature, rows)
            key, value = part(layer.lin_key, x[j], rows) + edge, part(layer.lin_value, x[j], rows) + edge
            scores.append(part(layer.lin_query, x[i], rows) @ key / math.sqrt(3))
            values.append(value)
        if not scores:
            parts.append(torch.zeros(3).double())
            continue
        share = torch.stack(scores).exp() / torch.stack(scores).exp().sum()
        parts.append(sum(a * value for a, value in zip(share, values, strict=True)))
    return torch.cat(parts) + part(layer.lin_skip, x[i], slice(None))


def slow_pna(layer, x, edge_index, edge_attr, i):
    """Mean, minimum, maximum and deviation, each as it is, amplified and attenuated by the degree."""
    messages = []
    for j, feature in incoming(edge_index, edge_attr, i):
        parts = [x[i], x[j]] + ([] if feature is None else [layer.edge_encoder(feature)])
        messages.append(layer.pre_nns[0](torch.cat(parts)))
    if messages:
        stacked = torch.stack(messages)
        variance = (stacked**2).mean(0) - stacked.mean(0) ** 2
        deviation = torch.where(variance > 1e-5, variance.clamp(min=1e-9).sqrt(), 0.0)
        four = torch.cat([stacked.mean(0), stacked.amin(0), stacked.amax(0), deviation])
    else:
        four = torch.zeros(4 * x.size(1)).double()
    usual = sum(count * math.log(degree + 1) for degree, count in enumerate(DEGREES)) / sum(DEGREES)
    degree = len(messages)
    scaled = [four, four * (math.log(degree + 1) / usual), four * (usual / math.log(max(degree, 1) + 1))]
    return layer.lin(layer.post_nns[0](torch.cat([x[i], *scaled])))


SLOW = {"gin": slow_gin, "sage": slow_sage, "gat": slow_gat, "transformer": slow_transformer, "pna": slow_pna}


@pytest.mark.parametrize("graph", AWKWARD)
@pytest.mark.parametrize("edge_dim", [6, None])
@pytest.mark.parametrize("name", SLOW)
def test_equals_the_loops(name, edge_dim, graph):
    if name in ("gin", "sage"):
        edge_dim = None
    conv, (x, edge_index, edge_attr) = make(name, edge_dim), awkward(graph, 6, edge_dim)
    expected = torch.stack([SLOW[name](conv.module, x, edge_index, edge_attr, i) for i in range(len(x))])
    tolerance = 1e-6 if name == "pna" else 1e-10  # the layer keeps its usual degree in single precision
    assert relative_error(conv(x, edge_index, edge_attr), expected) <= tolerance


@pytest.mark.parametrize("graph", AWKWARD)
@pytest.mark.parametrize("edge_dim", [6, None])
def test_gcn_and_gine_equal_the_loops(graph, edge_dim):
    x, edge_index, edge_attr = awkward(graph, 6, edge_dim)
    edges, rows = naive_edges(edge_index, edge_attr), reference.read_rows(x)
    gine, gcn = make("gine", edge_dim), make("gcn", edge_dim)
    expected, _ = reference.gine(reference.read_weights(gine), rows, edges)
    assert relative_error(gine(x, edge_index, edge_attr), expected) <= 1e-10

    weights = reference.read_weights(gcn)
    if edge_dim is not None:
        edges = reference.encode_edges(
            {f"map.{name.removeprefix('weigh.')}": value for name, value in weights.items()},
            reference.Graph(len(x), edges),
            "gcn",
        )
    total = reference.normalised_sum(rows, edges, edge_dim is not None)
    expected = [reference.linear(weights, "linear", row) for row in total]
    assert relative_error(gcn(x, edge_index, edge_attr), expected) <= 1e-10


@pytest.mark.parametrize("graph", AWKWARD)
@pytest.mark.parametrize("name", PYG)
def test_equals_pyg(name, graph):
    edge_dim = 6 if name in ("gine", "gat", "pna", "transformer") else None
    conv, (x, edge_index, edge_attr) = make(name, edge_dim), awkward(graph, 6, edge_dim)
    given = () if edge_dim is None else (edge_attr,)
    expected = pyg_layer(name, conv, edge_dim)(x, edge_index, *given)
    assert relative_error(conv(x, edge_index, edge_attr), expected) <= 1e-10


def test_weighted_gcn_equals_pyg_s():
    conv, (x, edge_index, edge_attr) = make("gcn", 6), awkward("triangle and tail", 6, 6)
    expected = pyg_layer("gcn", conv, None)(x, edge_index, conv.weigh(edge_attr).squeeze(1))
    assert relative_error(conv(x, edge_index, edge_attr), expected) <= 1e-10


def test_gcn_keeps_constants_on_a_regular_graph_and_maps_isolated_nodes():
    conv = make("gcn", None)
    here = torch.arange(5)
    ring = torch.cat([torch.stack([here, here.roll(1)]), torch.stack([here.roll(1), here])], dim=1)
    row = torch.randn(1, 6).double()
    expected = conv.linear(row)
    assert relative_error(conv(row.expand(5, -1), ring), expected.expand(5, -1)) <= 1e-12
    assert relative_error(conv(row, ring[:, :0]), expected) <= 1e-12


def test_a_sum_tells_one_leaf_from_two_and_a_mean_does_not():
    stars = [torch.tensor([[1], [0]]), torch.tensor([[1, 2], [0, 0]])]
    x = torch.ones(3, 6).double()
    for name, differs in (("gin", True), ("gine", True), ("sage", False)):
        one, two = (make(name, None)(x, star)[0] for star in stars)
        assert torch.allclose(one, two) != differs


def test_gine_without_features_is_gin_where_nothing_is_negative():
    gine = make("gine", None)
    gin = pyg_layer("gin", make("gin", None), None)
    gin.nn.load_state_dict(gine.update.state_dict())
    gin.eps.data.copy_(gine.epsilon.reshape(1))
    x, edge_index, _ = awkward("repeats", 6, None)
    assert relative_error(gine(x.abs(), edge_index), gin(x.abs(), edge_index)) <= 1e-12
    assert relative_error(gine(x, edge_index), gin(x, edge_index)) > 1e-3


@pytest.mark.parametrize("name", ["gat", "transformer"])
def test_attention_adds_up_to_one_per_node_and_head(name):
    conv, (x, edge_index, edge_attr) = make(name, 6), awkward("triangle and tail", 6, 6)
    _, (index, share) = conv.module(x, edge_index, edge_attr, return_attention_weights=True)
    total = torch.zeros(4, 2).double().index_add(0, index[1], share)
    assert torch.allclose(total, torch.ones_like(total))


def test_only_the_first_gcn_of_a_stack_weighs_the_edges():
    first, second = make_bare_convs("gcn", BareOptions(6, 3), 2)
    assert isinstance(first, BareGCN)
    assert (first.weigh is None, second.weigh is None) == (False, True)


@pytest.mark.parametrize("name", BARE_CONVS)
def test_repr_is_one_line_and_a_reset_changes_the_weights(name):
    conv = make(name, None)
    assert "\n" not in repr(make("sage", None))
    before = {key: value.clone() for key, value in conv.named_parameters()}
    conv.reset_parameters()
    assert not any(torch.equal(before[key], value) for key, value in conv.named_parameters())


def test_what_is_wrong_is_said():
    with pytest.raises(ValueError, match="Unknown conv 'gcnn'; known are gcn, gin"):
        make("gcnn", None)
    with pytest.raises(ValueError, match="PNA needs degrees"):
        make_bare_convs("pna", BareOptions(6), 1)
    with pytest.raises(ValueError, match="hidden_channels must be a multiple of heads=4; got 6"):
        make_bare_convs("gat", BareOptions(6, None, 4), 1)


def test_pna_for_graphs_without_edges_is_finite():
    conv = make_bare_convs("pna", BareOptions(6, None, 1, [5]), 1)[0]
    edge_index = torch.tensor([[0, 1], [1, 0]])
    assert conv(torch.randn(3, 6), edge_index).isfinite().all()

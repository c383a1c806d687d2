import pytest
import torch
from torch_geometric.data import Batch, Data

from cases import hierarchy, relative_error
from ghr.models import VirtualNode
from ghr.models.network import LayerInput
from ghr.testing import path_graph
from stack_cases import check_budgets, check_by_name, check_laws, check_odd_graphs, check_reset, reach, settle

MODES = ("pre", "post")


def small(mode="pre", **options) -> VirtualNode:
    return VirtualNode(2, 6, 2, mode=mode, **{"layers": 2, **options})


def expected_prediction(model, data, *, mode, agg="mean", size_norm=False, residual=False):
    """The equations of the docstring for one graph, the message passing taken from the layers."""
    h = model.node_encoder(data.x)
    e = None if data.edge_attr is None else model.edge_encoder.map(data.edge_attr)
    edges = model.layers[0].conv.prepare(data.edge_index, e, len(h))

    def summary(rows):
        total = sum(rows[i] for i in range(len(rows)))
        total = total / len(rows) if agg == "mean" else total
        return total / len(rows) ** 0.5 if size_norm else total

    if mode == "pre":
        v = model.summary.initial
        h = h + v
    for layer, maps in zip(model.layers, model.summary.maps, strict=True):
        u, edges = layer(h, edges)
        if mode == "pre":
            first, second = maps[0], maps[2]
            new = (second((first(summary(h) + v)).relu())).relu()
            v = v + new if residual else new
            h = torch.stack([row + v for row in u])
        else:
            w = torch.stack([maps.weight @ row + maps.bias for row in u])
            h = torch.stack([row + summary(w) for row in w])
    return model.readout.mlp(h)


@pytest.mark.parametrize(
    "options", [{}, {"agg": "sum"}, {"size_norm": True}, {"agg": "sum", "size_norm": True, "residual": True}]
)
@pytest.mark.parametrize("conv", ["gcn", "gated_gcn"])
@pytest.mark.parametrize("mode", MODES)
def test_equals_the_equations(mode, conv, options):
    torch.manual_seed(0)
    model, data = settle(small(mode, conv=conv, edge_dim=3, **options)), hierarchy(levels=1)
    assert relative_error(model(data), expected_prediction(model, data, mode=mode, **options)) <= 1e-10


def influence(model, data, i):
    """How the states of a node change with those of every node, before the first layer: a matrix for each."""
    batch = torch.zeros(data.num_nodes, dtype=torch.long)

    def run(h):
        return model.run(h, LayerInput(data.edge_index, None, batch, 1, data))[i]

    h = torch.rand(data.num_nodes, 6, generator=torch.Generator().manual_seed(0), dtype=torch.double)
    return torch.autograd.functional.jacobian(run, h).transpose(0, 1)


def seven_nodes():
    edges = torch.tensor([[0, 1], [0, 2], [1, 2], [2, 3], [3, 4], [3, 5], [5, 6]])
    return Data(x=torch.zeros(7, 2).double(), edge_index=torch.cat([edges, edges.flip(1)]).T.contiguous())


@pytest.mark.parametrize("conv", ["gcn", "gated_gcn"])
def test_beyond_the_neighbourhood_all_count_alike_before_and_by_the_graph_after(conv):
    data, far = seven_nodes(), [3, 4, 5, 6]  # node 0 has the neighbours 1 and 2
    torch.manual_seed(0)
    before = influence(settle(small("pre", layers=1, conv=conv, act="elu")), data, 0)[far]
    assert before.abs().max() > 1e-4
    assert all(torch.allclose(before[0], row, rtol=1e-10) for row in before)
    after = influence(settle(small("post", layers=1, conv=conv, act="elu")), data, 0)[far]
    assert all(row.abs().max() > 1e-4 for row in after)
    assert not any(torch.allclose(after[i], after[j], rtol=1e-2) for i in range(4) for j in range(i))


def test_a_linear_virtual_node_weighs_every_node_by_one_over_the_size():
    """Without nonlinear parts: 1/7 for all nodes beyond the neighbours, or a mean of the graph's own matrix."""
    data = seven_nodes()
    plain, ordered = (small(mode, layers=1, norm=None).double() for mode in MODES)
    adjacency = torch.zeros(7, 7).double()
    adjacency[data.edge_index[1], data.edge_index[0]] = 1
    around = adjacency + torch.eye(7)
    around = around / (around.sum(1, keepdim=True) * around.sum(1)).sqrt()
    for model in (plain, ordered):
        layer = model.layers[0]
        layer.act = torch.nn.Identity()
        torch.nn.init.eye_(layer.conv.linear.weight)
        torch.nn.init.zeros_(layer.conv.linear.bias)
    plain.summary.maps[0] = torch.nn.Identity()
    torch.nn.init.eye_(ordered.summary.maps[0].weight)
    torch.nn.init.zeros_(ordered.summary.maps[0].bias)
    for model, extra in ((plain, torch.full((7, 7), 1 / 7)), (ordered, around.mean(0).expand(7, -1))):
        found = torch.stack([influence(model, data, i) for i in range(7)])
        expected = (around + extra)[:, :, None, None] * torch.eye(6).double()
        assert relative_error(found, expected) <= 1e-6


@pytest.mark.parametrize("mode", MODES)
def test_any_two_nodes_are_one_layer_apart(mode):
    assert reach(settle(small(mode, layers=1, act="elu"))).all()


@pytest.mark.parametrize("conv", ["gcn", "gated_gcn", "sage"])
@pytest.mark.parametrize("mode", MODES)
def test_laws(mode, conv):
    check_laws(lambda **options: small(mode, conv=conv, act="elu", **options))


@pytest.mark.parametrize("mode", MODES)
def test_graphs_of_a_batch_do_not_see_each_other(mode):
    model = settle(small(mode, edge_dim=3))
    first, second, other = (hierarchy(seed=seed, levels=1) for seed in (1, 2, 3))
    together, changed = (model(Batch.from_data_list([first, beside]))[:9] for beside in (second, other))
    assert relative_error(changed, together) <= 1e-12


@pytest.mark.parametrize("mode", MODES)
def test_odd_graphs(mode):
    check_odd_graphs(lambda **options: small(mode, **options))


@pytest.mark.parametrize("mode", MODES)
def test_a_batch_of_one_graph_can_be_trained_on(mode):
    data = path_graph(5)
    data.x = data.x.expand(-1, 2)
    small(mode)(data).sum().backward()


@pytest.mark.parametrize("mode", MODES)
def test_reset(mode):
    check_reset(lambda: VirtualNode(2, 16, 2, layers=2, edge_dim=3, conv="gated_gcn", mode=mode))


@pytest.mark.parametrize("name", ["gcn-vn", "gated-gcn-vn"])
def test_names(name, tmp_path):
    check_budgets(name)
    check_by_name(name, tmp_path)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"mode": "both"}, "Unknown mode 'both'; known are pre, post"),
        ({"agg": "max"}, "Unknown agg 'max'; known are mean, sum"),
        ({"size_norm": 2}, "size_norm must be True or False; got 2"),
        ({"conv": "pna"}, "Unknown conv 'pna'; known are gcn, gin, gine, gated_gcn, sage"),
        ({"layers": 0}, "layers must be a whole number of at least 1; got 0"),
        ({"residual": None}, "residual must be True or False; got None"),
        ({"norm": "rms"}, "Unknown norm 'rms'"),
        ({"dropout": -1}, "dropout must be a finite number of at least 0; got -1"),
    ],
)
def test_bad_options_are_sentences(options, words):
    with pytest.raises(ValueError, match=words):
        small(**options)

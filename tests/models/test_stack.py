import pytest
import torch
from torch.nn import functional as F
from torch_geometric.data import Batch, Data

from cases import hierarchy, relative_error
from ghr import MODELS, Experiment, Task
from ghr.datasets.splits import make_splits
from ghr.experiment import OwnGraphs
from ghr.models import Stack
from ghr.models.stack import count_degrees
from ghr.nn.conv.bare import BARE_CONVS
from ghr.testing import random_graph
from stack_cases import (
    DEGREES,
    PYG,
    check_budgets,
    check_by_name,
    check_laws,
    check_odd_graphs,
    check_reset,
    code_graphs,
    pyg_layer,
    reach,
    settle,
)

NAMES = ("gcn", "gin", "gine", "gat", "gated-gcn", "sage", "pna", "transformer-conv")
READS_EDGES = ("gcn", "gine", "gat", "gated_gcn", "pna", "transformer")


def small(conv="gcn", **options) -> Stack:
    given = {"layers": 2, "heads": 2, "degrees": DEGREES, **options}
    return Stack(2, 6, 2, conv=conv, **given)


def normalise(norm, x):
    """Batch norm with the statistics it has gathered."""
    return (x - norm.running_mean) / (norm.running_var + norm.eps).sqrt() * norm.weight + norm.bias


@pytest.mark.parametrize("jumping", [None, "cat", "max"])
@pytest.mark.parametrize("residual", [False, True])
@pytest.mark.parametrize("conv", PYG)
def test_equals_a_plain_loop_over_the_layers_of_pyg(conv, residual, jumping):
    edge_dim = 3 if conv in READS_EDGES else None
    torch.manual_seed(0)
    model = settle(small(conv, edge_dim=edge_dim, residual=residual, jumping=jumping, act="elu", layers=3))
    data = hierarchy(edge_dim=edge_dim, levels=1)
    h, given = model.node_encoder(data.x), ()
    if edge_dim is not None:
        e = model.edge_encoder.map(data.edge_attr)
        given = (model.layers[0].conv.weigh(e).squeeze(1),) if conv == "gcn" else (e,)
    states = []
    for layer in model.layers:
        new = pyg_layer(conv, layer.conv, 6 if edge_dim else None)(h, data.edge_index, *given)
        new = F.elu(normalise(layer.norm, new))
        h = h + new if residual else new
        states.append(h)
    read = {None: h, "cat": torch.cat(states, 1), "max": torch.stack(states).max(0).values}[jumping]
    assert relative_error(model(data), model.readout.mlp(read)) <= 1e-10


@pytest.mark.parametrize("conv", BARE_CONVS)
def test_laws(conv):
    check_laws(lambda **options: small(conv, act="elu", **options))


@pytest.mark.parametrize("norm", ["layer", None])
def test_laws_with_other_options(norm):
    check_laws(lambda **options: small("gated_gcn", norm=norm, residual=True, jumping="cat", act="tanh", **options))


@pytest.mark.parametrize("conv", BARE_CONVS)
def test_odd_graphs(conv):
    check_odd_graphs(lambda **options: small(conv, **options))


@pytest.mark.parametrize("conv", BARE_CONVS)
def test_reset(conv):
    check_reset(lambda: Stack(2, 16, 2, layers=2, conv=conv, degrees=DEGREES, edge_dim=3))


@pytest.mark.parametrize("name", NAMES)
def test_budgets(name):
    check_budgets(name)


@pytest.mark.parametrize("name", ["gat", "pna", "transformer-conv"])
def test_a_width_is_found_for_other_inputs_too(name):
    """These have widths in wide steps, or many parameters to a channel."""
    for in_channels in (2, 9, 40, 130):
        graph = random_graph(6, 9, in_channels=in_channels, edge_dim=4)
        assert abs(MODELS[name].for_data(graph, Task("graph", 10), {}).num_parameters - 15_000) <= 1500


@pytest.mark.parametrize("name", NAMES)
def test_by_name(name, tmp_path):
    check_by_name(name, tmp_path)


@pytest.mark.parametrize("conv", BARE_CONVS)
def test_reaches_exactly_as_many_hops_as_layers(conv):
    torch.manual_seed(0)
    model = settle(Stack(2, 16, 2, conv=conv, layers=3, degrees=DEGREES, act="elu", norm=None))
    here = torch.arange(9)
    assert torch.equal(reach(model), (here[:, None] - here[None, :]).abs() <= 3)


@pytest.mark.parametrize("conv", BARE_CONVS)
def test_who_reads_edge_features(conv):
    torch.manual_seed(0)
    model = small(conv, edge_dim=3, act="elu")
    assert model.config["edge_dim"] == (3 if conv in READS_EDGES else None)
    assert small(conv, edge_dim=3, readout="edge").config["edge_dim"] == 3
    settle(model)
    data, other = hierarchy(levels=1), hierarchy(levels=1)
    other.edge_attr = other.edge_attr.flip(0) + 1
    assert (relative_error(model(other), model(data)) > 1e-6) == (conv in READS_EDGES)


def test_graphs_of_a_batch_do_not_see_each_other():
    model = settle(small("pna", edge_dim=3))
    first, second, other = (hierarchy(seed=seed, levels=1) for seed in (1, 2, 3))
    together, changed = (model(Batch.from_data_list([first, beside]))[:9] for beside in (second, other))
    assert relative_error(changed, together) <= 1e-12


def test_pna_counts_the_degrees_of_all_graphs(tmp_path):
    path = Data(x=torch.zeros(3, 1), edge_index=torch.tensor([[0, 1, 1, 2], [1, 0, 2, 1]]))
    lone = Data(x=torch.zeros(2, 1), edge_index=torch.zeros(2, 0, dtype=torch.long))
    star = Data(x=torch.zeros(4, 1), edge_index=torch.tensor([[1, 2, 3], [0, 0, 0]]))
    assert count_degrees([path, lone]) == [2, 2, 1]
    assert count_degrees([path, lone, star]) == count_degrees([star, path, lone]) == [5, 2, 1, 1]
    assert count_degrees(star) == [3, 0, 0, 1]
    for options in ({}, {"hidden_channels": 4}):
        model = MODELS["pna"].for_data([path, star], Task("node"), options)
        assert model.config["degrees"] == [3, 2, 1, 1]
    usual = sum(count * torch.tensor(degree + 1.0).log() for degree, count in enumerate([3, 2, 1, 1])) / 7
    torch.testing.assert_close(model.layers[0].conv.module.aggr_module.avg_deg_log, usual.reshape(1))
    model = MODELS["pna"].for_data([path, star], Task("node"), {"degrees": [1, 2], "hidden_channels": 4})
    assert model.config["degrees"] == [1, 2]
    assert MODELS["gcn"].for_data(path, Task("node"), {}).config["degrees"] is None
    with pytest.raises(ValueError, match="number 1 is 3"):
        count_degrees([path, 3])


def test_pna_counts_in_the_training_graphs_alone():
    graphs = [random_graph(6, 4 * seed + 3, seed=seed) for seed in range(10)]
    for graph in graphs:
        graph.y = torch.zeros(6, 1)
    splits = make_splits(graphs, Task("node"))
    model = Experiment(OwnGraphs(splits), "pna", {"hidden_channels": 4}).build(splits)
    assert model.config["degrees"] == count_degrees(splits.train) != count_degrees(graphs)


def test_heads_decide_what_widths_there_are():
    graph = random_graph(6, 9)
    for name in ("gat", "transformer-conv"):
        model = MODELS[name].for_data(graph, Task("node"), {"heads": 3, "budget": 60_000})
        assert model.channels % 3 == 0
    assert Stack.width_multiple({"conv": "gcn", "heads": 3}) == 1


def test_batch_norms_cannot_be_trained_on_one_node():
    one = Data(x=torch.zeros(1, 2), edge_index=torch.zeros(2, 0, dtype=torch.long))
    with pytest.raises(ValueError, match="A batch norm cannot be trained on a single row"):
        small()(one)
    for norm in (None, "layer"):
        assert small(norm=norm)(one).shape == (1, 2)
    assert small().eval()(one).shape == (1, 2)


def test_dropout_is_for_training_only():
    model, data = small(dropout=0.5, norm=None), random_graph(9, 12, in_channels=2)
    assert not torch.equal(model(data), model(data))
    model.eval()
    assert torch.equal(model(data), model(data))


def test_codes_of_edges_reach_all_parameters():
    graphs = code_graphs()
    model = MODELS["gine"].for_data(graphs, Task("graph"), {"hidden_channels": 8, "layers": 2})
    model(Batch.from_data_list(graphs)).square().sum().backward()
    assert all(value.grad is not None for value in model.parameters())


def test_rollout_is_the_one_prediction_and_repr_is_short():
    model, data = small().eval(), random_graph(9, 12, in_channels=2)
    (prediction,) = model.rollout(data)
    assert torch.equal(prediction, model(data))
    with pytest.raises(ValueError, match="Stack has no loops, but steps=7 was given"):
        model.rollout(data, steps=7)
    assert repr(Stack(2, 8, 1, layers=3)).startswith(
        "Stack(in_channels=2, hidden_channels=8, out_channels=1, layers=3) "
    )


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"layers": 0}, "layers must be a whole number of at least 1; got 0"),
        ({"layers": 99999999999}, "layers must be a whole number of at most"),
        ({"conv": "gcnii"}, "Unknown conv 'gcnii'; known are gcn, gin"),
        ({"residual": 1}, "residual must be True or False; got 1"),
        ({"norm": "rms"}, "Unknown norm 'rms'; known are None, batch, layer"),
        ({"dropout": 1.0}, r"dropout must lie in \[0, 1\); got 1.0"),
        ({"jumping": "lstm"}, "Unknown jumping 'lstm'; known are None, cat, max"),
        ({"act": "sine"}, "Unknown act 'sine'"),
        ({"heads": 4, "conv": "gat"}, "hidden_channels must be a multiple of heads=4; got 6"),
        ({"degrees": None, "conv": "pna"}, "PNA needs degrees"),
        ({"degrees": []}, r"degrees must list how many nodes .* got \[\]"),
        ({"degrees": [1, -1]}, "A number in degrees must be a whole number of at least 0; got -1"),
        ({"readout": "nodes"}, "Unknown readout 'nodes'"),
    ],
)
def test_bad_options_are_sentences(options, words):
    with pytest.raises(ValueError, match=words):
        small(**options)

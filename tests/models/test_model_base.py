"""What every model of the map can do, whatever its class: be built for data, predict, be saved and be loaded."""

import inspect

import pytest
import torch
from torch import nn
from torch_geometric.data import Batch, Data

import ghr
from cases import ANY_GRAPH
from ghr import GHR, GPS, MODELS, DeepGNN, Graclus, GraphModel, MinPlusGHR, Task
from ghr.testing import random_graph

SMALL = {"hidden_channels": 4, "steps": 1, "t_low": 1, "layers": 1, "heads": 2}
LEVELS = ("node", "graph", "edge")
SHORT = {GHR: "ghr", DeepGNN: "deep-gine", GPS: "gps", MinPlusGHR: "min-plus"}


def tiny(name: str) -> dict[str, object]:
    """Options that make a model small, those that it has; a stack stays a stack."""
    entry = MODELS[name]
    stack = entry.build is DeepGNN and "steps" not in entry.options
    names = entry.build.option_names()
    return {key: value for key, value in SMALL.items() if key in names and not (stack and key == "steps")}


def make(kind: str, seed: int = 0) -> Data:
    """A graph of one kind of features; real ones are marks of two nodes, and lengths of edges."""
    data = random_graph(6 + seed, 9, in_channels=2, seed=seed)
    generator = torch.Generator().manual_seed(seed)
    pairs = data.num_edges // 2
    data.x = torch.zeros(data.num_nodes, 2)
    data.x[0, 0] = data.x[1, 1] = 1
    if kind in ("real", "both"):
        data.edge_attr = torch.rand(pairs, 1, generator=generator).repeat(2, 1)
    if kind in ("weighted", "both"):
        data.edge_weight = torch.rand(pairs, generator=generator).repeat(2)
    if kind == "codes":
        data.x = torch.randint(3 + seed, (data.num_nodes, 2), generator=generator)
        data.edge_attr = torch.randint(2 + seed, (pairs, 2), generator=generator).repeat(2, 1)
    if kind == "truth":
        data.x, data.edge_attr = data.x > 0.5, torch.zeros(2 * pairs, 1, dtype=torch.bool)
    return data


EDGE_WIDTHS = {"real": 1, "weighted": 1, "both": 2, "plain": None}


def build(name: str, kind: str, level: str) -> tuple[GraphModel, list[Data]]:
    torch.manual_seed(0)
    graphs = [make(kind, seed) for seed in range(3)]
    return MODELS[name].for_data(graphs, Task(level, out_channels=2), tiny(name)), graphs


def check_round_trip(model: GraphModel, graphs: list[Data], level: str, folder) -> None:
    """Assert that a model predicts the right rows, learns with all of itself, and comes back as it was."""
    prepared = [model.prepare(graph) for graph in graphs]
    batch = Batch.from_data_list(prepared)
    prediction = model(batch)
    rows = {"node": batch.num_nodes, "edge": batch.num_edges, "graph": 3}[level]
    assert prediction.shape == (rows, 2)
    prediction.sum().backward()
    assert any(value.grad is not None and value.grad.abs().sum() > 0 for value in model.parameters())
    model.eval()
    model.save_pretrained(folder)
    again = ghr.load(folder)
    assert type(again) is type(model)
    assert again.config == model.config
    assert repr(again.transform) == repr(model.transform)
    assert not again.training
    assert torch.equal(again(batch), model(batch))
    assert torch.equal(again(again.prepare(graphs[1])), model(prepared[1]))


@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize("kind", ["real", "weighted", "both", "plain"])
@pytest.mark.parametrize("name", SHORT.values())
def test_every_class_reads_its_widths_off_the_data(name, kind, level, tmp_path):
    model, graphs = build(name, kind, level)
    learned = MODELS[name].build is not MinPlusGHR or EDGE_WIDTHS[kind] == 2  # one number per edge is its length
    assert model.config["in_channels"] == 2
    assert model.config["edge_dim"] == (EDGE_WIDTHS[kind] if learned else None)
    assert model.config["out_channels"] == 2
    check_round_trip(model, graphs, level, tmp_path)


@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize("name", [short for cls, short in SHORT.items() if cls is not MinPlusGHR])
def test_codes_get_one_embedding_per_column(name, level, tmp_path):
    model, graphs = build(name, "codes", level)
    assert model.config["in_channels"] == [int(size) + 1 for size in torch.cat([g.x for g in graphs]).amax(0)]
    assert model.config["edge_dim"] == [int(size) + 1 for size in torch.cat([g.edge_attr for g in graphs]).amax(0)]
    check_round_trip(model, graphs, level, tmp_path)


def test_truth_values_are_codes_of_two(tmp_path):
    model, graphs = build("ghr", "truth", "node")
    assert (model.config["in_channels"], model.config["edge_dim"]) == ([2, 2], [2])
    check_round_trip(model, graphs, "node", tmp_path)


@pytest.mark.parametrize("kind", ["real", "codes"])
@pytest.mark.parametrize("name", [name for name in ANY_GRAPH if name not in SHORT.values()])
def test_every_name_of_the_map(name, kind, tmp_path):
    model, graphs = build(name, kind, "node")
    check_round_trip(model, graphs, "node", tmp_path)


def test_min_plus_says_that_it_reads_marks_and_lengths():
    with pytest.raises(ValueError, match=r"MinPlusGHR reads marks between 0 and 1 and lengths of edges, but .* codes"):
        build("min-plus", "codes", "node")
    with pytest.raises(ValueError, match="not classes"):
        MODELS["min-plus"].for_data(make("real"), Task("node", 3, loss="cross_entropy"), {})
    beyond = make("real")
    beyond.x = beyond.x * 5
    with pytest.raises(ValueError, match="marks between 0 and 1; x runs from"):
        MODELS["min-plus"].for_data(beyond, Task("node"), {})


@pytest.mark.parametrize("name", SHORT.values())
def test_options_that_do_not_exist_are_refused_with_a_list(name):
    cls = MODELS[name].build
    with pytest.raises(ValueError, match=f"{cls.__name__} has no option 'colour'; known are .*hidden_channels"):
        MODELS[name].for_data(make("real"), Task("node"), {"colour": "red"})
    with pytest.raises(ValueError, match="has no option 'out_channels'"):
        cls.for_data(make("real"), Task("node"), out_channels=3)
    with pytest.raises(ValueError, match=f"{cls.__name__} has no option 'colour'"):
        cls.from_pretrained("anything", colour="red")


@pytest.mark.parametrize("name", SHORT.values())
def test_option_names_are_those_of_the_constructor(name):
    cls = MODELS[name].build
    own = set(inspect.signature(cls).parameters) - {"out_channels"}
    assert own <= set(cls.option_names())
    assert ("rounds" in cls.option_names()) == issubclass(cls, GHR | MinPlusGHR)


@pytest.mark.parametrize("name", SHORT.values())
def test_options_win_over_the_data(name):
    model = MODELS[name].build.for_data(make("real"), Task("node"), readout="node-mlp", **tiny(name))
    assert model.config["readout"] == "node-mlp"
    if MODELS[name].build is not MinPlusGHR:
        assert MODELS[name].build.for_data(make("real"), Task("node"), edge_dim=None).config["edge_dim"] is None


def test_codes_that_are_known_may_be_said():
    model = GHR.for_data(make("codes"), Task("node"), in_channels=[9, 7], edge_dim=[5, 6], **tiny("ghr"))
    assert (model.config["in_channels"], model.config["edge_dim"]) == ([9, 7], [5, 6])
    assert model.transform.codes == (5, 6)
    assert model(model.prepare(make("codes"))).shape == (6, 1)


@pytest.mark.parametrize("name", SHORT.values())
def test_loops_are_what_may_be_given_at_inference(name):
    model, graphs = build(name, "real", "node")
    data = model.prepare(graphs[0])
    for loop in model.loops:
        assert model(data, **{loop: 2}).shape == (6, 2)
        assert model.rollout(data, **{loop: 2})[-1].shape == (6, 2)
    if not model.loops:
        with pytest.raises(ValueError, match=r"has no loops, but steps=2 was given; leave it out"):
            model.rollout(data, steps=2)
    with pytest.raises(ValueError, match=r"has (no loops|the loops .*), but colour=3 was given"):
        model.check_loops({"colour": 3})


def test_loops_of_every_kind_of_model():
    loops = {name: build(name, "real", "node")[0].loops for name in ANY_GRAPH}
    assert loops["ghr"] == loops["min-plus"] == ("steps", "t_high", "t_low")
    assert loops["recurrent-gine"] == ("steps", "t_low")
    assert loops["deep-gr-gine"] == ("steps",)
    assert loops["deep-gine"] == loops["gps"] == ()


def test_a_flat_model_prepares_nothing():
    model, graphs = build("recurrent-gine", "real", "node")
    assert model.transform is None
    assert model.prepare(graphs[0]) is graphs[0]


def test_a_graph_that_is_prepared_is_left_as_it_is():
    model, graphs = build("ghr", "real", "node")
    once = model.prepare(graphs[0])
    assert once.num_levels == 2
    assert model.prepare(once) is once


def test_coarsened_graphs_are_examples_too():
    raw = [make("codes", seed) for seed in range(2)]
    plain = GHR.for_data(raw, Task("node"), **tiny("ghr"))
    coarse = [plain.prepare(graph) for graph in raw]
    again = GHR.for_data(coarse, Task("node"), **tiny("ghr"))
    assert again.config == plain.config
    assert again(Batch.from_data_list(coarse)).shape == (13, 1)


def test_graphs_whose_edges_are_not_used_still_form_a_batch():
    """Codes differ from graph to graph, and so would the widths of coarse edges."""
    graphs = [make("codes", seed) for seed in range(3)]
    model = GHR.for_data(graphs, Task("node"), edge_dim=None, **tiny("ghr"))
    assert model.config["edge_dim"] is None
    assert model(Batch.from_data_list([model.prepare(graph) for graph in graphs])).shape == (21, 1)


class Own(GraphModel):
    """A model of a user: the fewest lines that it takes."""

    def __init__(self, in_channels: int, hidden_channels: int, out_channels: int, *, twice: bool = False) -> None:
        super().__init__()
        self.map = nn.Linear(in_channels, out_channels)
        self.twice = twice
        self.remember(in_channels=in_channels, hidden_channels=hidden_channels, out_channels=out_channels, twice=twice)

    def rollout(self, data, **loops):
        self.check_loops(loops)
        return [self.map(data.x) * (2 if self.twice else 1)]


def test_a_class_of_one_s_own(tmp_path):
    model = Own.for_data(make("real"), Task("node", 3), twice=True)
    assert model.config == {"in_channels": 2, "hidden_channels": 32, "out_channels": 3, "twice": True}
    assert repr(model) == "Own(in_channels=2, hidden_channels=32, out_channels=3, twice=True) with 9 parameters"
    assert repr(Own(1, 2, 1)).startswith("Own(in_channels=1, hidden_channels=2, out_channels=1) with")
    assert model(make("real")).shape == (6, 3)
    model.save_pretrained(tmp_path)
    assert torch.equal(Own.from_pretrained(tmp_path)(make("real")), model(make("real")))
    before = model.map.weight.detach().clone()
    model.reset_parameters()
    assert not torch.equal(before, model.map.weight)


def test_a_model_without_a_rollout_says_so():
    with pytest.raises(NotImplementedError):
        GraphModel().rollout(make("real"))


def test_the_coarsening_is_chosen_by_name():
    model = GHR.for_data(make("real"), Task("node"), rounds=1, mode="random", edge_reduce=["min", "max"])
    assert repr(model.transform.partition) == repr(Graclus(rounds=1, mode="random", seed=0))
    assert model.config["coarse_edge_dim"] == 2
    flat = GHR.for_data(make("real"), Task("node"), levels=3)
    assert flat.transform.levels == 2


@pytest.mark.parametrize("name", [short for cls, short in SHORT.items() if cls is not MinPlusGHR])
def test_a_unit_is_kept_with_the_model(name, tmp_path):
    model, graphs = build(name, "real", "node")
    assert model.takes_unit
    batch = Batch.from_data_list([model.prepare(graph) for graph in graphs])
    plain = model.eval()(batch)
    model.set_unit([1000.0, -1.0], [50.0, 0.1])
    torch.testing.assert_close(model(batch), torch.tensor([1000.0, -1.0]) + torch.tensor([50.0, 0.1]) * plain)
    model.save_pretrained(tmp_path)
    torch.testing.assert_close(ghr.load(tmp_path)(batch), model(batch))


def test_min_plus_takes_no_unit():
    assert not MinPlusGHR().takes_unit


def test_a_model_without_a_readout_takes_no_unit():
    assert not GraphModel().takes_unit


@pytest.mark.parametrize("name", ["deep-gine", "gps", "gcn", "gated-gcn", "gcnii", "drew", "gcn-vn", "mlp"])
def test_cut_short_it_has_the_states_between_its_layers(name):
    graph = make("numbers")
    task = Task("node")
    graph.y = torch.zeros(graph.num_nodes, 1)
    torch.manual_seed(0)
    whole = MODELS[name].for_data([graph], task, {"layers": 3, "hidden_channels": 8}).eval()
    fewer = MODELS[name].for_data([graph], task, {"layers": 2, "hidden_channels": 8}).eval()
    left = {key: value for key, value in whole.state_dict().items() if key in fewer.state_dict()}
    fewer.load_state_dict(left)
    assert (whole.depth, fewer.depth) == (3, 2)
    data = whole.prepare(graph)
    torch.testing.assert_close(whole.cut(2)(data), fewer(fewer.prepare(graph)))
    torch.testing.assert_close(whole.cut(3)(data), whole(data))
    assert whole.depth == 3


def test_a_model_without_layers_cannot_be_cut_shorter():
    model = MinPlusGHR(1, 4, 1, levels=1)
    assert model.depth == 1
    graph = random_graph(5, 6)
    graph.x = graph.x.abs().clamp(max=1)
    assert torch.equal(model.eval().cut(1)(graph), model(graph))

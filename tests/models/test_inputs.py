import pytest
import torch
from torch import nn
from torch_geometric.data import Data

from cases import hierarchy
from ghr import GHR, GPS, DeepGNN, MinPlusGHR, Task, memory
from ghr.models.inputs import MOST_CODES, Widths, check_channels, check_input


def no_nodes(data):
    data.x, data.edge_index, data.edge_attr = data.x[:0], data.edge_index[:, :0], data.edge_attr[:0]


def edge_too_high(data):
    data.edge_index[1, 3] = 9


def edge_below_zero(data):
    data.edge_index[0, 3] = -1


def edges_of_wrong_type(data):
    data.edge_index = data.edge_index.double()


def edges_of_wrong_shape(data):
    data.edge_index = data.edge_index.T.contiguous()


def no_edge_index(data):
    data.edge_index = None


def nan_in_x(data):
    data.x[2, 0] = float("nan")


def infinity_in_x(data):
    data.x[2, 0] = float("inf")


def nan_in_edge_attr(data):
    data.edge_attr[1, 2] = float("nan")


def too_few_edge_features(data):
    data.edge_attr = data.edge_attr[1:]


def too_many_channels(data):
    data.x = torch.cat([data.x, data.x], dim=1)


def flat_x(data):
    data.x = data.x[:, 0]


def no_x(data):
    data.x, data.num_nodes = None, 9


def integer_x(data):
    data.x = data.x.long()


WRONG = [
    (no_nodes, "no nodes|0 nodes"),
    (edge_too_high, "edge_index.* has node 9, but nodes run from 0 to 8"),
    (edge_below_zero, "edge_index.* has node -1, but nodes run from 0 to 8"),
    (edges_of_wrong_type, r"edge_index.* must be an int64 tensor of shape \(2, E\); got torch.float64"),
    (edges_of_wrong_shape, r"edge_index.* must be an int64 tensor of shape \(2, E\)"),
    (no_edge_index, "The graph has no edge_index"),
    (nan_in_x, "x has 1 entries that are not finite numbers"),
    (infinity_in_x, "x has 1 entries that are not finite numbers"),
    (nan_in_edge_attr, "edge_attr.* has 1 entries that are not finite numbers"),
    (too_few_edge_features, "edge_attr.* has 17 rows for 18 edges"),
    (too_many_channels, r"built for x of shape \(N, 2\); got \(9, 4\)"),
    (flat_x, r"built for x of shape \(N, 2\); got \(9,\)"),
    (no_x, "The graph needs node features x, one row per node; got NoneType"),
    (integer_x, r"x holds whole numbers \(torch.int64\), but the model was built for real features"),
]


@pytest.mark.parametrize(("spoil", "sentence"), WRONG)
@pytest.mark.parametrize("kind", [GHR, DeepGNN])
def test_every_model_says_what_is_wrong(kind, spoil, sentence):
    data = hierarchy()
    assert data.num_edges == 18
    model = kind(2, 4, 1, edge_dim=3).double()
    assert model(data).shape == (9, 1)
    spoil(data)
    with pytest.raises(ValueError, match=sentence) as caught:
        model(data)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("kind", [GHR, DeepGNN])
def test_integer_edge_features_are_refused(kind):
    data = hierarchy()
    data.edge_attr = data.edge_attr.long()
    with pytest.raises(ValueError, match="edge_attr"):
        kind(2, 4, 1, edge_dim=3).double()(data)


def test_coarse_levels_are_checked_too():
    data = hierarchy()
    data.level1_edge_index[0, 0] = 99
    with pytest.raises(ValueError, match="edge_index of level 1 has node 99"):
        GHR(2, 4, 1, edge_dim=3).double()(data)


def test_good_graphs_pass():
    check_input(hierarchy(), 2, nn.Linear(1, 1).double())
    check_input(Data(x=torch.zeros(1, 3), edge_index=torch.empty(2, 0, dtype=torch.long)), 3, nn.Linear(1, 1))


def test_numbers_of_another_width_are_refused():
    with pytest.raises(ValueError, match=r"x holds torch\.float64, but the model computes with torch.float32"):
        GHR(2, 4, 1, edge_dim=3)(hierarchy())


def test_clusters_that_are_not_there_are_refused():
    outside, short = hierarchy(), hierarchy()
    outside.level1_assignment[0] = 99
    short.level1_assignment = short.level1_assignment[1:]
    with pytest.raises(ValueError, match="Level 1 assigns a node to 99"):
        GHR(2, 4, 1, edge_dim=3).double()(outside)
    with pytest.raises(ValueError, match="but the level below has"):
        GHR(2, 4, 1, edge_dim=3).double()(short)


def graph(x, edge_attr=None):
    return Data(x=x, edge_index=torch.tensor([[0, 1], [1, 0]]), edge_attr=edge_attr)


def test_widths_of_real_features_are_read_off_one_graph():
    widths = Widths.of(graph(torch.zeros(2, 5), torch.zeros(2, 3)), Task("edge", 4))
    assert (widths.in_channels, widths.edge_dim, widths.out_channels, widths.level) == (5, 3, 4, "edge")
    assert Widths.of(graph(torch.zeros(2, 5)), Task("node")).edge_dim is None
    assert Widths.of(graph(torch.zeros(2, 5), torch.zeros(2)), Task("node")).edge_dim == 1


def test_an_edge_weight_is_one_more_edge_feature_and_it_is_said(caplog):
    weighted = graph(torch.zeros(2, 1), torch.zeros(2, 3))
    weighted.edge_weight = torch.ones(2)
    with caplog.at_level("INFO", logger="ghr"):
        assert Widths.of(weighted, Task("node")).edge_dim == 4
        assert Widths.of(graph(torch.zeros(2, 1), torch.zeros(2, 3)), Task("node")).edge_dim == 3
    assert caplog.messages == ["edge_weight is read as one more edge feature, behind those of edge_attr."]


def test_codes_are_counted_over_all_graphs():
    graphs = [
        graph(torch.tensor([[0, 7], [1, 0]]), torch.tensor([[0], [2]])),
        graph(torch.tensor([[3, 0], [0, 1]]), torch.tensor([[0], [1]])),
    ]
    widths = Widths.of(graphs, Task("graph"))
    assert widths.in_channels == [4, 8]
    assert widths.edge_dim == [3]


def test_a_dataset_that_knows_its_codes_is_believed():
    class Known(list):
        node_codes, edge_codes = (119, 5), (4,)

    widths = Widths.of(Known([graph(torch.zeros(2, 2).long(), torch.zeros(2, 1).long())]), Task("graph"))
    assert widths.in_channels == [119, 5]
    assert widths.edge_dim == [4]


def test_a_graph_without_edges_or_of_one_code_counts_too():
    alone = Data(
        x=torch.tensor([[4, 0]]), edge_index=torch.zeros(2, 0).long(), edge_attr=torch.zeros(0, 2, dtype=torch.long)
    )
    pair = graph(torch.tensor([[0, 0], [1, 0]]), torch.tensor([[0, 3], [0, 1]]))
    for graphs in ([alone, pair], [pair, alone]):
        widths = Widths.of(graphs, Task("graph"))
        assert widths.in_channels == [5, 1]
        assert widths.edge_dim == [1, 4]


def test_truth_values_are_two_codes():
    widths = Widths.of(graph(torch.zeros(2, 2, dtype=torch.bool), torch.ones(2, dtype=torch.bool)), Task("node"))
    assert (widths.in_channels, widths.edge_dim) == ([2, 2], [2])


def test_graphs_that_are_not_alike_are_a_sentence():
    codes = graph(torch.tensor([[0, 7], [1, 0]]))
    for other in (torch.tensor([[0], [1]]), torch.rand(2, 2)):
        with pytest.raises(ValueError, match=r"x of graph 1 is .*, but that of the first graph has 2 columns of codes"):
            Widths.of([codes, graph(other)], Task("node"))


@pytest.mark.parametrize("code", [-1, MOST_CODES])
def test_whole_numbers_that_cannot_be_codes_are_refused(code):
    with pytest.raises(ValueError, match="convert it to floating point numbers if it holds numbers"):
        Widths.of(graph(torch.tensor([[0], [code]])), Task("node"))


def test_data_without_widths_are_refused():
    with pytest.raises(ValueError, match="there are no graphs"):
        Widths.of([], Task("node"))
    with pytest.raises(ValueError, match=r"no node features x; .*Constant"):
        Widths.of(Data(edge_index=torch.zeros(2, 0).long(), num_nodes=2), Task("node"))
    with pytest.raises(ValueError, match="task must be a Task"):
        Widths.of(graph(torch.zeros(2, 1)), "node")
    with pytest.raises(ValueError, match="holds graphs of PyTorch Geometric; got int"):
        Widths.of([1], Task("node"))
    with pytest.raises(ValueError, match=r"x must be a matrix, one row per node; got \(2,\)"):
        Widths.of(graph(torch.zeros(2)), Task("node"))


@pytest.mark.parametrize("name", ["x", "edge_attr", "level1_edge_index", "level1_assignment", "batch"])
def test_a_graph_is_where_the_model_is(name):
    data = hierarchy()
    data.batch = torch.zeros(9, dtype=torch.long)
    data[name] = data[name].to("meta")
    with pytest.raises(ValueError, match=r"(on|is on) the device meta|has no values"):
        GHR(2, 4, 1, edge_dim=3).double()(data)
    with pytest.raises(ValueError, match="is on the device meta, but the model is on cpu; move one of them"):
        GHR(2, 4, 1, edge_dim=3).double()(hierarchy().to("meta"))


def test_channels_beyond_the_memory_are_refused(monkeypatch):
    assert check_channels([2, 3], 4, 1) == ([2, 3], 4, 1)
    monkeypatch.setattr(memory, "physical_memory", lambda: 2**30)
    for widths, name in (
        ((2**30, 4, 1), "in"),
        ((2, 2**16, 1), "hidden"),
        ((2, 4, 2**30), "out"),
        (([2**30], 4, 1), "in"),
    ):
        with pytest.raises(ValueError, match=f"A map of {name}_channels=.* needs 16 GiB of memory"):
            check_channels(*widths)


@pytest.mark.parametrize("kind", [GHR, DeepGNN, GPS, MinPlusGHR])
@pytest.mark.parametrize("name", ["in_channels", "hidden_channels", "out_channels", "edge_dim"])
def test_no_model_tries_to_be_too_large(kind, name, monkeypatch):
    monkeypatch.setattr(memory, "physical_memory", lambda: 2**30)
    widths = {"in_channels": 2, "hidden_channels": 4, "out_channels": 1}
    flat = {"levels": 1} if kind is MinPlusGHR else {}
    for size in (2**30, 99999999999):
        with pytest.raises(ValueError, match=f"(A map of {name}=|{name} must be a whole number of at most)"):
            kind(**{**widths, **flat, name: size})


@pytest.mark.parametrize("example", [None, 5, "graph", {0: 1}, iter([]), torch.ones(3), Data])
def test_widths_are_read_off_graphs_only(example):
    with pytest.raises(ValueError, match="A model is built for a graph or a sequence of graphs; got"):
        Widths.of(example, Task("node"))


@pytest.mark.parametrize(
    ("second", "words"),
    [
        (None, "A data set holds graphs of PyTorch Geometric; number 1 is None"),
        (
            Data(edge_index=torch.empty(2, 0).long(), num_nodes=1),
            "Graph 1 has no x, but the first graph has codes there",
        ),
        (Data(x=[1]), "x of graph 1 must be a tensor"),
        (Data(x=torch.ones(2, 0).long()), "x of graph 1 is torch.int64 of shape"),
    ],
)
def test_all_graphs_with_codes_need_codes(second, words):
    first = Data(x=torch.ones(2, 1).long(), edge_index=torch.empty(2, 0).long())
    with pytest.raises(ValueError, match=words):
        Widths.of([first, second], Task("node"))


def test_codes_need_a_column():
    with pytest.raises(ValueError, match="x of the first graph has no columns"):
        Widths.of(Data(x=torch.ones(2, 0).long(), edge_index=torch.empty(2, 0).long()), Task("node"))

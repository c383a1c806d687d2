import pytest
import torch
from torch_geometric.data import Batch, Data, HeteroData

from ghr import Coarsen, Graclus, memory
from ghr.hierarchy.level import read_finest
from ghr.testing import random_graph

EDGES = torch.tensor([[0, 1, 2], [1, 2, 3]])
NAN = float("nan")


def graph(**changes):
    data = Data(x=torch.ones(4, 1), edge_index=EDGES)
    for name, value in changes.items():
        data[name] = value
    return data


@pytest.mark.parametrize("weight", [torch.tensor([1.0, 2.0, 3.0]), torch.tensor([[1], [2], [3]])])
def test_an_edge_weight_is_a_feature(weight):
    level = read_finest(graph(edge_weight=weight))
    assert level.edge_attr.tolist() == [[1.0], [2.0], [3.0]]
    assert level.edge_attr.dtype == torch.float32


def test_an_edge_weight_is_the_last_feature_in_their_precision():
    data = graph(edge_attr=torch.zeros(3, 2, dtype=torch.double), edge_weight=torch.tensor([1, 2, 3]))
    level = read_finest(data)
    assert level.edge_attr.tolist() == [[0, 0, 1], [0, 0, 2], [0, 0, 3]]
    assert level.edge_attr.dtype == torch.double
    assert data.edge_attr.shape == (3, 2), "the graph is left as it is"
    assert (
        read_finest(graph(edge_weight=torch.tensor([1, 2, 3]), x=torch.ones(4, 1).double())).edge_attr.dtype
        == torch.double
    )


def test_gradients_reach_an_edge_weight():
    weight = torch.ones(3, requires_grad=True)
    read_finest(graph(edge_attr=torch.ones(3, 1), edge_weight=weight)).edge_attr.square().sum().backward()
    assert weight.grad.tolist() == [2, 2, 2]


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"edge_weight": torch.ones(2)}, r"one weight per edge, shape \(3,\); got the shape \(2,\)"),
        ({"edge_weight": torch.ones(3, 2)}, "one weight per edge"),
        ({"edge_weight": torch.tensor([1.0, NAN, 1.0])}, "edge_weight has 1 entries that are not finite"),
        ({"edge_weight": [1.0, 2.0, 3.0]}, "edge_weight must be a tensor; got the list"),
        (
            {"edge_weight": torch.ones(3), "edge_attr": torch.ones(3, 1).long()},
            "edge_attr holds integer codes .* one-hot",
        ),
        ({"edge_index": None}, "no edge_index; give an empty tensor"),
        ({"edge_index": [[0], [1]]}, "edge_index of level 0 must be an int64 tensor of shape .* got the list"),
        ({"edge_index": torch.tensor(1)}, "edge_index of level 0 must be an int64 tensor"),
        ({"edge_index": EDGES.int()}, "got torch.int32"),
        ({"x": [[1.0]] * 4}, "x must be a tensor; got the list"),
        ({"x": torch.tensor(1.0)}, "x must be a tensor"),
        ({"x": torch.ones(4, 1).to_sparse()}, "x must be a dense tensor"),
        ({"x": torch.ones(4, 1, dtype=torch.cfloat)}, "x must be a tensor of real numbers"),
        ({"edge_attr": 3}, "edge_attr of level 0 must be a tensor; got the int 3"),
        ({"edge_attr": torch.tensor(3.0)}, "edge_attr of level 0 must be a tensor"),
        ({"edge_attr": torch.ones(2)}, "edge_attr of level 0 has 2 rows for 3 edges"),
        ({"edge_attr": torch.ones(3, 1, 1)}, "edge_attr of level 0 must be a matrix"),
        ({"batch": [0, 0, 0, 0]}, "batch must be an int64 tensor"),
        ({"batch": torch.zeros(4)}, "batch must be an int64 tensor"),
        ({"batch": torch.zeros(3).long()}, r"batch has the shape \(3,\) for 4 nodes"),
        ({"batch": torch.tensor(0)}, r"batch has the shape \(\) for 4 nodes"),
        ({"x": None, "num_nodes": "4"}, "num_nodes must be a whole number of at least 0; got '4'"),
        ({"x": None, "num_nodes": -4}, "num_nodes must be a whole number of at least 0; got -4"),
        ({"x": None, "num_nodes": 10**12}, "num_nodes must be a whole number of at most 2147483647"),
        ({"x": None, "pos": torch.tensor(1.0)}, r"does not tell how many nodes it has \(.*\); set num_nodes"),
    ],
)
def test_what_does_not_fit_together_gets_a_sentence(changes, words):
    with pytest.raises(ValueError, match=words):
        read_finest(graph(**changes))


@pytest.mark.parametrize("given", [None, 5, "graph", {}, torch.ones(2), HeteroData()])
def test_what_is_no_graph_gets_a_sentence(given):
    with pytest.raises(ValueError, match=r"A graph must be a torch_geometric.data.Data; got \w+"):
        read_finest(given)


@pytest.mark.parametrize("count", [4, torch.tensor(4), torch.tensor([4])])
def test_the_number_of_nodes_is_a_number(count):
    assert read_finest(graph(x=None, num_nodes=count)).num_nodes == 4


def test_a_batch_joins_weights_as_its_graphs_do():
    graphs = [graph(edge_weight=torch.rand(3)) for _ in range(2)]
    together = torch.cat([read_finest(data).edge_attr for data in graphs])
    assert torch.equal(read_finest(Batch.from_data_list(graphs)).edge_attr, together)


def test_only_coarse_levels_have_clusters():
    fine, coarse = Coarsen(Graclus())(random_graph(6, 9)).levels
    assert coarse.clusters is coarse.assignment
    with pytest.raises(ValueError, match="Level 0 is the graph itself"):
        _ = fine.clusters


def test_a_number_of_nodes_beyond_the_memory_is_refused(monkeypatch):
    monkeypatch.setattr(memory, "physical_memory", lambda: 2**30)
    with pytest.raises(ValueError, match="A graph of num_nodes=2,000,000,000 needs 15 GiB of memory"):
        read_finest(Data(edge_index=EDGES, num_nodes=2 * 10**9))


@pytest.mark.parametrize("count", [torch.tensor([4j]), torch.tensor(4, device="meta"), torch.tensor([4, 4]), [4]])
def test_the_number_of_nodes_is_a_whole_number(count):
    with pytest.raises(ValueError, match="num_nodes must be a whole number"):
        read_finest(Data(edge_index=EDGES, num_nodes=count))


def test_features_and_weights_are_in_one_place():
    with pytest.raises(ValueError, match="edge_attr is on the device meta and edge_weight on cpu"):
        read_finest(graph(edge_attr=torch.ones(3, 1, device="meta"), edge_weight=torch.ones(3)))

import pytest
import torch
from torch_geometric.data import Data

from ghr.datasets.folders.tensor_file import TensorFile, as_matrix

PATH = torch.tensor([[0, 1], [1, 2]])


def save(folder, *graphs):
    torch.save(list(graphs), folder / "own.pt")
    return folder / "own.pt"


def test_graphs_are_counted_and_numbered(tmp_path):
    file = TensorFile(
        save(tmp_path, Data(x=torch.ones(4, 2), edge_index=PATH), Data(x=torch.ones(3, 2), edge_index=PATH.int()))
    )
    assert file.counts == {"node": [4, 3], "edge": [2, 2], "graph": [1, 1]}
    numbering, names = file.number(undirected=False)
    assert numbering.edge_index.tolist() == [[0, 1, 0, 1], [1, 2, 1, 2]]
    assert (names[1].graph, names[1].nodes, names[1].sources, names[1].targets) == (
        "1", ["0", "1", "2"], ["0", "1"], ["1", "2"],
    )  # fmt: skip
    assert file.number(undirected=True)[0].edge_index.shape == (2, 8)
    assert file.list_names() == ["edge_index", "x"]


def test_nodes_without_features_are_counted_too(tmp_path):
    file = TensorFile(save(tmp_path, Data(edge_index=PATH, num_nodes=7)))
    assert file.counts["node"] == [7]
    assert TensorFile(save(tmp_path, Data(edge_index=PATH))).counts["node"] == [3]


def test_a_single_graph_is_a_file_too(tmp_path):
    torch.save(Data(x=torch.ones(3, 1), edge_index=PATH), tmp_path / "own.pt")
    assert TensorFile(tmp_path / "own.pt").counts["graph"] == [1]


def test_tensors_are_joined_as_rows_and_columns(tmp_path):
    graphs = [Data(x=torch.ones(3, 1), edge_index=PATH, y=torch.tensor(2.0), z=torch.arange(3)) for _ in range(2)]
    file = TensorFile(save(tmp_path, *graphs))
    assert file.join("y", "graph").tolist() == [[2], [2]]
    assert file.join("z", "node").shape == (6, 1)
    assert file.join("nothing", "node") is None
    assert as_matrix(torch.ones(1, 2, 3)) is None


@pytest.mark.parametrize(
    ("graphs", "sentence"),
    [
        ([], "own.pt holds no graphs"),
        ([Data(x=torch.ones(3, 1))], r"own.pt, graph 0: edge_index must be integers of shape \(2, E\); got none"),
        ([Data(edge_index=torch.ones(2, 3))], r"got torch.float32 of shape \(2, 3\)"),
        ([Data(x=torch.ones(2, 1), edge_index=PATH)], "graph 0: edge_index names the node 2, but there are 2"),
        ([Data(x=torch.ones(2, 1), edge_index=-PATH)], "graph 0: edge_index names the node -2, but there are 2"),
    ],
)
def test_graphs_that_are_none_are_said(tmp_path, graphs, sentence):
    with pytest.raises(ValueError, match=sentence):
        TensorFile(save(tmp_path, *graphs))


@pytest.mark.parametrize(
    ("other", "sentence"),
    [
        ({}, "own.pt, graph 1 has no z, but others have one"),
        (
            {"z": torch.ones(3, 2)},
            "kind of columns in z; got 1 of torch.float32, 2 of torch.float32",
        ),
        ({"z": torch.ones(3, 1).long()}, "the same number and kind of columns in z"),
        ({"z": torch.ones(2)}, r"graph 1: z must have one row for each of 3 nodes; got the shape \(2,\)"),
        ({"z": torch.ones(3, 1, 1)}, r"graph 1: z must have one row for each of 3 nodes; got the shape \(3, 1, 1\)"),
    ],
)
def test_graphs_that_differ_are_said(tmp_path, other, sentence):
    first = Data(x=torch.ones(3, 1), edge_index=PATH, z=torch.ones(3))
    file = TensorFile(save(tmp_path, first, Data(x=torch.ones(3, 1), edge_index=PATH, **other)))
    with pytest.raises(ValueError, match=sentence):
        file.join("z", "node")


def test_what_could_run_code_is_refused(tmp_path):
    torch.save([torch.nn.Linear(1, 1)], tmp_path / "own.pt")
    with pytest.raises(ValueError, match="is refused: it asks for"):
        TensorFile(tmp_path / "own.pt")

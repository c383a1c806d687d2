import csv

import pytest
import torch
from writing import GRAPHS, NODES, write

from ghr import Task
from ghr.datasets.folders import read_folder, write_predictions


def rows_of(path):
    with open(path, encoding="utf-8", newline="") as file:
        return list(csv.reader(file))


@pytest.fixture
def folder(tmp_path):
    return write(tmp_path / "own", nodes=NODES, graphs=GRAPHS)


def test_numbers_of_graphs(folder, tmp_path):
    data = read_folder(folder, target="energy")
    assert write_predictions(tmp_path / "p.csv", data, [torch.tensor([[0.1]]), torch.tensor([[-2e-9]])]) == 2
    assert rows_of(tmp_path / "p.csv") == [["graph", "energy"], ["m1", "0.1"], ["m2", "-2e-09"]]


def test_classes_of_nodes_with_their_names_and_probabilities(folder, tmp_path):
    data = read_folder(folder, target="element")
    scores = [torch.zeros(2, 3), torch.tensor([[0.0, 0, 9], [9, 0, 0], [0, 9, 0]])]
    assert write_predictions(tmp_path / "p.csv", data, scores) == 5
    rows = rows_of(tmp_path / "p.csv")
    assert rows[0] == ["graph", "node", "element", "p(C)", "p(H)", "p(O)"]
    assert rows[1] == ["m1", "a", "C", "0.333333", "0.333333", "0.333333"]
    assert [row[:3] for row in rows[3:]] == [["m2", "a", "O"], ["m2", "b", "C"], ["m2", "c", "H"]]
    assert all(sum(map(float, row[3:])) == pytest.approx(1, abs=1e-5) for row in rows[1:])


def test_listed_edges_only(folder, tmp_path):
    data = read_folder(folder, target="kind", classes=True)
    scores = [torch.tensor([[1.0, 0], [0, 1]]), torch.tensor([[0.0, 1], [1, 0], [0, 1], [0, 1]])]
    assert write_predictions(tmp_path / "p.csv", data, scores) == 3
    assert [row[:4] for row in rows_of(tmp_path / "p.csv")] == [
        ["graph", "source", "target", "kind"],
        ["m1", "a", "b", "double"],
        ["m2", "a", "b", "single"],
        ["m2", "b", "c", "double"],
    ]


def test_several_targets_have_a_column_each(folder, tmp_path):
    (folder / "graphs.csv").write_text('graph,u,"v, w"\nm1,1,2\nm2,3,4\n')
    data = read_folder(folder, target=["u", "v, w"])
    write_predictions(tmp_path / "p.csv", data, [torch.tensor([[1.0, 2.0]]), torch.tensor([[3.0, 4.0]])])
    assert rows_of(tmp_path / "p.csv")[:2] == [["graph", "u", "v, w"], ["m1", "1.0", "2.0"]]


def test_graphs_without_a_target_take_a_task(folder, tmp_path):
    data = read_folder(folder)
    predictions = [torch.rand(2, 2), torch.rand(3, 2)]
    write_predictions(tmp_path / "p.csv", data, predictions, Task("node", out_channels=2, name="force"))
    assert rows_of(tmp_path / "p.csv")[0] == ["graph", "node", "force[0]", "force[1]"]
    write_predictions(tmp_path / "p.csv", data, predictions, Task("node", out_channels=2, loss="cross_entropy"))
    assert rows_of(tmp_path / "p.csv")[0] == ["graph", "node", "y", "p(0)", "p(1)"]
    with pytest.raises(ValueError, match="Without a target there is nothing to write"):
        write_predictions(tmp_path / "p.csv", data, predictions)


def test_predictions_of_other_graphs_are_refused_and_leave_no_file(folder, tmp_path):
    data = read_folder(folder, target="energy")
    with pytest.raises(ValueError, match="There are 2 graphs, but predictions for 1"):
        write_predictions(tmp_path / "p.csv", data, [torch.rand(1, 1)])
    with pytest.raises(ValueError, match=r"predictions of shape \(1, 1\).* gave \(2, 1\)"):
        write_predictions(tmp_path / "p.csv", data, [torch.rand(1, 1), torch.rand(2, 1)])
    assert not (tmp_path / "p.csv").exists()
    with pytest.raises(OSError, match=r"Could not write .*p.csv"):
        write_predictions(tmp_path / "nowhere" / "p.csv", data, [torch.rand(1, 1)] * 2)

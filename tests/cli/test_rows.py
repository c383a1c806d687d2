import csv

import torch

from ghr import Task
from ghr.cli.rows import write_rows
from ghr.datasets import Splits
from ghr.testing import random_graph


def read(path):
    with open(path, encoding="utf-8") as file:
        return list(csv.reader(file))


def split_of(graph, task):
    return Splits(task, [graph], [graph], [graph, graph])


def test_only_rows_that_count_are_written(tmp_path):
    graph = random_graph(3, 3)
    graph.y, graph.mask = torch.tensor([[1.5], [2.5], [torch.nan]]), torch.tensor([True, False, True])
    rows = write_rows(tmp_path / "rows.csv", split_of(graph, Task("node")), "test", [torch.ones(3, 1)] * 2)
    assert rows == 2
    assert read(tmp_path / "rows.csv") == [
        ["graph", "node", "truth", "prediction"],
        ["0", "0", "1.5", "1.0"],
        ["1", "0", "1.5", "1.0"],
    ]


def test_several_targets_have_a_column_each_and_missing_ones_are_empty(tmp_path):
    graph = random_graph(3, 3)
    graph.y = torch.tensor([[1.0, torch.nan]])
    write_rows(tmp_path / "rows.csv", split_of(graph, Task("graph", 2)), "val", [torch.tensor([[0.5, 0.25]])])
    assert read(tmp_path / "rows.csv") == [
        ["graph", "truth[0]", "truth[1]", "prediction[0]", "prediction[1]"],
        ["0", "1.0", "", "0.5", "0.25"],
    ]


def test_classes_have_names_and_probabilities(tmp_path):
    graph = random_graph(2, 1)
    graph.y = torch.tensor([1, 0])
    task = Task("node", 2, loss="cross_entropy", classes=["no", "yes"])
    write_rows(tmp_path / "rows.csv", split_of(graph, task), "train", [torch.tensor([[0.0, 0.0], [0.0, 100.0]])])
    assert read(tmp_path / "rows.csv") == [
        ["graph", "node", "truth", "prediction", "p(no)", "p(yes)"],
        ["0", "0", "yes", "no", "0.5", "0.5"],
        ["0", "1", "no", "yes", "3.72008e-44", "1"],
    ]


def test_edges_are_named_by_their_ends(tmp_path):
    graph = random_graph(2, 1)
    graph.edge_index = torch.tensor([[0, 1], [1, 0]])
    graph.edge_attr, graph.y = None, torch.tensor([[1.0], [2.0]])
    write_rows(tmp_path / "rows.csv", split_of(graph, Task("edge")), "train", [torch.zeros(2, 1)])
    assert read(tmp_path / "rows.csv") == [
        ["graph", "source", "target", "truth", "prediction"],
        ["0", "0", "1", "1.0", "0.0"],
        ["0", "1", "0", "2.0", "0.0"],
    ]

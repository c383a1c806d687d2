import numpy as np
import pytest
import torch
from torch_geometric.data import Data

from ghr.datasets.folders.tensor_file import TensorFile
from ghr.datasets.folders.tensor_target import (
    encode_tensor_target,
    find_tensor_level,
    infer_tensor_classes,
    name_targets,
)

PATH = torch.tensor([[0, 1], [1, 2]])
RING = torch.tensor([[0, 1, 2], [1, 2, 0]])


def file_of(folder, *targets, edges=PATH):
    torch.save([Data(x=torch.ones(3, 1), edge_index=edges, y=target) for target in targets], folder / "own.pt")
    return TensorFile(folder / "own.pt")


@pytest.mark.parametrize(
    ("target", "level"),
    [(torch.ones(3), "node"), (torch.ones(3, 4), "node"), (torch.ones(2, 1), "edge"), (torch.ones(1, 5), "graph"),
     (torch.tensor(1.0), "graph"), (2, "graph")],
)  # fmt: skip
def test_the_level_follows_from_the_rows(tmp_path, target, level):
    assert find_tensor_level(file_of(tmp_path, target), "y") == level
    assert find_tensor_level(file_of(tmp_path, target), "y", level) == level


def test_rows_that_fit_several_levels_ask_for_one(tmp_path):
    file = file_of(tmp_path, torch.ones(3), edges=RING)
    with pytest.raises(ValueError, match=r"'y' has one row for each of the nodes and the edges; .*--level"):
        find_tensor_level(file, "y")
    assert find_tensor_level(file, "y", "edge") == "edge"


def test_rows_that_fit_none_are_said(tmp_path):
    file = file_of(tmp_path, torch.ones(7))
    with pytest.raises(ValueError, match=r"for each node, each edge or the graph; .* 3 nodes and 2 edges.* \(7,\)"):
        find_tensor_level(file, "y")
    with pytest.raises(ValueError, match="must have one row for each graph"):
        find_tensor_level(file, "y", "graph")
    with pytest.raises(ValueError, match="not every graph has a tensor 'z' to predict; there are edge_index, x, y"):
        find_tensor_level(file, "z")


@pytest.mark.parametrize(
    ("target", "classes", "found"),
    [
        (torch.tensor([0, 2, -1]), None, ("0", "1", "2")),
        (torch.tensor([0, 2, 1]), False, None),
        (torch.tensor([0.0, 1.0, torch.nan]), None, None),
        (torch.tensor([0.0, 1.0, torch.nan]), True, ("0", "1")),
        (torch.tensor([True, False, True]), None, ("0", "1")),
        (torch.tensor([[0, 2], [1, 1], [1, 1]]), None, None),
    ],
)
def test_integers_are_classes(tmp_path, target, classes, found):
    assert infer_tensor_classes(file_of(tmp_path, target), "y", "node", classes) == found


@pytest.mark.parametrize(
    ("target", "classes", "sentence"),
    [
        (torch.tensor([0.5, 1, 2]), True, "to be classes, 'y' must be one column of whole numbers from 0"),
        (torch.ones(3, 2), True, "to be classes, 'y' must be one column of whole numbers from 0"),
        (torch.tensor([1, 1, -1]), None, "'y' has fewer than two classes"),
        (torch.tensor([-1, -1, -1]), None, "'y' has fewer than two classes"),
        (torch.tensor([1, 2, 40]), None, r"'y' would have 41 classes in 3 rows; .*--numbers"),
    ],
)
def test_classes_that_are_none_are_said(tmp_path, target, classes, sentence):
    with pytest.raises(ValueError, match=sentence):
        infer_tensor_classes(file_of(tmp_path, target), "y", "node", classes)


def test_targets_are_encoded_and_named(tmp_path):
    numbers = encode_tensor_target(file_of(tmp_path, torch.tensor([1.0, torch.nan, 2])), "y", "node", None)
    assert np.array_equal(numbers, [[1], [np.nan], [2]], equal_nan=True)
    classes = encode_tensor_target(file_of(tmp_path, torch.tensor([1, -5, 0])), "y", "node", ("0", "1"))
    assert (classes.tolist(), classes.dtype) == ([1, -1, 0], np.int64)
    assert name_targets("y", classes) == name_targets("y", numbers) == ("y",)
    assert name_targets("y", np.ones((3, 2))) == ("y[0]", "y[1]")
    with pytest.raises(ValueError, match="'y' has the class 3; known are 0 to 1"):
        encode_tensor_target(file_of(tmp_path, torch.tensor([3, 0, 0])), "y", "node", ("0", "1"))
    with pytest.raises(ValueError, match="some are infinite"):
        encode_tensor_target(file_of(tmp_path, torch.tensor([torch.inf, 0, 0])), "y", "node", None)
    with pytest.raises(ValueError, match=r"own.pt has no tensor 'z' to predict"):
        encode_tensor_target(file_of(tmp_path, torch.ones(3)), "z", "node", None)

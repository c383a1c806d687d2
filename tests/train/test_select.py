import math

import pytest
import torch
from torch import Tensor
from torch_geometric.data import Data

from ghr import Task
from ghr.train.select import Selection, select_rows

NAN = math.nan
PREDICTION = torch.arange(6.0).reshape(3, 2)


def graph(y: Tensor, mask: Tensor | None = None) -> Data:
    data = Data(y=y, num_nodes=3)
    if mask is not None:
        data.mask = mask
    return data


def test_all_that_is_there_counts() -> None:
    y = torch.tensor([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]])
    chosen = Selection.of(Task("node", 2), graph(y))
    assert not chosen.entries
    assert torch.equal(chosen.target, y)
    assert torch.equal(chosen.apply(PREDICTION), PREDICTION)


def test_rows_that_are_missing_as_a_whole_leave_rows() -> None:
    y = torch.tensor([[1.0, 2.0], [NAN, NAN], [5.0, 6.0]])
    chosen = Selection.of(Task("node", 2), graph(y))
    assert not chosen.entries
    assert chosen.target.tolist() == [[1.0, 2.0], [5.0, 6.0]]
    assert chosen.apply(PREDICTION).tolist() == [[0.0, 1.0], [4.0, 5.0]]


@pytest.mark.parametrize("mask", [None, torch.tensor([True, True, False])])
def test_rows_that_are_known_in_part_become_entries(mask: Tensor | None) -> None:
    y = torch.tensor([[1.0, NAN], [3.0, 4.0], [NAN, 6.0]])
    chosen = Selection.of(Task("node", 2), graph(y, mask))
    assert chosen.entries
    rows = [(0, 0), (1, 0), (1, 1)] + ([(2, 1)] if mask is None else [])
    assert chosen.target.tolist() == [y[row].item() for row in rows]
    assert chosen.apply(PREDICTION).tolist() == [PREDICTION[row].item() for row in rows]


def test_nothing_may_count() -> None:
    chosen = Selection.of(Task("node", 2), graph(torch.full((3, 2), NAN)))
    assert chosen.target.numel() == 0
    assert chosen.apply(PREDICTION).numel() == 0


def test_classes_are_rows() -> None:
    chosen = Selection.of(Task("node", 2, loss="cross_entropy"), graph(torch.tensor([1, -1, 0])))
    assert chosen.target.tolist() == [1, 0]
    assert chosen.apply(PREDICTION).tolist() == [[0.0, 1.0], [4.0, 5.0]]


def test_rows_keep_what_is_missing_as_nan() -> None:
    y = torch.tensor([[1.0, NAN], [NAN, NAN], [5.0, 6.0]])
    flags = torch.tensor([[True, True], [True, True], [False, True]])
    prediction, target = select_rows(Task("node", 2), graph(y, flags), PREDICTION)
    assert prediction.tolist() == [[0.0, 1.0], [4.0, 5.0]]
    torch.testing.assert_close(target, torch.tensor([[1.0, NAN], [NAN, 6.0]]), equal_nan=True)


def test_gradients_reach_the_chosen_entries_only() -> None:
    prediction = PREDICTION.clone().requires_grad_()
    y = torch.tensor([[1.0, NAN], [3.0, 4.0], [NAN, NAN]])
    Selection.of(Task("node", 2), graph(y)).apply(prediction).sum().backward()
    assert prediction.grad is not None
    assert prediction.grad.tolist() == [[1.0, 0.0], [1.0, 1.0], [0.0, 0.0]]

import re

import numpy as np
import pytest
import torch

from ghr.hierarchy import tensors


def test_right_tensors_come_back():
    numbers, edges, rows = torch.arange(3), torch.tensor([[0], [2]]), torch.ones(3)
    assert tensors.check_numbers("n", numbers, 3, "nodes") is numbers
    assert tensors.check_edges(edges, 3) is edges
    assert tensors.check_tensor("rows", rows) is rows
    assert tensors.check_rows("rows", rows, 3).shape == (3, 1)
    tensors.check_range("n", numbers, 2)
    tensors.check_range("n", numbers - 1, 1, least=-1)
    tensors.check_range("n", numbers[:0], -5)
    tensors.check_finite("rows", rows)
    tensors.check_finite("none", None)
    tensors.check_finite("codes", numbers)


def test_edges_are_only_looked_at_if_asked_to():
    wrong = torch.tensor([[0], [7]])
    assert tensors.check_edges(wrong, 3, look=False) is wrong
    with pytest.raises(ValueError, match="edge_index has node 7, but nodes run from 0 to 2"):
        tensors.check_edges(wrong, 3)


@pytest.mark.parametrize(("least", "most", "found"), [(0, 1, 2), (1, 2, 0)])
def test_numbers_out_of_range_are_named(least, most, found):
    with pytest.raises(ValueError, match=f"n has {found}, but must be in {least} to {most}"):
        tensors.check_range("n", torch.arange(3), most, least)


def test_a_large_but_finite_sum_is_finite():
    tensors.check_finite("x", torch.full((4,), 3e38))
    with pytest.raises(ValueError, match="x has 2 entries that are not finite"):
        tensors.check_finite("x", torch.tensor([3e38, float("inf"), float("nan")]))


@pytest.mark.parametrize(
    ("value", "words"),
    [
        (5, "the int 5"),
        ("a" * 500, "the str 'aaaa"),
        (torch.ones(2, 3), r"torch.float32 of shape \(2, 3\)"),
        (torch.ones(2).to_sparse(), "layout torch.sparse_coo"),
    ],
)
def test_values_are_described_shortly(value, words):
    assert re.search(words, tensors.describe(value))
    assert len(tensors.describe(value)) < 130


@pytest.mark.filterwarnings("ignore::UserWarning")
@pytest.mark.parametrize(
    "make",
    [
        lambda: torch.nested.nested_tensor([torch.ones(1), torch.ones(2)]),
        lambda: torch.ones(2).to_sparse(),
        lambda: torch.ones(2).to(torch.uint16),
        lambda: torch.ones(2).to(torch.float8_e5m2),
    ],
)
def test_only_dense_tensors_of_common_numbers_pass(make):
    value = make()
    for check in (
        lambda: tensors.check_tensor("it", value),
        lambda: tensors.check_rows("it", value, 2),
        lambda: tensors.check_numbers("it", value, 2, "nodes"),
        lambda: tensors.check_edges(value, 2, "it"),
    ):
        with pytest.raises(ValueError, match=r"^it must be .*; got .*\.$"):
            check()


def test_a_tensor_without_values_is_refused_where_these_are_looked_at():
    edges = torch.zeros(2, 3, dtype=torch.long, device="meta")
    assert tensors.check_edges(edges, 3, look=False) is edges
    for check in (
        lambda: tensors.check_edges(edges, 3, "it"),
        lambda: tensors.check_range("it", edges, 3),
        lambda: tensors.check_finite("it", edges.float()),
    ):
        with pytest.raises(ValueError, match="it is on the device meta and has no values"):
            check()


@pytest.mark.parametrize("device", ["cpu", "meta"])
def test_an_array_becomes_a_tensor_beside_another(device):
    tensor = tensors.to_tensor(np.arange(3), torch.empty(0, device=device))
    assert (tensor.device.type, tensor.dtype, tensor.shape) == (device, torch.long, (3,))


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16, torch.float32, torch.float64])
@pytest.mark.parametrize("bad", [float("nan"), float("inf"), -float("inf")])
def test_what_is_not_finite_is_counted_in_any_precision_and_place(dtype, bad):
    value = torch.full((6, 4), torch.finfo(dtype).max, dtype=dtype)  # their sum is infinite
    tensors.check_finite("x", value.T[::2].requires_grad_())
    value[1, 2] = value[4, 0] = bad
    with pytest.raises(ValueError, match="x has 2 entries that are not finite numbers"):
        tensors.check_finite("x", value.T[::2].requires_grad_())


def test_numbers_whose_sign_is_yet_to_be_turned_are_finite():
    tensors.check_finite("x", torch.ones(3, dtype=torch.complex64).conj().imag)

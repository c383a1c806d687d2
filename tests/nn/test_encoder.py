import pytest
import torch
from torch import nn

from ghr import memory
from ghr.nn.encoder import CodeEncoder, check_dtype, check_features, check_map, check_width, make_encoder


def test_codes_add_up_one_vector_per_column():
    encoder = CodeEncoder([3, 2], 4)
    codes = torch.tensor([[2, 0], [0, 1]])
    table = encoder.table.weight
    expected = torch.stack([table[2] + table[3 + 0], table[0] + table[3 + 1]])
    torch.testing.assert_close(encoder(codes), expected)


def test_columns_have_codes_of_their_own():
    encoder = CodeEncoder([3, 3], 4)
    assert not torch.equal(encoder(torch.tensor([[1, 2]])), encoder(torch.tensor([[2, 1]])))


def test_the_offsets_are_no_part_of_the_weights():
    assert set(CodeEncoder([3, 2], 4).state_dict()) == {"table.weight"}


def test_the_width_chooses_the_encoder():
    assert isinstance(make_encoder(3, 8), nn.Linear)
    assert isinstance(make_encoder([3], 8), CodeEncoder)


def test_reset_changes_all_parameters():
    encoder = CodeEncoder([3, 2], 4)
    before = encoder.table.weight.detach().clone()
    encoder.reset_parameters()
    assert not torch.equal(before, encoder.table.weight)


@pytest.mark.parametrize("width", [None, 0, -1, 1.5, True, "3", [], [0], [2, "a"]])
def test_what_is_no_width_is_refused(width):
    with pytest.raises(ValueError, match="in_channels"):
        check_width("in_channels", width)


def test_widths_pass():
    assert check_width("x", 3) == 3
    assert check_width("x", (3, 2)) == [3, 2]


def check(value, width, dtype=torch.float32):
    return check_features("x", value, width, dtype, look=True)


def test_features_are_taken_as_the_encoder_needs_them():
    real = torch.rand(2, 3)
    assert check(real, 3) is real
    assert check(torch.tensor([[True]]), 1).dtype == torch.float32
    assert check(torch.tensor([[2.0]]), [3]).dtype == torch.int64


def test_truth_values_are_codes_too():
    assert check(torch.tensor([[True], [False]]), [2]).dtype == torch.bool
    encoder = CodeEncoder([2], 4)
    codes = torch.tensor([[True], [False]])
    torch.testing.assert_close(encoder(codes), encoder.table.weight[[1, 0]])


def test_numbers_must_be_as_the_model_computes_unless_autocast_converts_them():
    check_dtype("x", torch.zeros(1), torch.float32)
    with pytest.raises(ValueError, match=r"x must hold floating point numbers; got torch\.int64"):
        check_dtype("x", torch.zeros(1).long(), torch.float32)
    with pytest.raises(ValueError, match=r"x holds torch\.float64, but the model computes with torch\.float32"):
        check_dtype("x", torch.zeros(1).double(), torch.float32)
    with torch.autocast("cpu", torch.bfloat16):
        check_dtype("x", torch.zeros(1).bfloat16(), torch.float32)


@pytest.mark.parametrize(
    ("value", "width", "sentence"),
    [
        (torch.zeros(2, 3), 2, r"built for x of shape \(N, 2\); got \(2, 3\)"),
        (torch.zeros(2, 3).long(), 3, "x holds whole numbers"),
        (torch.zeros(2, 3).double(), 3, "computes with torch.float32"),
        (torch.tensor([[3]]), [3], "Column 0 of x has the code 3, but the model knows 0 to 2"),
        (torch.tensor([[0, -1]]), [3, 2], "Column 1 of x has the code -1, but the model knows 0 to 1"),
        (torch.tensor([[0.5]]), [3], "some of it are fractions"),
        (torch.zeros(2).long(), [3], r"shape \(N, 1\); got \(2,\)"),
    ],
)
def test_features_that_do_not_fit_are_refused(value, width, sentence):
    with pytest.raises(ValueError, match=sentence):
        check(value, width)


def test_maps_beyond_the_memory_are_refused(monkeypatch):
    monkeypatch.setattr(memory, "physical_memory", lambda: 2**30)
    check_map("edge_dim", 2**20, 64)
    check_map("edge_dim", [2**20, 5], 64)
    for width in (2**30, [5, 2**30]):
        with pytest.raises(ValueError, match=r"A map of edge_dim=.* to 64 channels needs 256 GiB"):
            check_map("edge_dim", width, 64)
    for width in (2**31, [2**31], b"codes"):
        with pytest.raises(ValueError, match=r"edge_dim must be a whole number|codes of a column of edge_dim must be"):
            check_width("edge_dim", width)

import pytest
import torch
from torch import nn

from ghr.nn.norm import NORMS, make_norm


def test_names():
    assert isinstance(make_norm(None, 3), nn.Identity)
    assert isinstance(make_norm("layer", 3), nn.LayerNorm)
    assert repr(make_norm("batch", 3)) == "BatchNorm(3)"
    assert set(NORMS) == {None, "batch", "layer"}
    with pytest.raises(ValueError, match="Unknown norm 'rms'; known are None, batch, layer"):
        make_norm("rms", 3)


def test_a_batch_norm_is_that_of_pytorch():
    torch.manual_seed(0)
    ours, theirs, x = make_norm("batch", 3), nn.BatchNorm1d(3), torch.randn(7, 3)
    assert torch.equal(ours(x), theirs(x))
    assert torch.equal(ours.running_var, theirs.running_var)
    assert torch.equal(ours.eval()(x), theirs.eval()(x))


def test_a_batch_norm_says_that_one_row_is_too_few_and_ignores_none():
    norm = make_norm("batch", 3)
    with pytest.raises(ValueError, match="A batch norm cannot be trained on a single row"):
        norm(torch.ones(1, 3))
    assert norm(torch.ones(0, 3)).shape == (0, 3)
    assert norm.running_var.isfinite().all()
    assert norm.num_batches_tracked == 0
    assert norm.eval()(torch.ones(1, 3)).shape == (1, 3)

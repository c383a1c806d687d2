import pytest
import torch
from torch import nn

from ghr.nn.readout import NodeReadout, ReadoutInput, ScaledReadout


def make_input(rows: int = 4, channels: int = 3) -> ReadoutInput:
    state = torch.randn(rows, channels, generator=torch.Generator().manual_seed(0))
    return ReadoutInput(state, torch.zeros(rows, dtype=torch.long), 1, torch.empty(2, 0, dtype=torch.long), None)


def test_every_column_has_its_own_unit():
    inner = NodeReadout(3, 2)
    given = make_input()
    scaled = ScaledReadout(inner, [100.0, -1.0], [10.0, 0.5])(given)
    for row, plain in zip(scaled.tolist(), inner(given).tolist(), strict=True):
        assert row == pytest.approx([100 + 10 * plain[0], -1 + 0.5 * plain[1]], rel=1e-6)


def test_a_readout_of_one_s_own_need_not_say_its_width():
    class Own(nn.Module):
        def forward(self, given: ReadoutInput) -> torch.Tensor:
            return given.state[:, :1]

    scaled = ScaledReadout(Own(), [1.0], [2.0])
    given = make_input()
    assert torch.equal(scaled(given), 1 + 2 * given.state[:, :1])


def test_the_unit_is_no_weight_and_resetting_keeps_it():
    scaled = ScaledReadout(NodeReadout(3, 1), [5.0], [2.0])
    before = {name: value.clone() for name, value in scaled.state_dict().items()}
    assert all(name.startswith("inner.") for name in before)
    scaled.reset_parameters()
    assert any(not torch.equal(value, before[name]) for name, value in scaled.state_dict().items())
    assert (scaled.shift.item(), scaled.scale.item()) == (5.0, 2.0)
    assert repr(scaled) == "ScaledReadout(NodeReadout(out_channels=1, layers=1))"


@pytest.mark.parametrize(("shift", "scale"), [([1.0], [1.0, 2.0]), ([1.0, 2.0], [1.0]), ([1.0], [1.0])])
def test_a_unit_has_one_number_per_column(shift, scale):
    with pytest.raises(ValueError, match="A unit needs one number per column, 2; got"):
        ScaledReadout(NodeReadout(3, 2), shift, scale)

import torch

from cases import relative_error
from ghr.nn import ProportionalReadout
from ghr.nn.readout import ReadoutInput


def test_is_linear_without_a_constant():
    readout = ProportionalReadout(3, 2).double()
    state = torch.randn(4, 3, dtype=torch.double)
    none = torch.zeros(4, dtype=torch.long)
    weight = readout.weight.tolist()
    expected = [[sum(r * h for r, h in zip(row, node, strict=True)) for row in weight] for node in state.tolist()]
    for scale in (1.0, 0.0, 1e6):
        given = ReadoutInput(scale * state, none, 1, torch.empty(2, 0, dtype=torch.long), None)
        assert relative_error(readout(given), scale * torch.tensor(expected, dtype=torch.double)) <= 1e-12
    assert repr(readout) == "ProportionalReadout(out_channels=2, layers=1)"


def test_starts_near_the_mean_and_can_be_drawn_anew():
    readout = ProportionalReadout(200, 1)
    before = readout.weight.clone()
    assert abs(before.sum().item() - 1) < 0.1
    readout.reset_parameters()
    assert not torch.equal(readout.weight, before)

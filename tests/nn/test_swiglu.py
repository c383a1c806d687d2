import pytest
import torch

import reference
from cases import randomise, relative_error
from ghr.nn import SwiGLU


def test_equals_the_loops():
    block = randomise(SwiGLU(5))
    x = torch.randn(7, 5, dtype=torch.double)
    expected = [reference.swiglu(reference.read_weights(block), row) for row in reference.read_rows(x)]
    assert relative_error(block(x), expected) <= 1e-12


@pytest.mark.parametrize(
    ("channels", "inner"), [(1, 8), (6, 8), (7, 16), (16, 24), (32, 48), (64, 88), (128, 176), (256, 344)]
)
def test_inner_width(channels, inner):
    block = SwiGLU(channels)
    assert block.inner == inner
    assert block.gate_content.weight.shape == (2 * inner, channels)
    assert block.down.weight.shape == (channels, inner)
    assert repr(block) == f"SwiGLU({channels}, inner={inner})"


def test_zero_gives_zero():
    assert SwiGLU(8)(torch.zeros(3, 8)).abs().max() == 0


@pytest.mark.parametrize("half", ["gate", "content"])
def test_closed_gate_or_empty_content_gives_zero(half):
    block = SwiGLU(8)
    rows = slice(0, block.inner) if half == "gate" else slice(block.inner, None)
    with torch.no_grad():
        block.gate_content.weight[rows] = 0
    assert block(torch.randn(3, 8)).abs().max() == 0


def test_has_no_biases():
    assert {name for name, _ in SwiGLU(8).named_parameters()} == {"gate_content.weight", "down.weight"}


def test_reset_parameters_draws_anew():
    block = SwiGLU(8)
    before = {name: value.clone() for name, value in block.state_dict().items()}
    block.reset_parameters()
    assert not any(torch.equal(before[name], value) for name, value in block.state_dict().items())

import pytest
import torch

from ghr import State
from ghr.models.state import INITIAL_STATES, LearnedState, RandomState


def test_low_is_the_finest_and_high_the_coarsest():
    levels = tuple(torch.randn(n, 2) for n in (4, 2, 1))
    state = State(levels)
    assert state.low is levels[0]
    assert state.high is levels[2]


def test_learned_state_is_one_vector_for_all():
    torch.manual_seed(0)
    initial = LearnedState(4096)
    out = initial(torch.zeros(3, 1), 3)
    assert out.shape == (3, 4096)
    assert torch.equal(out[0], out[2])
    assert float(out.detach()[0].std()) == pytest.approx(0.02, rel=0.05)
    out.sum().backward()
    assert torch.equal(initial.value.grad, torch.full((4096,), 3.0))


def test_learned_state_is_drawn_anew():
    initial = LearnedState(4)
    before = initial.value.detach().clone()
    initial.reset_parameters()
    assert not torch.equal(initial.value, before)


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_random_state_is_new_for_every_node_and_call(dtype):
    torch.manual_seed(0)
    initial = RandomState(64)
    x = torch.zeros(100, 1, dtype=dtype)
    first, second = initial(x, 100), initial(x, 100)
    assert first.shape == (100, 64)
    assert first.dtype == dtype
    assert not torch.equal(first, second)
    assert not torch.equal(first[0], first[1])
    assert float(first.std()) == pytest.approx(0.02, rel=0.05)
    assert not list(initial.parameters())


def test_names():
    assert {"learned": LearnedState, "random": RandomState} == INITIAL_STATES

"""Operations that write over an argument do the same through the dispatcher and past it."""

import torch
from torch._subclasses import FakeTensorMode
from torch.utils._python_dispatch import TorchDispatchMode

from ghr.ops.in_place import in_place_operation


@in_place_operation("ghr_test::double_", "x")
def double_(x: torch.Tensor, times: int) -> None:
    """Computed by numpy, so nothing of it is recorded by itself."""
    x.numpy()[:] *= 2**times


@double_.register_fake
def _(x, times):
    return None


class Listener(TorchDispatchMode):
    def __init__(self):
        super().__init__()
        self.heard = []

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        self.heard.append(str(func))
        return func(*args, **(kwargs or {}))


@torch.no_grad()
def test_the_argument_changes_both_ways():
    past, through = torch.ones(3), torch.ones(3)
    double_(past, 2)
    with Listener() as listener:
        double_(through, 2)
    assert listener.heard == ["ghr_test.double_.default"]
    assert past.tolist() == through.tolist() == [4, 4, 4]


@torch.no_grad()
def test_it_is_seen_by_a_compiler_and_by_tensors_without_numbers():
    def work(x):
        y = x + 1
        double_(y, 1)
        return y

    compiled = torch.compile(work, fullgraph=True, backend="aot_eager")
    assert compiled(torch.ones(2)).tolist() == work(torch.ones(2)).tolist() == [4, 4]
    with FakeTensorMode():
        assert work(torch.ones(2)).shape == (2,)


def test_it_is_well_formed():
    torch.library.opcheck(torch.ops.ghr_test.double_.default, (torch.ones(3), 1))

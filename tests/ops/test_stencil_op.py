from pathlib import Path

import numba
import pytest
import torch

from cases import relative_error
from ghr import ops
from ghr.ops.stencil import stencil


def run(backend, values, matrices, count, side):
    with ops.using(backend):
        out = stencil(values, matrices, count, side)
    weight = torch.linspace(-1, 2, out.numel(), dtype=out.dtype).view_as(out)
    return [out, *torch.autograd.grad((out * weight).sum(), (values, matrices))]


def case(dtype, count, side, channels, columns, width):
    torch.manual_seed(0)
    values = torch.randn(count * side * side, channels, dtype=dtype, requires_grad=True)
    return values, torch.randn(width**2 * channels, columns, dtype=dtype, requires_grad=True), count, side


@pytest.mark.parametrize(("dtype", "bound"), [(torch.float32, 1e-5), (torch.float64, 1e-12)])
@pytest.mark.parametrize(
    ("count", "side", "channels", "columns", "width"),
    [
        (2, 3, 3, 5, 3),
        (3, 16, 12, 12, 7),
        (1, 18, 12, 48, 3),
        (2, 4, 1, 1, 5),
        (2, 2, 4, 4, 5),
        (1, 1, 2, 2, 1),
        (2, 4, 12, 12, 1),  # the matrix of the way back is a view of the one given
        (7, 4, 5, 16, 3),  # more small lattices than share a vector
        (3, 8, 12, 12, 7),
        (1, 40, 4, 13, 5),
    ],
)
def test_kernels_agree_with_pytorch(count, side, channels, columns, width, dtype, bound):
    given = case(dtype, count, side, channels, columns, width)
    for ours, theirs in zip(run("numba", *given), run("torch", *given), strict=True):
        assert relative_error(ours, theirs.detach()) <= bound


@pytest.mark.parametrize("backend", ["torch", "numba"])
def test_a_square_that_goes_around_a_lattice_twice_is_refused(backend):
    with pytest.raises(ValueError, match="side is 2, but a square of width 7 needs one of at least 3"):
        run(backend, *case(torch.float32, 2, 2, 3, 3, 7))


def test_gradients_by_finite_differences():
    values, matrices, count, side = case(torch.float64, 2, 3, 2, 3, 3)
    assert torch.autograd.gradcheck(lambda *tensors: stencil(*tensors, count, side), (values, matrices))


@pytest.mark.parametrize(("count", "side"), [(3, 18), (300, 4)])
def test_results_do_not_depend_on_the_number_of_threads(count, side):
    given, before, results = case(torch.float32, count, side, 12, 6, 5), numba.get_num_threads(), []
    try:
        for threads in (1, min(2, numba.config.NUMBA_NUM_THREADS)):
            numba.set_num_threads(threads)
            results.append(run("numba", *given))
    finally:
        numba.set_num_threads(before)
    assert all(torch.equal(a, b) for a, b in zip(*results, strict=True))


def test_the_operation_is_well_formed():
    values, matrices, _, side = case(torch.float64, 2, 4, 3, 2, 3)
    torch.library.opcheck(torch.ops.ghr.stencil.default, (values, matrices, side))


@pytest.mark.skipif(not Path("/proc/self/statm").exists(), reason="only Linux tells how much memory is in use")
def test_kernels_give_their_memory_back():
    values, matrices = torch.randn(4 * 32 * 32, 12, requires_grad=True), torch.randn(25 * 12, 12, requires_grad=True)

    def use(times):
        for _ in range(times):
            stencil(values, matrices, 4, 32).sum().backward()
        return 4096 * int(Path("/proc/self/statm").read_text().split()[1])

    before = use(20)
    assert use(100) - before < 5e6  # images of 36 kB that three kernels did not give back would be 10 MB

import numba
import numpy as np
import pytest
import torch

from ghr import ops
from ghr.ops.kernels.exponential import exponential

SIZES = (3, 1, 40, 9)  # fewer and more than a block of rows, and than a vector


def by_loops(qkv, start, heads):
    """Row by row, head by head."""
    channels = qkv.size(1) // 3
    width = channels // heads
    query, key, value = qkv.split(channels, dim=1)
    rows = []
    for i in range(qkv.size(0)):
        graph = next(g for g in range(len(start) - 1) if start[g] <= i < start[g + 1])
        parts = []
        for head in range(heads):
            own = slice(head * width, (head + 1) * width)
            near = range(int(start[graph]), int(start[graph + 1]))
            score = torch.stack([query[i, own] @ key[j, own] for j in near]) / width**0.5
            weight = score.exp() / score.exp().sum()
            parts.append(sum(w * value[j, own] for w, j in zip(weight, near, strict=True)))
        rows.append(torch.cat(parts))
    return torch.stack(rows)


def make(dtype, channels):
    generator = torch.Generator().manual_seed(channels)
    qkv = torch.randn(sum(SIZES), 3 * channels, generator=generator, dtype=torch.double).to(dtype)
    weight = torch.randn(sum(SIZES), channels, generator=generator, dtype=torch.double).to(dtype)
    return qkv.requires_grad_(), torch.tensor([0, *SIZES]).cumsum(0), weight


@pytest.mark.parametrize("backend", ["torch", "numba"])
@pytest.mark.parametrize(("channels", "heads"), [(6, 2), (20, 2), (8, 1), (3, 3)])
def test_by_loops(backend, channels, heads):
    qkv, start, weight = make(torch.double, channels)
    expected = by_loops(qkv, start, heads)
    (expected_grad,) = torch.autograd.grad((expected * weight).sum(), qkv)
    with ops.using(backend):
        out = ops.attend(qkv, start, heads)
        (grad,) = torch.autograd.grad((out * weight).sum(), qkv)
    torch.testing.assert_close(out, expected, rtol=1e-10, atol=1e-12)
    torch.testing.assert_close(grad, expected_grad, rtol=1e-10, atol=1e-12)


@pytest.mark.parametrize(("scale", "bound"), [(1.0, 1e-6), (30.0, 1e-3)])
def test_single_precision_and_large_scores(scale, bound):
    results = []
    for dtype in (torch.float32, torch.double):
        qkv, start, weight = make(dtype, 16)
        out = ops.attend(scale * qkv, start, 2)
        (out * weight).sum().backward()
        results.append((out.detach().double(), qkv.grad.double()))
    for single, double in zip(*results, strict=True):
        assert (single - double).norm() <= bound * double.norm()


def test_what_is_not_a_number_comes_through_in_its_graph_alone():
    qkv, start, _ = make(torch.double, 6)
    with torch.no_grad():
        qkv[5] = torch.nan
    out = ops.attend(qkv, start, 2)
    assert out[4:44].isnan().all()
    assert torch.isfinite(out[:4]).all()
    assert torch.isfinite(out[44:]).all()


@numba.njit
def exponential_of_all(x, out):
    for i in range(x.size):
        out[i] = exponential(x[i])


@pytest.mark.parametrize(("dtype", "bound"), [(np.float32, 3e-7), (np.float64, 1e-15)])
def test_relative_error_of_the_exponential(dtype, bound):
    x = np.linspace(-80, 80, 20_001).astype(dtype)
    out = np.empty_like(x)
    exponential_of_all(x, out)
    np.testing.assert_allclose(out, np.exp(x.astype(np.longdouble)), rtol=bound)

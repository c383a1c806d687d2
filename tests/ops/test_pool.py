import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import nn

import reference
from cases import relative_error
from ghr import ops
from ghr.ops import check_pool, pool, unpool

POOLS = ["max", "sum", "mean"]


@st.composite
def memberships(draw):
    num_clusters = draw(st.integers(1, 6))
    parent = draw(st.lists(st.integers(0, num_clusters - 1), min_size=1, max_size=12))
    value = st.floats(-100, 100, allow_subnormal=False)
    rows = draw(st.lists(st.lists(value, min_size=2, max_size=2), min_size=len(parent), max_size=len(parent)))
    return torch.tensor(rows, dtype=torch.double), torch.tensor(parent), num_clusters


@pytest.mark.parametrize("how", POOLS)
@given(case=memberships())
def test_equals_the_loops(how, case):
    x, parent, num_clusters = case
    expected = reference.pool(reference.read_rows(x), parent.tolist(), num_clusters, how)
    assert relative_error(pool(x, parent, num_clusters, how), expected) <= 1e-12


@pytest.mark.parametrize("how", POOLS)
def test_empty_clusters_get_zero_and_no_gradient(how):
    x = torch.tensor([[-3.0], [-1.0]], requires_grad=True)
    out = pool(x, torch.tensor([1, 1]), 4, how)
    assert out[[0, 2, 3]].abs().max() == 0
    assert out[1] == {"max": -1, "sum": -4, "mean": -2}[how]
    out[[0, 2, 3]].sum().backward()
    assert x.grad.abs().max() == 0


@pytest.mark.parametrize("level", [2.0, -0.5, 0.0])
def test_ties_share_the_gradient_of_the_maximum_equally(level):
    x = torch.tensor([level, level - 1, level, level, 7.0], dtype=torch.double).unsqueeze(1).requires_grad_()
    pool(x, torch.tensor([0, 0, 0, 0, 1]), 2, "max").sum().backward()
    assert torch.allclose(x.grad.flatten(), torch.tensor([1 / 3, 0, 1 / 3, 1 / 3, 1], dtype=torch.double))


def test_a_lone_member_gets_the_whole_gradient_of_the_maximum():
    for value in (1.0, 0.0, -1.0):
        x = torch.tensor([[value]], requires_grad=True)
        pool(x, torch.tensor([0]), 1, "max").sum().backward()
        assert x.grad.item() == 1, f"for a member of {value}"


@pytest.mark.parametrize("how", POOLS)
def test_gradients_are_those_of_finite_differences(how):
    x = torch.randn(6, 2, dtype=torch.double, generator=torch.Generator().manual_seed(0)).requires_grad_()
    parent = torch.tensor([0, 2, 2, 0, 3, 2])
    assert torch.autograd.gradcheck(lambda v: pool(v, parent, 5, how), (x,))


def test_unpool_hands_down_and_undoes_the_pool_of_constants():
    x = torch.randn(3, 2)
    parent = torch.tensor([2, 0, 0, 1])
    members = unpool(x, parent)
    assert torch.equal(members, torch.stack([x[2], x[0], x[0], x[1]]))
    for how in ("max", "mean"):
        assert torch.equal(pool(members, parent, 3, how), x)


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64, torch.bfloat16])
@pytest.mark.parametrize("how", POOLS)
def test_keeps_the_type(how, dtype):
    assert pool(torch.ones(2, 3, dtype=dtype), torch.tensor([0, 0]), 1, how).dtype == dtype


def test_unknown_pool_is_refused():
    with pytest.raises(ValueError, match="Unknown pool 'median'; known pools are max, sum, mean"):
        check_pool("median")
    for how in POOLS:
        check_pool(how)


# Fused with the norm, and unpooling fused with the sum


@pytest.mark.parametrize("reduce", ["max", "sum", "mean"])
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_pooling_of_the_normalised_state_agrees_with_pytorch(reduce, dtype):
    torch.manual_seed(0)
    assignment = torch.tensor([0, 2, 2, 0, 1, 1, 1, 4])
    x = torch.randn(8, 5, dtype=dtype)
    x[5] = x[4]  # a tie in every column
    x[0] = 0
    x.requires_grad_()
    norm = nn.RMSNorm(5, eps=1e-6).to(dtype)
    with torch.no_grad():
        norm.weight.copy_(torch.randn(5))
    results = []
    for members in (ops.sort_members(assignment, 5), None):
        out = ops.pool_normalised(x, norm, assignment, 5, reduce, members)
        weight = torch.linspace(-1, 1, out.numel(), dtype=dtype).view_as(out)
        results.append([out, *torch.autograd.grad((out * weight).sum(), [x, norm.weight])])
    for ours, theirs in zip(*results, strict=True):
        torch.testing.assert_close(ours, theirs)
    assert torch.equal(results[0][0][3], torch.zeros(5, dtype=dtype)), "an empty cluster gets zero"


def test_adding_the_unpooled_state_agrees_with_pytorch():
    assignment = torch.tensor([0, 2, 2, 0, 1])
    base, x = (torch.randn(n, 3, dtype=torch.float64, requires_grad=True) for n in (5, 3))
    results = []
    for members in (ops.sort_members(assignment, 3), None):
        out = ops.add_unpooled(base, x, assignment, members)
        results.append([out, *torch.autograd.grad((out**2).sum(), [base, x])])
    for ours, theirs in zip(*results, strict=True):
        torch.testing.assert_close(ours, theirs)


@pytest.mark.parametrize("how", [None, 3, ["max"], torch.ones(2), np.array(["max", "sum"])])
def test_what_is_no_word_is_no_pool(how):
    with pytest.raises(ValueError, match="Unknown pool"):
        check_pool(how)

import math

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from ghr.ops.select import select


def by_loops(values, logits, target, otherwise):
    out = [list(row) for row in otherwise.tolist()]
    for node in range(len(out)):
        edges = [edge for edge, end in enumerate(target.tolist()) if end == node]
        for channel in range(values.size(1)) if edges else ():
            weight = [math.exp(logits[edge, channel].item()) for edge in edges]
            total = sum(w * values[edge, channel].item() for w, edge in zip(weight, edges, strict=True))
            out[node][channel] = total / sum(weight)
    return torch.tensor(out, dtype=torch.double)


@given(st.integers(1, 6), st.integers(0, 12), st.integers(1, 3), st.integers(0, 99))
def test_equals_the_loops(nodes, edges, channels, seed):
    generator = torch.Generator().manual_seed(seed)
    draw = {"generator": generator, "dtype": torch.double}
    values, logits = torch.randn(edges, channels, **draw), 3 * torch.randn(edges, channels, **draw)
    target = torch.randint(nodes, (edges,), generator=generator)
    otherwise = torch.randn(nodes, channels, **draw)
    expected = by_loops(values, logits, target, otherwise)
    torch.testing.assert_close(select(values, logits, target, otherwise), expected, rtol=1e-10, atol=1e-12)


def test_gradients():
    target = torch.tensor([0, 0, 1, 1, 1])
    given = [torch.randn(5, 2, dtype=torch.double, requires_grad=True) for _ in range(2)]
    otherwise = torch.randn(3, 2, dtype=torch.double, requires_grad=True)
    assert torch.autograd.gradcheck(lambda v, a, o: select(v, a, target, o), (*given, otherwise))


@pytest.mark.parametrize("size", [1e4, -1e4])
def test_large_logits_do_not_overflow(size):
    logits = torch.tensor([[size], [size - 1]])
    chosen = select(torch.tensor([[1.0], [2.0]]), logits, torch.tensor([0, 0]), torch.zeros(1, 1))
    assert chosen.item() == pytest.approx(1 + 1 / (1 + math.e), rel=1e-5)

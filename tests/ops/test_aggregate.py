import torch
from hypothesis import given
from hypothesis import strategies as st

from cases import relative_error
from ghr.ops import aggregate_sum


@given(num_nodes=st.integers(1, 6), num_edges=st.integers(0, 12), seed=st.integers(0, 1000))
def test_equals_the_loop(num_nodes, num_edges, seed):
    generator = torch.Generator().manual_seed(seed)
    target = torch.randint(num_nodes, (num_edges,), generator=generator)
    messages = torch.randn(num_edges, 3, generator=generator, dtype=torch.double)
    expected = [[0.0] * 3 for _ in range(num_nodes)]
    for node, message in zip(target.tolist(), messages.tolist(), strict=True):
        expected[node] = [a + b for a, b in zip(expected[node], message, strict=True)]
    assert relative_error(aggregate_sum(messages, target, num_nodes), expected) <= 1e-12


def test_takes_one_number_per_message():
    out = aggregate_sum(torch.tensor([1.0, 2.0, 4.0]), torch.tensor([2, 0, 2]), 4)
    assert out.tolist() == [2, 0, 5, 0]


def test_gradient_is_one_per_message():
    messages = torch.randn(4, 2, requires_grad=True)
    aggregate_sum(messages, torch.tensor([0, 0, 2, 1]), 3).sum().backward()
    assert torch.equal(messages.grad, torch.ones(4, 2))

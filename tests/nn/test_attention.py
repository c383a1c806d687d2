import pytest
import torch
from torch import nn
from torch_geometric.utils import to_dense_batch

from ghr.nn.attention import GraphAttention, count_pairs, graph_starts


def test_the_same_weights_give_what_padded_attention_gives():
    torch.manual_seed(0)
    batch = torch.tensor([0] * 5 + [1] + [2] * 12)
    ours, padded = GraphAttention(12, 3).double(), nn.MultiheadAttention(12, 3, batch_first=True).double()
    padded.load_state_dict(ours.state_dict())
    x = torch.randn(18, 12, dtype=torch.double)
    dense, mask = to_dense_batch(x, batch)
    expected = padded(dense, dense, dense, key_padding_mask=~mask, need_weights=False)[0][mask]
    torch.testing.assert_close(ours(x, graph_starts(batch, 3, "A test")), expected)


def test_it_starts_as_torch_s():
    torch.manual_seed(1)
    ours = GraphAttention(8, 2)
    torch.manual_seed(1)
    theirs = nn.MultiheadAttention(8, 2)
    assert all(torch.equal(value, theirs.state_dict()[name]) for name, value in ours.state_dict().items())
    torch.manual_seed(1)
    ours.reset_parameters()
    assert all(torch.equal(value, theirs.state_dict()[name]) for name, value in ours.state_dict().items())


def test_where_graphs_start():
    start = graph_starts(torch.tensor([0, 0, 2, 2, 2]), 4, "A test")
    assert start.tolist() == [0, 2, 2, 5, 5]
    assert count_pairs(start) == 4 + 9
    with pytest.raises(ValueError, match="A test needs the nodes of a graph side by side, but batch is not sorted"):
        graph_starts(torch.tensor([1, 0]), 2, "A test")


def test_heads_share_the_channels():
    with pytest.raises(ValueError, match="hidden_channels must be a multiple of heads=3; got 8"):
        GraphAttention(8, 3)
    assert repr(GraphAttention(8, 2)) == "GraphAttention(8, heads=2)"

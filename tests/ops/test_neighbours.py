import torch
from hypothesis import given
from hypothesis import strategies as st

from ghr import ops


@given(st.integers(1, 9), st.lists(st.tuples(st.integers(0, 8), st.integers(0, 8)), max_size=30))
def test_edges_are_listed_by_target_and_by_source(num_nodes, pairs):
    edges = torch.tensor([[u % num_nodes, v % num_nodes] for u, v in pairs], dtype=torch.long).reshape(-1, 2).T
    sorted_ = ops.sort_edges(edges.contiguous(), num_nodes)
    source, target = edges
    for node in range(num_nodes):
        arriving = slice(sorted_.start[node], sorted_.start[node + 1])
        assert torch.equal(sorted_.order[arriving], (target == node).nonzero().flatten())
        assert torch.equal(sorted_.source[arriving], source[sorted_.order[arriving]])
        leaving = slice(sorted_.out_start[node], sorted_.out_start[node + 1])
        columns = sorted_.order[sorted_.out_edge[leaving]]
        assert sorted(columns.tolist()) == (source == node).nonzero().flatten().tolist()
        assert torch.equal(sorted_.out_target[leaving], target[columns])


def test_members_are_listed_by_cluster():
    members = ops.sort_members(torch.tensor([2, 0, 2, 3]), 5)
    assert members.start.tolist() == [0, 1, 1, 3, 4, 4]
    assert members.member.tolist() == [1, 0, 2, 3]

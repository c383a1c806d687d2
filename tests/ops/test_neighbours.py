import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch_geometric.data import Batch

from ghr import ops
from ghr.ops.kernels.segments import separate_parts
from ghr.testing import random_graph


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
    assert torch.equal(ops.list_edges(sorted_), edges[:, sorted_.order])


def test_members_are_listed_by_cluster():
    members = ops.sort_members(torch.tensor([2, 0, 2, 3]), 5)
    assert members.start.tolist() == [0, 1, 1, 3, 4, 4]
    assert members.member.tolist() == [1, 0, 2, 3]


@given(st.integers(1, 30), st.lists(st.tuples(st.integers(0, 29), st.integers(-3, 3)), max_size=20), st.integers(1, 4))
def test_parts_are_as_small_as_edges_allow(num_nodes, pairs, least):
    pairs = [(u % num_nodes, min(max(u % num_nodes + step, 0), num_nodes - 1)) for u, step in pairs]
    edges = torch.tensor(pairs, dtype=torch.long).reshape(-1, 2).T.contiguous()
    given_ = ops.sort_edges(edges, num_nodes)
    parts = separate_parts(given_.start.numpy(), given_.source.numpy(), least).tolist()
    free = [cut for cut in range(1, num_nodes) if all(max(pair) < cut or min(pair) >= cut for pair in pairs)]
    expected = [0]
    for cut in free:
        if cut - expected[-1] >= least and num_nodes - cut >= least:
            expected.append(cut)
    assert parts == [*expected, num_nodes]


@pytest.mark.parametrize(
    ("sizes", "alone", "count"),
    [
        ([300] * 5, True, 5),
        ([1500], False, 5),
        ([400, 1600], False, 7),
        ([40] * 3, True, 1),
        ([40] * 8, True, 8),
        ([100] * 50, True, 16),  # several in one part, since there are enough
        ([500], True, 1),  # too small to be cut
    ],
)
def test_graphs_of_a_batch_are_shared_out_whole(sizes, alone, count):
    batch = Batch.from_data_list([random_graph(size, 4 * size, seed=size) for size in sizes])
    neighbours = ops.sort_edges(batch.edge_index, sum(sizes))
    assert neighbours.alone.item() is alone
    assert neighbours.parts[0] == 0
    assert neighbours.parts[-1] == sum(sizes)
    assert len(neighbours.parts) - 1 == count
    assert (neighbours.parts.diff() > 0).all()
    if alone:
        assert set(neighbours.parts.tolist()) <= set(batch.ptr.tolist())


@pytest.mark.parametrize("node", [-1, 4, 10**9])
def test_what_is_out_of_range_is_refused(node):
    with pytest.raises(ValueError, match=f"Every target must lie between 0 and 3; .*{node}"):
        ops.sort_edges(torch.tensor([[0, 1], [2, node]]), 4)
    with pytest.raises(ValueError, match="Every source must lie between 0 and 3"):
        ops.sort_edges(torch.tensor([[0, node], [2, 1]]), 4)
    with pytest.raises(ValueError, match="Every cluster must lie between 0 and 3"):
        ops.sort_members(torch.tensor([0, node]), 4)

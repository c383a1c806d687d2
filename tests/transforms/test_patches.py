import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch_geometric.data import Batch, Data

from ghr.bench.graphs import periodic_lattice
from ghr.testing import path_graph, random_graph
from ghr.transforms import Patches
from ghr.transforms.patches import partition


@given(st.integers(1, 40), st.integers(0, 80), st.integers(1, 12), st.integers(0, 10**6))
def test_every_node_is_in_a_patch_and_none_is_empty_without_need(num_nodes, num_edges, count, seed):
    data = random_graph(num_nodes, num_edges, seed=seed)
    piece = partition(data.edge_index, num_nodes, count)
    assert torch.equal(torch.unique(piece), torch.arange(min(count, num_nodes)))
    member = Patches(count)(data).patches
    assert member.shape == (num_nodes, count)
    assert member[torch.arange(num_nodes), piece].all()


@pytest.mark.parametrize("hops", [0, 1, 2])
def test_patches_grow_by_neighbours(hops):
    data = random_graph(20, 30, seed=3)
    piece = partition(data.edge_index, 20, 5)
    expected = [{node for node in range(20) if piece[node] == patch} for patch in range(5)]
    for _ in range(hops):
        near = [{u for u, v in data.edge_index.T.tolist() if v in nodes} for nodes in expected]
        expected = [nodes | more for nodes, more in zip(expected, near, strict=True)]
    member = Patches(5, hops=hops)(data).patches
    assert [set(column.nonzero().flatten().tolist()) for column in member.T] == expected


def test_direction_does_not_matter_for_growing():
    data = Data(edge_index=torch.tensor([[0, 1, 2], [1, 2, 3]]), num_nodes=4)
    both = data.clone()
    both.edge_index = torch.cat([data.edge_index, data.edge_index.flip(0)], dim=1)
    assert torch.equal(Patches(2)(data).patches, Patches(2)(both).patches)


def test_pieces_of_a_connected_graph_are_connected_and_of_about_one_size():
    data = periodic_lattice(24)
    piece = partition(data.edge_index, 576, 32)
    sizes = torch.bincount(piece)
    assert sizes.max() <= 3 * 576 / 32
    assert sizes.min() >= 576 / 32 / 3
    source, target = data.edge_index
    inside = piece[source] == piece[target]
    label = torch.arange(576)
    for _ in range(576):
        label = label.scatter_reduce(0, target[inside], label[source[inside]], "amin")
    assert torch.unique(label).numel() == 32  # as many components as pieces


def test_the_same_graph_gets_the_same_patches_and_a_batch_the_rows_of_its_graphs():
    graphs = [Patches(4)(path_graph(size)) for size in (1, 9, 5)]
    assert torch.equal(graphs[1].patches, Patches(4)(path_graph(9)).patches)
    assert torch.equal(Batch.from_data_list(graphs).patches, torch.cat([graph.patches for graph in graphs]))


def test_the_name_and_wrong_arguments():
    assert repr(Patches(8)) == "Patches(8, hops=1, seed=0, name='patches')"
    with pytest.raises(ValueError, match="count must be a whole number of at least 1; got 0"):
        Patches(0)
    with pytest.raises(ValueError, match="no edge_index"):
        Patches(2)(Data(num_nodes=3))

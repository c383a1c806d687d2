import copy
import gc

import pytest
import torch
from torch_geometric.data import Batch, Data
from torch_geometric.transforms import Constant

from ghr import Coarsen, GridBlocks
from ghr.datasets import LRIM
from ghr.testing import random_graph
from ghr.train.collate import collate_list
from ghr.train.sharing import Pieces, list_shared, share_equal
from train.test_collate import assert_same


def lattices(count):
    """Graphs with the same edges in tensors of their own, coarse levels included, and different features."""
    coarsen, edges = Coarsen(GridBlocks(block=2)), random_graph(16, 20, seed=0).edge_index
    graphs = []
    for seed in range(count):
        x = torch.randn(16, 2, generator=torch.Generator().manual_seed(seed))
        graphs.append(coarsen(Data(x=x, edge_index=edges.clone(), y=x.sum(0, keepdim=True))))
    return graphs


def test_equal_tensors_of_one_name_become_one_and_others_stay():
    given = lattices(3)
    before = copy.deepcopy(given)
    first, second, third = share_equal(given)
    assert first.edge_index is second.edge_index is third.edge_index
    assert first.level1_edge_index is third.level1_edge_index
    assert first.x is not second.x
    assert given[0].edge_index is not given[1].edge_index
    for own, shared, as_before in zip(given, (first, second, third), before, strict=True):
        assert own.to_dict().keys() == shared.to_dict().keys()
        for name, value in as_before.to_dict().items():
            assert torch.equal(own[name], value)
            assert torch.equal(shared[name], value)


def test_tensors_that_differ_in_type_or_shape_alone_stay_apart():
    zeros = [torch.zeros(2, 3), torch.zeros(3, 2), torch.zeros(2, 3, dtype=torch.int32), torch.zeros(0, 3)]
    shared = share_equal([Data(x=value) for value in (*zeros, torch.zeros(2, 3))])
    assert len({id(graph.x) for graph in shared}) == 4
    assert shared[4].x is shared[0].x


def test_weights_are_not_shared():
    one, other = share_equal([Data(x=torch.zeros(2, 1, requires_grad=True)) for _ in range(2)])
    assert one.x is not other.x


def test_batches_of_shared_graphs_are_those_that_pyg_makes_again_and_again():
    graphs = share_equal(lattices(6))
    for chosen in ([0, 1, 2], [3, 4, 5], [5, 0, 1], [2, 3], [4], [0, 0], [1, 2, 3]):
        picked = [graphs[index] for index in chosen]
        assert_same(collate_list(picked), Batch.from_data_list(picked))


def test_what_is_shared_is_joined_once():
    graphs = share_equal(lattices(6))
    one, other = collate_list(graphs[:3]), collate_list(graphs[3:])
    assert one.edge_index is other.edge_index
    assert one.x is not other.x


@pytest.mark.parametrize("name", ["edge_index", "level1_edge_index", "level1_assignment"])
@pytest.mark.parametrize("where", ["batch", "graph"])
def test_what_is_changed_in_place_is_made_anew(where, name):
    graphs = share_equal(lattices(4))
    batch = collate_list(graphs[:2])
    (batch if where == "batch" else graphs[0])[name][..., 0] = 1
    assert_same(collate_list(graphs[2:]), Batch.from_data_list(graphs[2:]))


def test_nothing_is_remembered_of_a_tensor_that_is_gone():
    pieces, shared = Pieces(), torch.arange(3)
    pieces.keep(shared, [3, 3], (shared.repeat(2), torch.arange(3), torch.arange(2)))
    assert pieces.find(shared, [3, 3]) is not None
    assert pieces.find(shared, [3, 4]) is None
    assert pieces.find(shared.clone(), [3, 3]) is None
    assert len(pieces._kept) == 1
    del shared
    gc.collect()
    assert len(pieces._kept) == 0


def test_a_tensor_in_the_place_of_one_that_is_gone_is_not_taken_for_it():
    pieces = Pieces()
    for start in range(50):  # most of them get the address of the one before
        shared = torch.arange(start, start + 3)
        assert pieces.find(shared, [0, 0]) is None
        pieces.keep(shared, [0, 0], (shared.repeat(2), torch.arange(3), torch.arange(2)))
    assert torch.equal(pieces.find(shared, [0, 0])[0], shared.repeat(2))


def test_tensors_of_inference_are_not_remembered():
    with torch.inference_mode():
        graphs = share_equal(lattices(2))
        assert_same(collate_list(graphs), Batch.from_data_list(graphs))
        assert_same(collate_list(graphs), Batch.from_data_list(graphs))


def test_datasets_are_listed_unless_they_transform_at_every_look(tmp_path):
    sizes = {"root": tmp_path, "size": 16, "split": "train", "num_graphs": 4}
    listed = list_shared(LRIM(**sizes))
    assert isinstance(listed, list)
    assert listed[0].edge_index is listed[3].edge_index
    looked_at = LRIM(**sizes, transform=Constant())
    assert list_shared(looked_at) is looked_at

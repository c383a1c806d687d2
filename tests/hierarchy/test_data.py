import io
import warnings

import pytest
import torch
from torch_geometric.data import Batch, Data, InMemoryDataset
from torch_geometric.loader import DataLoader

from ghr import Coarsen, Graclus, HierarchicalData
from ghr.hierarchy.data import at_hand, check_graph
from ghr.testing import assert_quotient, random_graph

FIELDS = ("edge_index", "edge_attr", "assignment")


def graphs(count=4, levels=2):
    transform = Coarsen(Graclus(rounds=1), ("min", "mean"), levels)
    return [transform(random_graph(5 + seed, 3 * seed, edge_dim=1, seed=seed)) for seed in range(count)]


@pytest.mark.parametrize("levels", [1, 2, 3])
def test_a_batch_is_its_graphs_side_by_side(levels):
    items = graphs(levels=levels)
    batch = next(iter(DataLoader(items, batch_size=len(items))))
    assert_quotient(batch)
    offsets = [[sum(g.levels[k].num_nodes for g in items[:i]) for i in range(len(items))] for k in range(levels + 1)]
    for k, level in enumerate(batch.levels):
        assert level.num_nodes == sum(g.levels[k].num_nodes for g in items)
        own = [g.levels[k] for g in items]
        shifted = torch.cat([one.edge_index + shift for one, shift in zip(own, offsets[k], strict=True)], dim=1)
        assert torch.equal(level.edge_index, shifted)
        assert torch.equal(level.edge_attr, torch.cat([one.edge_attr for one in own]))
        expected = torch.cat([torch.full((one.num_nodes,), i) for i, one in enumerate(own)])
        assert torch.equal(level.batch, expected)
        if k > 0:
            moved = torch.cat([one.assignment + shift for one, shift in zip(own, offsets[k], strict=True)])
            assert torch.equal(level.assignment, moved)


def test_a_batch_comes_apart_again():
    items = graphs()
    for before, after in zip(items, Batch.from_data_list(items).to_data_list(), strict=True):
        for one, two in zip(before.levels, after.levels, strict=True):
            assert one.num_nodes == two.num_nodes
            for field in FIELDS:
                a, b = getattr(one, field), getattr(two, field)
                assert (a is None and b is None) or torch.equal(a, b)


def test_sizes_are_numbers_and_move_with_the_data():
    batch = Batch.from_data_list(graphs())
    assert all(type(level.num_nodes) is int for level in batch.levels)
    moved = batch.to("meta")
    assert {level.edge_index.device.type for level in moved.levels} == {"meta"}
    assert [level.num_nodes for level in moved.levels] == [level.num_nodes for level in batch.levels]


def test_a_plain_edge_vector_is_one_column():
    data = Data(x=torch.ones(2, 1), edge_index=torch.tensor([[0], [1]]), edge_attr=torch.tensor([3.0]))
    assert HierarchicalData.from_dict(data.to_dict()).levels[0].edge_attr.shape == (1, 1)


def test_it_loads_from_a_file_without_unpickling_code():
    file = io.BytesIO()
    torch.save(graphs()[3], file)
    file.seek(0)
    loaded = torch.load(file, weights_only=True)
    assert isinstance(loaded, HierarchicalData)
    assert loaded.num_levels == 3


def test_pyg_caches_it_without_falling_back_to_unsafe_loading(tmp_path):
    class Small(InMemoryDataset):
        def __init__(self, root):
            super().__init__(root, pre_transform=Coarsen(Graclus()))
            self.load(self.processed_paths[0])

        @property
        def processed_file_names(self):
            return ["graphs.pt"]

        def process(self):
            self.save(
                [self.pre_transform(random_graph(8, 12, seed=seed)) for seed in range(3)], self.processed_paths[0]
            )

    Small(str(tmp_path))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        again = Small(str(tmp_path))
    assert isinstance(again[1], HierarchicalData)
    assert_quotient(again[1])
    assert next(iter(DataLoader(again, batch_size=3))).num_levels == 2


def test_a_batch_vector_of_the_wrong_length_is_refused():
    data = Data(x=torch.ones(3, 1), edge_index=torch.empty(2, 0, dtype=torch.long), batch=torch.zeros(2).long())
    with pytest.raises(ValueError, match=r"batch has the shape \(2,\) for 3 nodes"):
        check_graph(data)


def test_values_are_looked_at_only_where_they_are_at_hand(monkeypatch):
    assert at_hand(torch.ones(1))
    assert not at_hand(torch.ones(1, device="meta"))
    monkeypatch.setattr(torch.compiler, "is_compiling", lambda: True)
    assert not at_hand(torch.ones(1))

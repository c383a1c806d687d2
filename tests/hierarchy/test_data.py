import io
import warnings

import pytest
import torch
from torch_geometric.data import Batch, Data, InMemoryDataset
from torch_geometric.loader import DataLoader

from ghr import Coarsen, Graclus, HierarchicalData, memory
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


def broken(**changes):
    """A good graph of two levels in which some attributes are replaced; ``None`` takes one away."""
    data = Coarsen(Graclus(rounds=1), ("min", "mean"))(random_graph(8, 12, edge_dim=1))
    for name, value in changes.items():
        data[name] = value
    return data


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"batch": torch.zeros(2).long()}, r"batch has the shape \(2,\) for 8 nodes"),
        ({"batch": torch.full((8,), 1)}, "batch has 1, but must be in 0 to 0"),
        ({"batch": torch.full((8,), -1)}, "batch has -1"),
        ({"level1_assignment": None}, "A graph has no level1_assignment"),
        ({"level1_edge_index": None}, "A graph has no level1_edge_index"),
        ({"level1_batch": None}, "coarsened to 2 levels, but 1 are there"),
        ({"level1_assignment": [0] * 8}, "assignment of level 1 must be an int64 tensor"),
        ({"level1_assignment": torch.zeros(8)}, "assignment of level 1 must be an int64 tensor"),
        ({"level1_assignment": torch.zeros(8, 1).long()}, r"assignment of level 1 has the shape \(8, 1\)"),
        ({"level1_assignment": torch.zeros(7).long()}, "Level 1 assigns 7 nodes, but the level below has 8"),
        ({"level1_assignment": torch.full((8,), 99)}, "Level 1 assigns a node to 99, but has"),
        ({"level1_assignment": torch.full((8,), -1)}, "Level 1 assigns a node to -1"),
        ({"level1_edge_index": torch.tensor([[0], [99]]), "level1_edge_attr": None}, "level 1 has node 99"),
        ({"level1_edge_index": "abc"}, "edge_index of level 1 must be an int64 tensor"),
        ({"level1_edge_attr": torch.ones(1, 2)}, "edge_attr of level 1 has 1 rows"),
        ({"level1_edge_attr": 3}, "edge_attr of level 1 must be a tensor"),
        ({"level1_batch": 5}, "level1_batch must be a tensor"),
        ({"level1_batch": torch.tensor(5)}, "level1_batch must be a tensor"),
        ({"level1_batch": torch.zeros(5)}, "batch of level 1 must be an int64 tensor"),
        ({"level1_batch": torch.full((8,), 3)}, "batch of level 1 has 3, but must be in 0 to 0"),
        ({"level1_centre_distance": torch.ones(3)}, r"centre_distance of level 1 has the shape \(3,\)"),
        ({"level1_centre_distance": torch.full((8,), float("nan"))}, "centre_distance of level 1 has 8 entries"),
        ({"x": torch.full((8, 1), float("inf"))}, "x has 8 entries that are not finite"),
    ],
)
def test_broken_graphs_get_a_sentence(changes, words):
    assert len(check_graph(broken())) == 2
    with pytest.raises(ValueError, match=words):
        check_graph(broken(**changes))


@pytest.mark.parametrize("graph", [10**12, 3, -1])
def test_a_graph_has_at_least_one_node(graph):
    data = Data(x=torch.ones(3, 1), edge_index=torch.empty(2, 0).long(), batch=torch.tensor([0, 0, graph]))
    with pytest.raises(ValueError, match=f"batch has {graph}, but must be in 0 to 2"):
        check_graph(data)


def test_a_batch_may_hold_graphs_without_nodes():
    sizes = [0, 0, 1, 0]
    empty = [Data(x=torch.ones(size, 1), edge_index=torch.empty(2, 0).long()) for size in sizes]
    check_graph(Batch.from_data_list(empty))


def test_attributes_of_a_user_are_batched_as_in_any_graph():
    items = graphs(2, levels=1)
    for item in items:
        item.level_index = torch.tensor([0, 1])
        item.levels_edge_index = item.edge_index
        item.level1_note = torch.ones(2, 3)
        item.level0_batch_note = torch.ones(1)
    batch, plain = (
        Batch.from_data_list(given) for given in (items, [Data.from_dict(item.to_dict()) for item in items])
    )
    for key in ("level_index", "levels_edge_index", "level1_note", "level0_batch_note"):
        assert torch.equal(batch[key], plain[key]), key
    assert batch.level_index.tolist() == [0, 1, items[0].num_nodes, items[0].num_nodes + 1]
    assert batch.levels_edge_index.shape == batch.edge_index.shape


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"assignment": [0, 0, 1, 1]}, "assignment of level 1 must be an int64 tensor"),
        ({"assignment": torch.zeros(3).long()}, r"assignment of level 1 has the shape \(3,\) for 4 nodes below"),
        ({"num_nodes": 0}, "num_nodes must be a whole number of at least 1; got 0"),
        ({"num_nodes": 1.5}, "num_nodes must be a whole number"),
        ({"edge_index": torch.zeros(3, 1).long()}, "edge_index of level 1 must be an int64 tensor"),
        ({"edge_attr": torch.ones(5, 1)}, "edge_attr of level 1 has 5 rows for 1 edges"),
        ({"edge_attr": "abc"}, "edge_attr of level 1 must be a tensor"),
        ({"centre_distance": torch.ones(2)}, r"centre_distance of level 1 has the shape \(2,\)"),
    ],
)
def test_a_level_that_does_not_fit_is_not_put_on_top(changes, words):
    path = Data(x=torch.ones(4, 1), edge_index=torch.tensor([[0, 1, 2], [1, 2, 3]]))
    data = HierarchicalData.from_dict(path.to_dict())
    level = {"assignment": torch.tensor([0, 0, 1, 1]), "num_nodes": 2, "edge_index": torch.tensor([[0], [1]])}
    with pytest.raises(ValueError, match=words):
        data.append_level(**{**level, "edge_attr": None, **changes})
    assert data.num_levels == 1
    data.append_level(**level, edge_attr=torch.ones(1))
    assert data.levels[1].edge_attr.shape == (1, 1)
    assert_quotient(data)


def test_what_is_missing_is_an_ordinary_missing_key_too():
    data = broken()
    assert "level7_batch" not in data
    assert not hasattr(data, "level7_batch")
    with pytest.raises(KeyError, match="A graph has no level7_batch"):
        data["level7_batch"]
    with pytest.raises(KeyError, match=r"^'colour'$"):
        data["colour"]


def test_values_are_looked_at_only_where_they_are_at_hand(monkeypatch):
    assert at_hand(torch.ones(1))
    assert not at_hand(torch.ones(1, device="meta"))
    monkeypatch.setattr(torch.compiler, "is_compiling", lambda: True)
    assert not at_hand(torch.ones(1))


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"level1_edge_index": [[0], [1]]}, "edge_index of level 1 must be an int64 tensor"),
        ({"level1_assignment": "abc"}, "assignment of level 1 must be an int64 tensor"),
        ({"level1_edge_attr": torch.tensor(1.0)}, "edge_attr of level 1 must be a tensor of real numbers"),
        ({"level1_batch": torch.zeros(3, 1).long()}, r"batch of level 1 has the shape \(3, 1\)"),
        ({"level1_centre_distance": [1.0]}, "centre_distance of level 1 must be a tensor"),
    ],
)
def test_levels_are_checked_where_values_may_not_be_looked_at(changes, words, monkeypatch):
    monkeypatch.setattr("ghr.hierarchy.data.at_hand", lambda value: False)
    with pytest.raises(ValueError, match=words):
        broken(**changes).levels  # noqa: B018


def test_graphs_with_odd_levels_form_no_batch():
    with pytest.raises(ValueError, match="level1_batch must be a tensor; got the int 5"):
        Batch.from_data_list([broken(level1_batch=5), broken()])


def test_a_level_beyond_the_memory_is_refused(monkeypatch):
    monkeypatch.setattr(memory, "physical_memory", lambda: 2**30)
    data, edges = broken(), torch.empty(2, 0, dtype=torch.long)
    clusters = torch.zeros(data.levels[-1].num_nodes, dtype=torch.long)
    with pytest.raises(ValueError, match="A level of num_nodes=2,000,000,000 needs 15 GiB"):
        data.append_level(clusters, 2 * 10**9, edges, None)

import json
import math

import pytest
import torch
from torch_geometric.data import Batch, Data, HeteroData, InMemoryDataset

from ghr import Coarsen, Graclus
from ghr.datasets import RGGSSSP, Splits, Task, make_splits
from ghr.datasets.splits import check_alike, view_examples, view_split
from ghr.testing import assert_quotient, random_graph

NODE = Task("node")
GRAPH = Task("graph")
CLASSES = Task("node", 3, loss="cross_entropy")


def graphs(count):
    """Graphs whose target is their number."""
    result = []
    for number in range(count):
        data = random_graph(5, 8, seed=number)
        data.y = torch.tensor([[float(number)]])
        result.append(data)
    return result


def one_graph(rows=40, **values):
    data = random_graph(rows, 2 * rows, seed=0)
    data.y = torch.arange(float(rows)).unsqueeze(1)
    for name, value in values.items():
        data[name] = value
    return data


def flags(rows, *chosen):
    mask = torch.zeros(rows, dtype=torch.bool)
    mask[torch.tensor(chosen, dtype=torch.long)] = True
    return mask


def numbers(examples):
    return [int(data.y) for data in examples]


def rows_of(view):
    return set(view.mask.nonzero().flatten().tolist())


@pytest.mark.parametrize(
    ("count", "sizes"), [(3, [1, 1, 1]), (4, [2, 1, 1]), (10, [8, 1, 1]), (16, [12, 2, 2]), (100, [80, 10, 10])]
)
def test_graphs_are_divided_eight_to_one_to_one(count, sizes):
    splits = make_splits(graphs(count), GRAPH)
    parts = [numbers(examples) for examples in splits.named().values()]
    assert [len(part) for part in parts] == sizes
    assert sorted(number for part in parts for number in part) == list(range(count))
    assert splits.task is GRAPH


def test_the_seed_decides():
    first, again, other = (numbers(make_splits(graphs(30), GRAPH, seed=seed).val) for seed in (1, 1, 2))
    assert first == again != other
    with pytest.raises(ValueError, match="seed must be a whole number of at least 0; got -1"):
        make_splits(graphs(3), GRAPH, seed=-1)


def test_given_graphs_are_used_as_they_are():
    val, test = graphs(2), graphs(3)
    both = make_splits(graphs(5), GRAPH, val=val, test=test)
    assert (len(both.train), both.val, both.test) == (5, val, test)
    drawn = make_splits(graphs(10), GRAPH, val=val)
    assert (len(drawn.train), len(drawn.val), len(drawn.test)) == (9, 2, 1)
    single = make_splits(graphs(1)[0], GRAPH, val=graphs(1)[0], test=graphs(1)[0])
    assert [len(examples) for examples in single.named().values()] == [1, 1, 1]


def test_batches_are_taken_apart():
    splits = make_splits(Batch.from_data_list(graphs(10)), GRAPH)
    assert [len(examples) for examples in splits.named().values()] == [8, 1, 1]


class Ten(InMemoryDataset):
    def __init__(self, transform=None):
        super().__init__(transform=transform)
        self.data, self.slices = self.collate(graphs(10))


def test_a_dataset_keeps_its_transform():
    seen = []

    def note(data):
        seen.append(int(data.y))
        return data

    splits = make_splits(Ten(note), GRAPH)
    assert isinstance(splits.train, Ten)
    seen.clear()
    first = numbers(splits.train)
    assert numbers(splits.train) == first
    assert seen == first * 2


@pytest.mark.parametrize(
    ("given", "task", "words"),
    [
        (graphs(2), GRAPH, r"2 graphs cannot be divided into train, val, test; give at least 3, or a single graph"),
        (graphs(1), GRAPH, "A task on whole graphs needs several graphs, to train on and to choose by; got one"),
        ([], GRAPH, "graphs has no graphs"),
        (7, GRAPH, "graphs must be a graph or a sequence of graphs; got a int"),
        ([*graphs(2), {"x": 1}], GRAPH, r"Graph 2 is a dict, not a graph of PyTorch Geometric \(Data\)"),
        ([*graphs(2), HeteroData()], GRAPH, "Graph 2 is a HeteroData"),
        (graphs(3), NODE, r"Graph 0: y must have the shape \(5, 1\)"),
        (graphs(3), "node", r"task must be a Task, such as Task\('node'\); got 'node'"),
        (one_graph(2), NODE, "2 nodes with a target cannot be divided into train, val, test; give at least 3"),
    ],
)
def test_what_cannot_be_divided_is_said(given, task, words):
    with pytest.raises(ValueError, match=words):
        make_splits(given, task)


def test_graphs_that_differ_are_named():
    good = graphs(4)
    wide = graphs(4)
    wide[2].x = torch.ones(5, 3)
    with pytest.raises(ValueError, match=r"Graph 2 has x of torch.float32 and shape \(5, 3\), the first graph of"):
        make_splits(wide, GRAPH)
    more = graphs(4)
    more[3].pos = torch.ones(5, 2)
    with pytest.raises(ValueError, match="graph 3 and the first differ: pos"):
        check_alike(more, GRAPH)
    with pytest.raises(ValueError, match="Graph 2 of test has x of"):
        make_splits(good, GRAPH, test=wide)
    with pytest.raises(ValueError, match="Graph 0 of val: The graph has no y"):
        make_splits(good, GRAPH, val=random_graph(5, 8))
    check_alike(good, GRAPH)


@pytest.mark.parametrize("seed", [0, 1])
def test_nodes_of_one_graph_are_divided(seed):
    graph = one_graph(40)
    splits = make_splits(graph, NODE, seed=seed)
    views = {name: view for name, (view,) in splits.named().items()}
    assert [len(rows_of(view)) for view in views.values()] == [32, 4, 4]
    assert set.union(*map(rows_of, views.values())) == set(range(40))
    for view in views.values():
        assert torch.equal(view.y[view.mask], graph.y[view.mask])
        assert bool(view.y[~view.mask].isnan().all())
        assert torch.equal(view.x, graph.x)
        assert not [name for name in view.keys() if name.endswith("_mask")]  # noqa: SIM118 (a graph is no dictionary)
    assert "mask" not in graph
    assert torch.equal(graph.y.flatten(), torch.arange(40.0))


def test_only_rows_with_a_target_are_divided():
    graph = one_graph(40, mask=torch.arange(40) < 30)
    graph.y[:10] = math.nan
    views = [view for (view,) in make_splits(graph, NODE).named().values()]
    assert [len(rows_of(view)) for view in views] == [16, 2, 2]
    assert set.union(*map(rows_of, views)) == set(range(10, 30))


def test_both_directions_of_an_edge_stay_together():
    graph = random_graph(12, 40, seed=0)
    low, high = graph.edge_index.min(dim=0).values, graph.edge_index.max(dim=0).values
    graph.y = (12 * low + high).float()
    splits = make_splits(graph, Task("edge"))
    pairs = [set(view.y[view.mask].flatten().tolist()) for (view,) in splits.named().values()]
    assert not pairs[0] & pairs[1]
    assert not pairs[0] & pairs[2]
    assert not pairs[1] & pairs[2]
    assert sum(map(len, pairs)) == graph.num_edges // 2
    assert [int(view.mask.sum()) for (view,) in splits.named().values()] == [2 * len(pair) for pair in pairs]


def masks(rows=40, **chosen):
    return {f"{name}_mask": flags(rows, *numbers) for name, numbers in chosen.items()}


@pytest.mark.parametrize("task", [NODE, CLASSES], ids=["numbers", "classes"])
def test_masks_divide_the_rows_and_hide_the_targets_of_others(task):
    graph = one_graph(**masks(train=range(20), val=range(20, 30), test=range(35, 40)))
    if task is CLASSES:
        graph.y = torch.arange(40) % 3
    splits = make_splits(graph, task)
    for (view,), rows in zip(splits.named().values(), (range(20), range(20, 30), range(35, 40)), strict=True):
        assert rows_of(view) == set(rows)
        target = task.target(view)
        assert set(task.counted(view, target).reshape(40).nonzero().flatten().tolist()) == set(rows)
        hidden = view.y[~view.mask]
        assert bool((hidden == -1).all() if task is CLASSES else hidden.isnan().all())


def test_test_targets_cannot_be_seen_in_training_and_validation():
    """Whatever the targets of the test nodes are, the other two views are the same, bit by bit."""
    chosen = masks(train=range(20), val=range(20, 30), test=range(30, 40))
    one, other = one_graph(**chosen), one_graph(**chosen)
    other.y[30:] = 1e6
    first, second = make_splits(one, NODE), make_splits(other, NODE)
    for here, there in ((first.train[0], second.train[0]), (first.val[0], second.val[0])):
        for name in here.keys():  # noqa: SIM118 (a graph is no dictionary)
            assert torch.equal(here[name].nan_to_num(-7.0), there[name].nan_to_num(-7.0)), name


def test_integer_targets_that_are_numbers_are_hidden_too():
    graph = one_graph(**masks(train=range(20), val=range(20, 30)))
    graph.y = torch.arange(40)
    view = make_splits(graph, NODE).train[0]
    assert bool(view.y[20:].isnan().all())
    assert view.y[:20].flatten().tolist() == list(range(20))


def test_without_validation_rows_some_training_rows_are_drawn():
    graph = one_graph(**masks(train=range(20), test=range(20, 40)))
    splits = make_splits(graph, NODE)
    train, val, test = (rows_of(view) for (view,) in splits.named().values())
    assert train | val == set(range(20))
    assert (len(train), len(val)) == (18, 2)
    assert test == set(range(20, 40))
    assert rows_of(make_splits(graph, NODE, seed=1).val[0]) != val
    assert make_splits(one_graph(**masks(train=range(20))), NODE).test is None


def test_a_given_mask_is_honoured_too():
    graph = one_graph(mask=torch.arange(40) % 2 == 0, **masks(train=range(20), val=range(20, 30), test=range(30, 40)))
    splits = make_splits(graph, NODE)
    assert rows_of(splits.train[0]) == set(range(0, 20, 2))
    assert rows_of(splits.test[0]) == set(range(30, 40, 2))


def test_masks_of_single_entries():
    graph = one_graph(6)
    graph.y = torch.arange(12.0).view(6, 2)
    train = torch.zeros(6, 2, dtype=torch.bool)
    train[:4, 0] = True
    graph.train_mask, graph.val_mask = train, ~train
    splits = make_splits(graph, Task("node", 2))
    assert splits.train[0].y[:4, 0].tolist() == [0, 2, 4, 6]
    assert bool(splits.train[0].y[:, 1].isnan().all())
    assert splits.val[0].y.isnan().sum() == 4


def test_many_graphs_with_masks_have_a_view_each():
    several = [one_graph(10, **masks(10, train=range(5), val=range(5, 7), test=range(7, 10))) for _ in range(3)]
    several[1].test_mask = flags(10)
    splits = make_splits(several, NODE)
    assert [len(examples) for examples in splits.named().values()] == [3, 3, 2]  # one has nothing for the test
    assert all(rows_of(view) == {5, 6} for view in splits.val)


@pytest.mark.parametrize(
    ("values", "task", "words"),
    [
        (masks(val=range(5)), NODE, "val_mask or test_mask but no train_mask; say which rows to train on"),
        (masks(train=range(20), test=range(15, 40)), NODE, "5 rows are in train_mask and in test_mask; a row belongs"),
        (masks(train=range(20), val=[19], test=[]), NODE, "1 rows are in train_mask and in val_mask"),
        (masks(train=range(20), val=[]), NODE, "val_mask leaves no row with a target"),
        (masks(train=[], val=range(5)), NODE, "train_mask leaves no row with a target"),
        (masks(train=[3]), NODE, "1 nodes with a target cannot be divided into train, val"),
        (
            {"train_mask": torch.ones(40, 10, dtype=torch.bool)},
            NODE,
            r"boolean, .* of shape \(40, 10\); of several divisions choose one, such as train_mask\[:, 0\]",
        ),
        (
            {"train_mask": torch.ones(40)},
            NODE,
            "train_mask must be boolean, one flag for each of 40 nodes; got torch.float",
        ),
        ({"train_mask": [True] * 40}, NODE, "train_mask must be boolean, one flag for each of 40 nodes; got a list"),
        ({"train_mask": flags(39)}, NODE, r"got torch.bool of shape \(39,\)\."),
    ],
)
def test_wrong_masks_are_said(values, task, words):
    with pytest.raises(ValueError, match=words):
        make_splits(one_graph(**values), task)


@pytest.mark.parametrize("name", ["training_mask", "valid_mask", "train_idx", "test_index", "dev_mask", "train_nodes"])
def test_a_division_by_another_name_is_refused_and_not_passed_over(name):
    for graph in (one_graph(**{name: flags(40, 1, 2)}), one_graph(**masks(train=range(20)), **{name: flags(40, 1)})):
        with pytest.raises(ValueError, match=f"The graphs have {name}, which .*train_mask, val_mask and test_mask"):
            make_splits(graph, NODE)


def test_views_of_many_examples():
    divided = [one_graph(**masks(train=range(20), val=range(20, 30)))]
    (view,) = view_examples(divided, NODE, "val")
    assert rows_of(view) == set(range(20, 30))
    whole = [one_graph()]
    assert view_examples(whole, NODE, "val") is whole
    with pytest.raises(ValueError, match="Graph 0 has masks that divide its rows, but no test_mask; give it one"):
        view_examples(divided, NODE, "test")


def test_masks_and_other_graphs_do_not_go_together():
    graph = one_graph(**masks(train=range(20), val=range(20, 30)))
    with pytest.raises(ValueError, match="give masks or other graphs, not both"):
        make_splits(graph, NODE, val=one_graph())
    whole = graphs(3)
    for data in whole:
        data.train_mask = flags(5, 0)
    with pytest.raises(ValueError, match="train_mask must be boolean, one flag for each of 1 graphs"):
        make_splits(whole, GRAPH)


def test_views_of_one_split_alone():
    graph = one_graph(**masks(train=range(20), test=range(30, 40)))
    assert rows_of(view_split(graph, NODE, "test")) == set(range(30, 40))
    assert view_split(graph, NODE, "val") is graph  # it has no such mask
    assert view_split(random_graph(3, 3), NODE, "train").num_nodes == 3  # nor has one without targets
    with pytest.raises(ValueError, match="Unknown split 'dev'; known are train, val, test"):
        view_split(graph, NODE, "dev")


def test_views_of_a_hierarchy_keep_its_levels():
    graph = Coarsen(Graclus(rounds=1))(one_graph(**masks(train=range(20), val=range(20, 30))))
    for (view,) in make_splits(graph, NODE).named().values():
        assert type(view) is type(graph)
        assert view.num_levels == 2
        assert_quotient(view)


def test_a_graph_without_features_keeps_its_size():
    graph = Data(edge_index=torch.tensor([[0, 1], [1, 0]]), num_nodes=12, y=torch.arange(12.0))
    assert [view.num_nodes for (view,) in make_splits(graph, NODE).named().values()] == [12, 12, 12]


def test_the_description_is_json():
    one = make_splits(one_graph(), NODE, seed=3)
    assert json.loads(json.dumps(one.description)) == {"graphs": 1, "divided": "nodes at random", "seed": 3}
    masked = make_splits(one_graph(**masks(train=range(20), val=range(20, 30))), NODE)
    assert masked.description["divided"] == "by masks"
    assert make_splits(graphs(9), GRAPH, val=graphs(2)).description == {
        "graphs": 9,
        "divided": "graphs at random",
        "given": ["val"],
        "seed": 0,
    }


def test_fingerprints_tell_splits_apart(tmp_path):
    cached = {split: RGGSSSP(tmp_path, split=split, num_graphs=2) for split in ("train", "val", "test")}
    splits = Splits(cached["train"].task, *cached.values())
    assert list(splits.named()) == ["train", "val", "test"]
    assert len(set(splits.fingerprint().values())) == 3
    one, other = (make_splits(one_graph(), NODE, seed=seed).fingerprint() for seed in (0, 1))
    assert not set(one.values()) & set(other.values())
    assert list(make_splits(one_graph(**masks(train=range(20))), NODE).fingerprint()) == ["train", "val"]

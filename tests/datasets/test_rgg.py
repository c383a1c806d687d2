import heapq
import math
import pickle

import pytest
import torch
from torch_geometric.loader import DataLoader

from ghr.datasets import BENCHMARKS, RGGSSSP, rgg
from ghr.datasets.generators import geometric


@pytest.fixture(scope="module")
def root(tmp_path_factory):
    return tmp_path_factory.mktemp("rgg")


def neighbours(data):
    result = [[] for _ in range(data.num_nodes)]
    for (u, v), length in zip(data.edge_index.t().tolist(), data.edge_attr.flatten().tolist(), strict=True):
        result[u].append((v, length))
    return result


def breadth_first(data, source):
    hops, front, table = [-1] * data.num_nodes, [source], neighbours(data)
    hops[source] = 0
    for node in front:
        for other, _ in table[node]:
            if hops[other] < 0:
                hops[other] = hops[node] + 1
                front.append(other)
    return hops


def shortest(data, source):
    done, queue, table = {}, [(0.0, source)], neighbours(data)
    while queue:
        distance, node = heapq.heappop(queue)
        if node not in done:
            done[node] = distance
            for other, length in table[node]:
                heapq.heappush(queue, (distance + length, other))
    return [done.get(node, 0.0) for node in range(data.num_nodes)]


def assert_equal_graphs(one, two):
    assert len(one) == len(two)
    for a, b in zip(one, two, strict=True):
        assert all(torch.equal(a[name], b[name]) for name in a.keys())  # noqa: SIM118 (a graph is no dictionary)


@pytest.mark.parametrize("regime", ["small", "large"])
@pytest.mark.parametrize("split", ["train", "val", "test"])
@pytest.mark.parametrize("weighted", [False, True])
def test_graphs_are_what_the_docstring_says(root, regime, split, weighted):
    test = split == "test"
    low, high = {"small": (40, 60), "large": (300, 500 if test else 350)}[regime]
    cap = {"small": 8 if test else 5, "large": 40 if test else 20}[regime]
    dataset = RGGSSSP(root, regime, split, weighted=weighted, num_graphs=6)
    assert len(dataset) == 6
    for data in dataset:
        assert low <= data.num_nodes <= high
        assert data.x.shape == data.y.shape == (data.num_nodes, 1)
        assert (data.x.dtype, data.edge_attr.dtype, data.y.dtype, data.pos.dtype) == (torch.float32,) * 4
        assert (data.mask.dtype, data.hops.dtype, data.edge_index.dtype) == (torch.bool, torch.int64, torch.int64)
        [source] = data.x.flatten().nonzero().flatten().tolist()
        assert data.x[source] == 1
        assert data.hops.tolist() == breadth_first(data, source)
        assert torch.equal(data.mask, data.hops >= 0)
        assert int(data.mask.sum()) >= 0.8 * data.num_nodes
        assert int(data.hops.max()) <= cap
        if weighted:
            assert torch.allclose(data.y.flatten(), torch.tensor(shortest(data, source)), atol=1e-5)
        else:
            assert torch.equal(data.y.flatten(), data.hops.clamp(min=0).float())


@pytest.mark.parametrize("weighted", [False, True])
def test_edges_join_exactly_the_near_points_in_sorted_order(root, weighted):
    for data in RGGSSSP(root, weighted=weighted, num_graphs=6):
        distance = torch.cdist(data.pos.double(), data.pos.double(), compute_mode="donot_use_mm_for_euclid_dist")
        u, v = data.edge_index
        joined = torch.zeros_like(distance, dtype=torch.bool)
        joined[u, v] = True
        assert torch.equal(joined, joined.t())
        assert torch.equal(data.edge_index, joined.nonzero().t())
        off_diagonal = ~torch.eye(data.num_nodes, dtype=torch.bool)
        radius = math.sqrt(12 / (math.pi * data.num_nodes))
        assert float(distance[joined].max()) < float(distance[~joined & off_diagonal].min())
        assert 0.8 * radius < float(distance[joined].max()) < 1.1 * radius
        wanted = distance[u, v].float() if weighted else torch.ones(len(u))
        assert torch.allclose(data.edge_attr.flatten(), wanted, atol=1e-6)


@pytest.mark.parametrize("degree", [8.0, 12.0])
def test_mean_degree_is_right_but_for_the_border(root, degree):
    sets = RGGSSSP(root, mean_degree=degree, max_distance=60, num_graphs=300)
    border, inside = [], []
    for data in sets:
        radius = math.sqrt(degree / (math.pi * data.num_nodes))
        degrees = torch.bincount(data.edge_index[0], minlength=data.num_nodes).double()
        # Two uniform points of the unit square are within r with probability pi r^2 - 8 r^3 / 3 + r^4 / 2.
        expected = (data.num_nodes - 1) * (math.pi * radius**2 - 8 * radius**3 / 3 + radius**4 / 2)
        border.append(float(degrees.mean()) / expected)
        core = ((data.pos - 0.5).abs() < 0.5 - 1.1 * radius).all(dim=1)
        inside.extend((degrees[core] / (data.num_nodes - 1) * data.num_nodes).tolist())
    assert sum(border) / len(border) == pytest.approx(1, abs=0.03)
    assert sum(inside) / len(inside) == pytest.approx(degree, rel=0.05)


def test_sizes_sources_and_radii_vary_over_their_whole_range(root):
    dataset = RGGSSSP(root, split="test", num_graphs=400)
    sizes = torch.tensor([data.num_nodes for data in dataset])
    assert (int(sizes.min()), int(sizes.max())) == (40, 60)
    assert float(sizes.double().mean()) == pytest.approx(50, abs=1.5)
    place = torch.tensor([float(data.x.argmax()) / (data.num_nodes - 1) for data in dataset])
    assert float(place.mean()) == pytest.approx(0.5, abs=0.06)
    spread = [
        float((data.pos[data.edge_index[0]] - data.pos[data.edge_index[1]]).norm(dim=1).max())
        / math.sqrt(12 / (math.pi * data.num_nodes))
        for data in dataset
    ]
    assert 0.88 < min(spread) < 0.92
    assert 1.08 < max(spread) < 1.1


def test_large_test_set_has_nodes_beyond_the_training_range(root):
    hops = torch.cat([data.hops for data in RGGSSSP(root, "large", "test", num_graphs=60)])
    assert int(hops.max()) > 25
    assert 0.08 < float((hops[hops >= 0] > 20).double().mean()) < 0.26
    assert 0.02 < float((hops < 0).double().mean()) < 0.12


def test_max_distance_replaces_the_cap(root):
    dataset = RGGSSSP(root, "large", max_distance=30, mean_degree=7, num_graphs=25)
    assert 20 < max(int(data.hops.max()) for data in dataset) <= 30


def test_shorter_set_is_the_beginning_of_a_longer_one(root):
    assert_equal_graphs(RGGSSSP(root, num_graphs=7, seed=3), RGGSSSP(root, num_graphs=12, seed=3)[:7])


def test_weighted_set_has_the_graphs_of_the_unweighted(root):
    for plain, weighted in zip(RGGSSSP(root, num_graphs=4), RGGSSSP(root, weighted=True, num_graphs=4), strict=True):
        for name in ("x", "edge_index", "mask", "hops", "pos"):
            assert torch.equal(plain[name], weighted[name])


def test_streams_differ_by_seed_split_and_regime(root):
    anything = {"num_graphs": 2, "max_distance": 100, "mean_degree": 20}  # the first draw is accepted everywhere
    changes = [{}, {"seed": 1}, {"split": "val"}, {"split": "test"}, {"regime": "large"}]
    sets = [RGGSSSP(root, **anything, **change) for change in changes]
    firsts = [float(data.pos[0, 0]) for dataset in sets for data in dataset]
    assert len(set(firsts)) == len(firsts)


def test_every_option_changes_the_key_and_defaults_written_out_do_not(root):
    base = RGGSSSP(root, num_graphs=2)
    changes = [
        {"regime": "large"},
        {"split": "val"},
        {"max_distance": 6},
        {"mean_degree": 11},
        {"weighted": True},
        {"num_graphs": 3},
        {"seed": 1},
    ]
    keys = {RGGSSSP(root, **{"num_graphs": 2, **change}).key for change in changes}
    assert len(keys | {base.key}) == len(changes) + 1
    assert RGGSSSP(root, "small", "train", 5, 12, False, 2, 0).key == base.key


def test_default_counts(root, monkeypatch):
    class GeneratedError(Exception):
        pass

    def stop(dataset):
        raise GeneratedError(dataset.num_graphs)

    monkeypatch.setattr(RGGSSSP, "generate", stop)
    for split, count in (("train", 6000), ("val", 1000), ("test", 1000)):
        with pytest.raises(GeneratedError, match=f"^{count}$"):
            RGGSSSP(root, "large", split)


def test_loader_batches_the_graphs(root):
    dataset = RGGSSSP(root, num_graphs=5)
    batch = next(iter(DataLoader(dataset, batch_size=5)))
    assert batch.num_graphs == 5
    assert float(batch.x.sum()) == 5
    assert batch.mask.shape == batch.hops.shape == (sum(data.num_nodes for data in dataset),)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"regime": "giant"}, "Unknown regime 'giant'; known are small, large, huge."),
        ({"split": "dev"}, "Unknown split 'dev'; known are train, val, test."),
        ({"num_graphs": 0}, "num_graphs must be a whole number of at least 1; got 0."),
        ({"num_graphs": 2.5}, "num_graphs must be a whole number of at least 1; got 2.5."),
        ({"max_distance": 0}, "max_distance must be a whole number of at least 1; got 0."),
        ({"mean_degree": 0}, "mean_degree must be a finite number above 0; got 0."),
        ({"mean_degree": "6"}, "mean_degree must be a finite number above 0; got '6'."),
        ({"mean_degree": math.nan}, "mean_degree must be a finite number above 0; got nan."),
        ({"mean_degree": math.inf}, "mean_degree must be a finite number above 0; got inf."),
        ({"seed": -1}, "seed must be a whole number of at least 0; got -1."),
        ({"weighted": "no"}, "weighted must be True or False; got 'no'."),
        ({"source": "hub"}, "Unknown source 'hub'; known are generate."),
        ({"workers": 0}, "workers must be a whole number of at least 1; got 0."),
    ],
)
def test_wrong_arguments_are_named(root, options, message):
    with pytest.raises(ValueError) as caught:  # noqa: PT011 (the whole message is compared)
        RGGSSSP(root, **options)
    assert str(caught.value) == message


@pytest.mark.parametrize(
    ("options", "reason"),
    [
        ({"mean_degree": 0.5}, "in 40 the largest component was below 80 % of the nodes, in 0 it reached"),
        ({"max_distance": 1}, "in 0 the largest component was below 80 % of the nodes, in 40 it reached"),
    ],
)
def test_impossible_options_are_given_up(root, monkeypatch, options, reason):
    monkeypatch.setattr(geometric, "MAX_DRAWS", 40)
    with pytest.raises(ValueError, match=reason):
        RGGSSSP(root, **options, num_graphs=1)


def test_five_clouds_share_a_size_and_radius_then_both_are_drawn_again(root, monkeypatch):
    tried = []
    connect = geometric._connect
    monkeypatch.setattr(
        geometric, "_connect", lambda pos, radius: tried.append((len(pos), radius)) or connect(pos, radius)
    )
    monkeypatch.setattr(geometric, "MAX_DRAWS", 15)
    with pytest.raises(ValueError, match="15 draws"):
        RGGSSSP(root, max_distance=1, num_graphs=1)
    assert [tried[i : i + 5] for i in (0, 5, 10)] == [[tried[i]] * 5 for i in (0, 5, 10)]
    assert len(set(tried)) == 3


@pytest.mark.parametrize(("weighted", "unit"), [(False, "MAE, hops"), (True, "MAE, length")])
def test_metric_is_the_mean_absolute_error(root, weighted, unit):
    dataset = RGGSSSP(root, weighted=weighted, num_graphs=4)
    assert (dataset.task.level, dataset.task.loss, str(dataset.task.score)) == ("node", "mse", unit)
    assert dataset.metric(torch.tensor([[1.0], [2.0]]), torch.tensor([[2.0], [5.0]])) == 2.0


def test_number_of_workers_changes_nothing(root, tmp_path, monkeypatch):
    def elsewhere(function, indices, *, workers, description):
        assert workers == 3
        known_by_name = pickle.loads(pickle.dumps(function))
        return [pickle.loads(pickle.dumps(known_by_name(index))) for index in indices]

    alone = RGGSSSP(root, num_graphs=5)
    monkeypatch.setattr(rgg, "in_order", elsewhere)
    together = RGGSSSP(tmp_path, num_graphs=5, workers=3)
    assert alone.digest == together.digest


def load(root, split, **options):
    return BENCHMARKS["rgg-sssp-small"].load(root, split, num_graphs=4, **options)


def test_the_cap_of_the_benchmark_is_for_training_and_validation(root):
    assert [load(root, split, max_distance=7).max_distance for split in ("train", "val", "test")] == [7, 7, 8]
    assert [load(root, split).max_distance for split in ("train", "val", "test")] == [5, 5, 8]
    assert [load(root, split, weighted=True).weighted for split in ("train", "test")] == [True, True]


def test_distances_and_the_trained_range_go_with_the_splits(root):
    counts = {"train": 4, "val": 4, "test": 4}
    splits = BENCHMARKS["rgg-sssp-small"].splits(root, graphs=counts)
    assert splits.in_range == 5
    assert torch.equal(splits.distance(splits.test[0]), splits.test[0].hops)
    assert BENCHMARKS["rgg-sssp-small"].splits(root, graphs=counts, max_distance=7).in_range == 7

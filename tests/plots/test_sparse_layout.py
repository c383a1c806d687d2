import numpy as np
import pytest

from ghr.plots.sparse_layout import place_sparsely


def grid(side):
    node = np.arange(side * side).reshape(side, side)
    right, down = (node[:, :-1], node[:, 1:]), (node[:-1], node[1:])
    return np.concatenate([np.stack([one.ravel(), other.ravel()]) for one, other in (right, down)], axis=1)


def test_a_path_is_nearly_straight_with_even_steps():
    places = place_sparsely(np.stack([np.arange(29), np.arange(1, 30)]), 30)
    step = np.linalg.norm(np.diff(places, axis=0), axis=1)
    assert step.max() < 1.6 * step.min()
    assert np.linalg.norm(places[0] - places[-1]) > 0.9 * step.sum()


def test_distances_in_the_plane_follow_distances_in_the_graph():
    side = 24
    places = place_sparsely(grid(side), side * side)
    pairs = np.random.default_rng(0).integers(0, side * side, (2, 3000))
    hops = np.abs(pairs[0] // side - pairs[1] // side) + np.abs(pairs[0] % side - pairs[1] % side)
    plane = np.linalg.norm(places[pairs[0]] - places[pairs[1]], axis=1)
    assert np.corrcoef(hops, plane)[0, 1] > 0.9


def test_components_do_not_overlap_and_lone_nodes_have_a_place():
    ring = np.stack([np.arange(8), np.roll(np.arange(8), -1)])
    places = place_sparsely(np.concatenate([ring, ring + 8], axis=1), 20)
    assert np.isfinite(places).all()
    boxes = [(part.min(axis=0), part.max(axis=0)) for part in (places[:8], places[8:16])]
    assert (boxes[0][0] > boxes[1][1]).any() or (boxes[1][0] > boxes[0][1]).any()
    alone = places[16:]
    apart = np.linalg.norm(alone[:, None] - places[None], axis=2)
    apart[np.arange(4), np.arange(16, 20)] = np.inf
    assert apart.min() > 1


def test_leaves_of_one_node_are_kept_apart():
    places = place_sparsely(np.stack([np.zeros(9, np.int64), np.arange(1, 10)]), 10)
    apart = np.linalg.norm(places[1:, None] - places[None, 1:], axis=2)[np.triu_indices(9, 1)]
    assert apart.min() > 0.1


@pytest.mark.parametrize("size", [1, 2, 3])
def test_the_smallest_graphs(size):
    edges = np.stack([np.arange(size - 1), np.arange(1, size)])
    places = place_sparsely(edges, size)
    assert places.shape == (size, 2)
    assert len(np.unique(places.round(3), axis=0)) == size


def test_the_same_again_gives_the_same():
    assert np.array_equal(place_sparsely(grid(5), 25), place_sparsely(grid(5), 25))

import numpy as np
import pytest

from ghr.datasets.generators import geometric
from ghr.datasets.generators.geometric import draw_geometric_graph


def draw(seed, max_distance=8):
    return draw_geometric_graph(np.random.default_rng(seed), (40, 60), 12.0, max_distance)


def test_a_seed_gives_one_graph():
    for one, other in zip(draw(0), draw(0), strict=True):
        assert np.array_equal(one, other)
    assert not np.array_equal(draw(0).pos, draw(1).pos)


def test_distances_agree_with_each_other():
    for seed in range(5):
        graph = draw(seed)
        assert graph.hops[graph.source] == graph.distance[graph.source] == 0
        assert graph.mask[graph.source]
        assert np.array_equal(np.isfinite(graph.hops), np.isfinite(graph.distance))
        reached = graph.hops[graph.mask]
        assert reached.max() <= 8
        assert (graph.distance[graph.mask] <= reached * graph.length.max() + 1e-12).all()
        u, v = graph.edge_index
        assert np.allclose(graph.length, np.linalg.norm(graph.pos[u].astype(float) - graph.pos[v], axis=1))


def test_the_cap_is_kept_or_given_up(monkeypatch):
    near = draw(0, max_distance=4)
    assert near.hops[near.mask].max() <= 4
    monkeypatch.setattr(geometric, "MAX_DRAWS", 10)
    with pytest.raises(ValueError, match=r"accepted in 10 draws .* Raise mean_degree or max_distance"):
        draw(0, max_distance=1)

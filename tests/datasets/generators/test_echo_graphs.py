import numpy as np
import pytest

from ghr.datasets.generators import echo_graphs
from ghr.datasets.generators.distances import eccentricities, hops_from
from ghr.datasets.generators.echo_graphs import FAMILIES, draw_graph, path


def drawn(family, diameter, seed=0):
    return draw_graph(family, diameter, np.random.default_rng(seed))


def neighbours(graph):
    table = [set() for _ in range(graph.num_nodes)]
    for u, v in graph.edges.T.tolist():
        table[u].add(v)
        table[v].add(u)
    return table


def without_leaves(table):
    """The nodes and edges that remain when every leaf is taken away."""
    kept = {node for node, others in enumerate(table) if len(others) > 1}
    return [others & kept if node in kept else set() for node, others in enumerate(table)]


def is_path(table):
    degrees = sorted(len(others) for others in table if others)
    return degrees[:2] == [1, 1] and set(degrees[2:]) <= {2}


@pytest.mark.parametrize("family", FAMILIES)
@pytest.mark.parametrize("diameter", [17, 28, 40])
def test_every_family_comes_connected_simple_and_with_its_diameter(family, diameter):
    graph = drawn(family, diameter)
    assert eccentricities(graph.edges, graph.num_nodes).max() == diameter
    assert hops_from(graph.edges, graph.num_nodes, 0).min() == 0  # -1 would be a node out of reach
    pairs = [tuple(sorted(edge)) for edge in graph.edges.T.tolist()]
    assert len(set(pairs)) == len(pairs)
    assert all(u != v for u, v in pairs)


@pytest.mark.parametrize("family", ["line", "grid", "tree", "caterpillar", "lobster"])
def test_draws_differ_and_depend_on_the_stream_alone(family):
    first, again, other = (drawn(family, 20, seed) for seed in (1, 1, 2))
    assert np.array_equal(first.edges, again.edges)
    assert not np.array_equal(first.edges, other.edges)


def test_line_is_a_path_with_shortcuts_of_two_to_six():
    shares = []
    for seed in range(30):
        graph = drawn("line", 25, seed)
        edges = set(map(tuple, graph.edges.T.tolist()))
        steps = set(map(tuple, path(graph.num_nodes).T.tolist()))
        assert steps <= edges
        assert all(2 <= abs(u - v) <= 6 for u, v in edges - steps)
        shares.append(len(edges - steps) / graph.num_nodes)
    assert 0.1 < np.mean(shares) < 0.2  # a fifth of the nodes, but for places beyond the ends and doubles


def test_ladder_has_two_rails_and_a_rung_everywhere():
    table = neighbours(drawn("ladder", 17))
    assert len(table) == 34
    assert sorted(map(len, table)) == [2] * 4 + [3] * 30
    assert all(node + 17 in table[node] for node in range(17))


def test_grid_lacks_a_fifth_of_its_edges():
    for seed in range(5):
        graph = drawn("grid", 30, seed)
        assert max(map(len, neighbours(graph))) <= 4
        whole = 2 * graph.num_nodes  # about, without the border
        assert 0.6 * whole < graph.edges.shape[1] < 0.85 * whole


@pytest.mark.parametrize("family", ["tree", "caterpillar", "lobster"])
def test_trees_are_trees(family):
    for seed in range(5):
        graph = drawn(family, 23, seed)
        assert graph.edges.shape[1] == graph.num_nodes - 1


def test_caterpillars_and_lobsters_have_one_and_two_layers_of_legs():
    for seed in range(5):
        assert is_path(without_leaves(neighbours(drawn("caterpillar", 23, seed))))
        once = without_leaves(neighbours(drawn("lobster", 23, seed)))
        assert not is_path(once)
        assert is_path(without_leaves(once))


def test_tree_grows_where_much_has_grown():
    degrees = [max(map(len, neighbours(drawn("tree", 40, seed)))) for seed in range(10)]
    assert np.median(degrees) > 15


def test_a_diameter_that_never_comes_out_is_said(monkeypatch):
    monkeypatch.setattr(echo_graphs, "MAX_DRAWS", 3)
    monkeypatch.setitem(FAMILIES, "line", lambda rng, diameter: echo_graphs.Graph(path(5), 5))
    with pytest.raises(ValueError, match="'line' with diameter 17 came out in 3 draws"):
        drawn("line", 17)

import numpy as np
import pytest
import torch

from ghr.datasets.folders.content import Content, build_graphs, join_columns, measure
from ghr.datasets.folders.numbering import order_rows
from ghr.datasets.folders.schema import Column, Schema


def content(**more):
    """Two graphs, of 2 and 3 nodes, with 1 and 2 edges; the other direction of each is added."""
    numbering = order_rows(
        ["a", "b"], np.array([0, 1, 0, 1, 1]), np.array([1, 0, 1]), np.array([1, 0, 3]), np.array([3, 2, 4])
    )
    return Content(numbering, **{"nodes": [], "edges": [], **more})


def test_real_columns_stay_real_and_words_beside_them_become_flags():
    columns = (Column("size", mean=1.0, scale=2.0), Column("element", words=("C", "H", "O")))
    table = join_columns(columns, [np.array([1.0, 5.0]), np.array([2, 0])])
    assert table.dtype == torch.float32
    assert table.tolist() == [[0, 0, 0, 1], [2, 1, 0, 0]]


def test_columns_of_words_alone_are_codes():
    table = join_columns((Column("a", words=("x", "y")), Column("b", codes=9)), [np.array([1, 0]), np.array([8, 3])])
    assert table.dtype == torch.int64
    assert table.tolist() == [[1, 8], [0, 3]]


def test_large_numbers_keep_their_differences():
    """Float32 cannot tell the seconds of a day apart in numbers of this size: the mean must go first."""
    seconds = 1.7e9 + np.arange(4.0)
    column = measure(content(nodes=[seconds[[0, 0, 1, 2, 3]]]), Schema(nodes=(Column("time"),)), [0, 1]).nodes[0]
    assert len(set(join_columns([column], [seconds]).flatten().tolist())) == 4


def test_targets_of_nodes_follow_their_rows():
    graphs = build_graphs(content(target=np.arange(5.0)[:, None]), Schema(level="node", target=("y",)))
    assert [graph.y.flatten().tolist() for graph in graphs] == [[0, 2], [1, 3, 4]]
    assert [graph.x.tolist() for graph in graphs] == [[[1]] * 2, [[1]] * 3], "nodes without features get a one"


@pytest.mark.parametrize(("target", "missing"), [(np.array([1.0, 2, 3])[:, None], "nan"), (np.array([1, 2, 3]), "-1")])
def test_added_edges_have_features_but_no_target_and_no_mask(target, missing):
    made = content(edges=[np.array([0.1, 0.2, 0.3])], target=target, masks={"train_mask": np.array([True, True, True])})
    graphs = build_graphs(made, Schema(edges=(Column("length"),), level="edge", target=("y",)))
    assert [graph.edge_index.tolist() for graph in graphs] == [[[0, 1], [1, 0]], [[0, 1, 1, 2], [1, 2, 0, 1]]]
    assert graphs[1].edge_attr.flatten().tolist() == pytest.approx([0.1, 0.3, 0.1, 0.3])
    assert [str(y) for y in graphs[1].y.flatten().tolist()][2:] == [missing] * 2
    assert graphs[1].y.flatten().tolist()[:2] == [1, 3]
    assert graphs[1].train_mask.tolist() == [True, True, False, False]


def test_numbers_are_measured_on_some_graphs_only():
    nodes = [np.array([1.0, 100, 3, 100, 100]), np.array([0.0, 1, 1, 0, 1]), np.full(5, 7.0), np.array([0, 1, 0, 1, 1])]
    columns = (Column("size"), Column("flag"), Column("constant"), Column("word", words=("x", "y")))
    measured = measure(content(nodes=nodes), Schema(nodes=columns), [0])
    assert (measured.nodes[0].mean, measured.nodes[0].scale) == (2, 1)
    assert measured.nodes[1:] == columns[1:]


def test_the_number_of_graphs_may_be_large_and_their_tensors_are_their_own():
    graphs = build_graphs(content(nodes=[np.arange(5.0)]), Schema(nodes=(Column("size"),)))
    graphs[0].x.zero_()
    assert graphs[1].x.flatten().tolist() == [1, 3, 4]
    assert graphs[0].x.untyped_storage().nbytes() == 8

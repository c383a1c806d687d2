import numpy as np

from ghr.datasets.folders.numbering import order_rows
from ghr.datasets.folders.schema import Column, Schema
from ghr.datasets.folders.summary import (
    count,
    count_missing,
    describe_direction,
    describe_features,
    describe_parts,
    describe_target,
    holds_few,
)


def test_features_in_words():
    assert describe_features("Edges", ()) == "Edges have no features."
    assert describe_features("Nodes", [Column("x[0]", codes=3), Column("b", words=("p", "q"))]) == (
        "Nodes have 2 features: x[0] (3 codes), b (2 words: p, q). Each gets an embedding of its own."
    )


def test_directions_in_words():
    two, one = (order_rows(["g"], np.zeros(2, int), np.zeros(1, int), np.array([0]), np.array([1]), both)
                for both in (True, False))  # fmt: skip
    assert describe_direction(two, None)[0].startswith("No edge is listed in both directions")
    assert describe_direction(two, True) == ["The other direction was added to 1 edge."]
    assert describe_direction(one, False) == ["Edges go in the direction in which they are listed."]


def test_targets_in_words():
    classes = Schema(level="node", target=("y",), classes=("no", "yes"))
    assert describe_target(classes, 2) == [
        "Target: y, one of 2 classes per node: no, yes.",
        "2 nodes have no target and are left out.",
    ]
    assert describe_target(Schema(level="edge", target=("a", "b")), 0) == ["Target: a, b, 2 numbers per edge."]


def test_parts_in_words():
    assert describe_parts(["train"], "node", "It") == (
        "It divides the nodes: 1 train; validation and test from training by the seed."
    )
    assert describe_parts(["train", "val"], "node", "It") == "It divides the nodes: 1 train, 1 val."


def test_counting():
    assert count(1, "graph") == "1 graph"
    assert count(2000, "node") == "2,000 nodes"
    assert count_missing(None) == 0
    assert count_missing(np.array([[np.nan, 1], [np.nan, np.nan]])) == 1
    assert count_missing(np.array([-1, 0])) == 1
    assert holds_few(np.array([[1.0], [2.0], [np.nan]]))
    assert not holds_few(np.array([[1.5]]))
    assert not holds_few(np.arange(11.0)[:, None])
    assert not holds_few(np.array([1, 2]))
    assert not holds_few(None)

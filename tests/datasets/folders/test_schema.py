import json
from dataclasses import replace

import pytest

from ghr.datasets.folders.schema import Column, Schema, count_codes

SCHEMA = Schema(
    nodes=(Column("size", mean=2.5, scale=0.1), Column("element", words=("C", "H"))),
    edges=(Column("edge_attr[0]", codes=4),),
    target=("energy",),
    level="graph",
    undirected=True,
)


@pytest.mark.parametrize("schema", [SCHEMA, Schema(), replace(SCHEMA, level="node", classes=("no", "yes"))])
def test_a_schema_survives_json(schema):
    assert Schema.from_dict(json.loads(json.dumps(schema.describe()))) == schema


def test_the_task_follows():
    task = SCHEMA.make_task()
    assert (task.level, task.out_channels, task.loss, task.score.name, task.name) == (
        "graph",
        1,
        "mse",
        "MAE",
        "energy",
    )
    task = replace(SCHEMA, classes=("a", "b", "c")).make_task()
    assert (task.out_channels, task.loss, task.classes) == (3, "cross_entropy", ("a", "b", "c"))
    assert replace(SCHEMA, target=("a", "b")).make_task().out_channels == 2
    assert Schema().make_task() is None


def test_codes_count_only_where_all_columns_have_some():
    assert count_codes(SCHEMA.nodes) is None
    assert count_codes(SCHEMA.nodes[1:] + SCHEMA.edges) == [2, 4]
    assert count_codes(()) is None


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        ({"more": 1}, "A schema has the entries classes, edges, .*; got"),
        ({"level": "city"}, "Unknown level 'city'"),
        ({"undirected": "no"}, "undirected must be True or False; got 'no'"),
        ({"nodes": [{"name": "a"}]}, "The nodes of a schema must be a list of columns"),
        ({"nodes": None}, "The nodes of a schema must be a list of columns"),
        ({"target": "y"}, "The targets must be different words; got 'y'"),
        ({"classes": ["a", "a"]}, "The classes must be different words"),
        ({"edges": [{"name": 3, "words": None, "codes": None, "mean": 0, "scale": 1}]}, "A column needs a name; got 3"),
        ({"edges": [{"name": "a", "words": [1], "codes": None, "mean": 0, "scale": 1}]}, "The words of 'a' must be"),
        (
            {"edges": [{"name": "a", "words": None, "codes": 0, "mean": 0, "scale": 1}]},
            "number of codes of 'a' must be",
        ),
        (
            {"edges": [{"name": "a", "words": None, "codes": None, "mean": 0, "scale": 0}]},
            "scale of 'a' must be .* above 0",
        ),
    ],
)
def test_what_is_no_schema_is_said(change, sentence):
    with pytest.raises(ValueError, match=sentence):
        Schema.from_dict({**SCHEMA.describe(), **change})


def test_something_else_than_a_mapping_is_no_schema():
    with pytest.raises(ValueError, match=r"A schema has the entries .*; got list"):
        Schema.from_dict([])

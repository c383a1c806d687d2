import json

import pytest
import torch

from ghr.datasets.folders import Schema, read_folder
from ghr.models.inputs import Widths


def write_graphs(folder, count=10, *, split=None, sizes=None):
    """Write graphs of two nodes; the feature of graph k is k and k + 1, or a word."""
    folder.mkdir(exist_ok=True)
    rows = [(number, node) for number in range(count) for node in (0, 1)]
    value = sizes or (lambda number, node: number + node)
    nodes = [f"{number},{node},{value(number, node)}" for number, node in rows]
    (folder / "nodes.csv").write_text("\n".join(["graph,node,size", *nodes]))
    (folder / "edges.csv").write_text("\n".join(["graph,source,target", *(f"{number},0,1" for number in range(count))]))
    words = split or [""] * count
    column = ",split" if split else ""
    graphs = [f"{number},{number}.5{',' * bool(split)}{word}" for number, word in zip(range(count), words, strict=True)]
    (folder / "graphs.csv").write_text("\n".join([f"graph,y{column}", *graphs]))
    return folder


def stack(graphs):
    return torch.cat([graph.x for graph in graphs])


def test_graphs_are_divided_and_standardised_by_those_of_training(tmp_path):
    data = read_folder(write_graphs(tmp_path), target="y")
    splits = data.splits(seed=3)
    assert [len(splits.train), len(splits.val), len(splits.test)] == [8, 1, 1]
    assert stack(splits.train).mean().item() == pytest.approx(0, abs=1e-6)
    assert stack(splits.train).std(correction=0).item() == pytest.approx(1, abs=1e-6)
    assert abs(stack(splits.val).mean().item()) > 1e-3, "validation does not take part in the mean"
    assert data.graphs[3].x.tolist() == [[3], [4]], "the graphs themselves stay in the user's unit"
    again = data.splits(seed=3)
    assert torch.equal(stack(again.train), stack(splits.train))
    assert not torch.equal(data.splits(seed=4).val[0].y, splits.val[0].y)


def test_the_schema_in_the_description_reads_new_graphs_alike(tmp_path):
    splits = read_folder(write_graphs(tmp_path / "a"), target="y").splits()
    schema = Schema.from_dict(json.loads(json.dumps(splits.description))["schema"])
    column = schema.nodes[0]
    new = read_folder(write_graphs(tmp_path / "b", 1, sizes=lambda number, node: 50), schema=schema)
    assert new.graphs[0].x.flatten().tolist() == pytest.approx([(50 - column.mean) / column.scale] * 2)


def test_a_column_for_graphs_is_honoured(tmp_path):
    split = ["test", "train", "val", "train", "", "train"]
    data = read_folder(write_graphs(tmp_path, 6, split=split), target="y")
    splits = data.splits()
    found = [[graph.y.item() for graph in graphs] for graphs in (splits.train, splits.val, splits.test)]
    assert found == [[1.5, 3.5, 5.5], [2.5], [0.5]]
    assert stack(splits.train).mean().item() == pytest.approx(0, abs=1e-6)
    without = read_folder(write_graphs(tmp_path, 3, split=["train", "val", "train"]), target="y").splits()
    assert without.test is None
    drawn = read_folder(write_graphs(tmp_path, 6, split=["train"] * 5 + ["test"]), target="y").splits()
    assert ([graph.y.item() for graph in drawn.test], len(drawn.val), len(drawn.train)) == ([5.5], 1, 4)


def test_graphs_without_a_target_are_in_no_split(tmp_path):
    write_graphs(tmp_path, 6)
    lines = (tmp_path / "graphs.csv").read_text().splitlines()
    (tmp_path / "graphs.csv").write_text("\n".join([*lines[:3], "2,", "3,", *lines[5:]]))
    splits = read_folder(tmp_path, target="y").splits()
    found = [graph.y.item() for graphs in splits.named().values() for graph in graphs]
    assert sorted(found) == [0.5, 1.5, 4.5, 5.5]


def test_one_big_graph_is_divided_by_its_nodes(tmp_path):
    nodes = [f"{node},{node},{node % 3}" for node in range(30)]
    (tmp_path / "nodes.csv").write_text("\n".join(["node,size,y", *nodes]))
    (tmp_path / "edges.csv").write_text("\n".join(["source,target", *(f"{node},{node + 1}" for node in range(29))]))
    splits = read_folder(tmp_path, target="y", classes=True).splits()
    masks = [graphs[0].mask for graphs in splits.named().values()]
    assert [int(mask.sum()) for mask in masks] == [24, 3, 3]
    assert torch.stack(masks).sum(dim=0).eq(1).all()
    assert stack(splits.val).mean().item() == pytest.approx(0, abs=1e-6), "all nodes are seen in training"


def test_graphs_without_a_row_for_training_do_not_count_in_the_mean(tmp_path):
    parts = ["train", "train", "train", "val"]
    nodes = [f"{number},{node},{number},{number},{part}" for number, part in enumerate(parts) for node in (0, 1)]
    (tmp_path / "nodes.csv").write_text("\n".join(["graph,node,size,y,split", *nodes]))
    (tmp_path / "edges.csv").write_text("graph,source,target\n0,0,1\n")
    splits = read_folder(tmp_path, target="y").splits()
    assert splits.description["schema"]["nodes"][0]["mean"] == pytest.approx(1)


def test_models_know_words_that_no_graph_of_the_splits_has(tmp_path):
    split = ["train", "train", "train", "val", ""]
    folder = write_graphs(tmp_path, 5, split=split, sizes=lambda number, node: "abcdz"[number])
    splits = read_folder(folder, target="y").splits()
    assert Widths.of(splits.train, splits.task).in_channels == [5]


def test_without_a_target_or_a_graph_for_training_there_are_no_splits(tmp_path):
    with pytest.raises(ValueError, match="was read without a target, so there is nothing to learn"):
        read_folder(write_graphs(tmp_path)).splits()
    folder = write_graphs(tmp_path, 3, split=["train", "val", "test"])
    (folder / "graphs.csv").write_text("graph,y,split\n0,,train\n1,2,val\n2,3,test\n")
    with pytest.raises(ValueError, match=r"No graph of .* that is for training has a target"):
        read_folder(folder, target="y").splits()

import pytest
from writing import EDGES, GRAPHS, NODES, write

from ghr.datasets.folders.csv_table import Table
from ghr.datasets.folders.split_column import find_split, make_masks, read_split
from ghr.datasets.folders.tables import read_tables

GRAPHS_SPLIT = "graph,energy,split\nm1,1,train\nm2,2,val\n"
NODES_SPLIT = "graph,node,split\nm1,a,train\nm1,b,val\nm2,a,train\nm2,b,test\nm2,c,\n"


def table(*entries):
    return Table("nodes.csv", {"split": list(entries)}, range(2, 2 + len(entries)))


def test_words_for_parts_may_be_written_in_many_ways():
    parts = read_split(table("train", "Val", "VALID", "validation", "test", "", "NA"))
    assert parts == ["train", "val", "val", "val", "test", "", ""]
    assert {name: mask.tolist() for name, mask in make_masks(["train", "", "test"]).items()} == {
        "train_mask": [True, False, False],
        "test_mask": [False, False, True],
    }


def test_other_words_and_no_training_are_said():
    with pytest.raises(ValueError, match=r"nodes.csv, line 3: 'split' must be train, val or test; got 'holdout'"):
        read_split(table("train", "holdout"))
    with pytest.raises(ValueError, match=r"nodes.csv: no row of the column 'split' says train"):
        read_split(table("val", "test"))


def test_the_column_belongs_to_the_table_of_the_target_or_of_graphs(tmp_path):
    tables = read_tables(write(tmp_path, nodes=NODES, graphs=GRAPHS_SPLIT))
    assert find_split(tables, "graph") is find_split(tables, "node") is tables.graphs
    tables = read_tables(write(tmp_path, nodes=NODES_SPLIT, graphs=GRAPHS))
    assert find_split(tables, "node") is tables.nodes
    with pytest.raises(ValueError, match=r"nodes.csv has a column 'split', but the target belongs to graphs"):
        find_split(tables, "graph")
    tables = read_tables(write(tmp_path, nodes=NODES_SPLIT, graphs=GRAPHS_SPLIT))
    with pytest.raises(ValueError, match=r"nodes.csv and graphs.csv both have a column 'split'"):
        find_split(tables, "node")
    tables = read_tables(write(tmp_path, nodes=NODES, graphs=GRAPHS, edges=EDGES))
    assert find_split(tables, "node") is None

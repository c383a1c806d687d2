import numpy as np
import pytest
from writing import EDGES, GRAPHS, NODES, write

from ghr.datasets.folders.numbering import Names, find_one_way, name_rows, number_rows
from ghr.datasets.folders.tables import read_tables


def number(folder, undirected=None, **files):
    tables = read_tables(write(folder, **files))
    numbering = number_rows(tables, undirected)
    ends = (tables.edges.columns[end] for end in ("source", "target"))
    return numbering, name_rows(numbering, tables.nodes.columns["node"], *ends)


def test_nodes_are_numbered_in_order_of_appearance_within_their_graph(tmp_path):
    numbering, names = number(tmp_path, nodes=NODES)
    assert numbering.names == ["m1", "m2"]
    assert numbering.node_starts.tolist() == [0, 2, 5]
    assert numbering.edge_index.tolist() == [[0, 1, 0, 1, 1, 2], [1, 0, 1, 2, 0, 1]]
    assert numbering.added.tolist() == [False, True, False, False, True, True]
    assert names[1] == Names("m2", ["a", "b", "c"], ["a", "b"], ["b", "c"])


def test_rows_of_graphs_may_be_mixed(tmp_path):
    nodes = "graph,node\nm2,c\nm1,a\nm2,a\nm1,b\nm2,b\n"
    edges = "graph,source,target\nm2,a,b\nm1,b,a\nm2,b,c\nm2,b,a\n"
    numbering, names = number(tmp_path, nodes=nodes, edges=edges)
    assert numbering.names == ["m2", "m1"]
    assert names == [
        Names("m2", ["c", "a", "b"], ["a", "b", "b"], ["b", "c", "a"]),
        Names("m1", ["a", "b"], ["b"], ["a"]),
    ]
    assert numbering.edge_index.tolist() == [[1, 2, 2, 1], [2, 0, 1, 0]]
    assert numbering.node_rows.tolist() == [0, 2, 4, 1, 3]
    assert numbering.edge_rows.tolist() == [0, 2, 3, 1]


@pytest.mark.parametrize(
    ("edges", "undirected", "found", "index"),
    [
        ("a,b\nb,c\n", None, True, [[0, 1, 1, 2], [1, 2, 0, 1]]),
        ("a,b\nb,c\n", False, False, [[0, 1], [1, 2]]),
        ("a,b\nb,a\nb,c\n", None, False, [[0, 1, 1], [1, 0, 2]]),
        ("a,b\nb,a\nb,c\n", True, True, [[0, 1, 1, 2], [1, 0, 2, 1]]),
        ("a,a\na,b\n", None, True, [[0, 0, 1], [0, 1, 0]]),
        ("a,b\na,b\n", True, True, [[0, 0, 1, 1], [1, 1, 0, 0]]),
        ("", None, True, [[], []]),
    ],
    ids=["none both ways", "as listed", "some both ways", "the missing ones", "a loop", "an edge twice", "no edges"],
)
def test_the_other_direction_is_added_where_it_is_missing(tmp_path, edges, undirected, found, index):
    files = {"nodes": "node\na\nb\nc\n", "edges": f"source,target\n{edges}"}
    numbering, _ = number(tmp_path, undirected, **files)
    assert numbering.undirected is found
    assert numbering.edge_index.tolist() == index


def test_one_way_edges_are_found():
    assert find_one_way(np.array([0, 1, 2, 2]), np.array([1, 0, 2, 0]), 3).tolist() == [3]


def test_the_name_of_a_single_graph_is_that_of_a_table_or_of_the_folder(tmp_path):
    plain = {"nodes": "node\na\nb\n", "edges": "source,target\na,b\n"}
    assert number(tmp_path / "roads", **plain)[0].names == ["roads"]
    assert number(tmp_path / "g", **{**plain, "graphs": "graph,y\nm7,1\n"})[0].names == ["m7"]
    assert number(tmp_path / "e", **{**plain, "edges": "graph,source,target\nm8,a,b\n"})[0].names == ["m8"]


@pytest.mark.parametrize(
    ("files", "sentence"),
    [
        ({"nodes": NODES + "m2,a,1,C\n"}, "nodes.csv, line 7: the node 'a' of the graph 'm2' is listed twice"),
        (
            {"nodes": "node\na\na\n", "edges": "source,target\n"},
            "line 3: the node 'a' is listed twice, first in",
        ),
        ({"nodes": NODES, "edges": EDGES + "m1,a,c,x\n"}, "edges.csv, line 5: the node 'c' of the graph 'm1' is not"),
        ({"nodes": "node\na\n", "edges": "source,target\na,z\n"}, "line 2: the node 'z' is not in nodes.csv"),
        ({"nodes": NODES, "edges": EDGES + "m9,a,b,x\n"}, "edges.csv, line 5: the graph 'm9' has no nodes; list them"),
        ({"nodes": "node\na\nb\nc\n"}, "nodes.csv needs a column 'graph', since there are 2 graphs"),
        ({"nodes": NODES, "edges": "source,target\na,b\n", "graphs": GRAPHS}, "edges.csv needs a column 'graph'"),
    ],
)
def test_names_that_do_not_fit_are_said_with_their_line(tmp_path, files, sentence):
    with pytest.raises(ValueError, match=sentence):
        number(tmp_path, **files)

import pytest
from writing import EDGES, GRAPHS, NODES, write

from ghr.datasets.folders.tables import read_tables


def test_all_tables_are_read(tmp_path):
    tables = read_tables(write(tmp_path, nodes=NODES, graphs=GRAPHS))
    assert list(tables.by_level) == ["node", "edge", "graph"]
    assert [tables.list_columns(level) for level in tables.by_level] == [["size", "element"], ["kind"], ["energy"]]
    assert tables.name == tmp_path.name


def test_without_nodes_they_come_from_the_edges_in_order(tmp_path):
    tables = read_tables(write(tmp_path))
    assert tables.nodes.columns == {"graph": ["m1", "m1", "m2", "m2", "m2"], "node": ["a", "b", "a", "b", "c"]}
    tables = read_tables(write(tmp_path, edges="source,target\n7,3\n3,5\n"))
    assert tables.nodes.columns == {"node": ["7", "3", "5"]}


@pytest.mark.parametrize(
    ("files", "sentence"),
    [
        ({"nodes": NODES, "edges": None}, "has no edges.csv .* write its first line only"),
        ({"nodes": "graph,size\na,1\n"}, "nodes.csv needs a column 'node'; it has graph, size"),
        ({"edges": "source,weight\na,1\n"}, "edges.csv needs a column 'target'; it has source, weight"),
        ({"graphs": "energy\n1\n"}, "graphs.csv needs a column 'graph'; it has energy"),
        ({"nodes": "node,size\n"}, "nodes.csv has no rows below its first line"),
        ({"edges": "source,target\n"}, "edges.csv has no rows below its first line"),
        ({"nodes": "node,size\na,1\n,2\n"}, "nodes.csv, line 3: the entry under 'node' is missing"),
        ({"edges": "source,target\na,b\n\na,\n"}, "edges.csv, line 4: the entry under 'target' is missing"),
        ({"nodes": "graph,node\n,a\n", "edges": EDGES}, "nodes.csv, line 2: the entry under 'graph' is missing"),
    ],
)
def test_what_a_folder_lacks_is_said(tmp_path, files, sentence):
    with pytest.raises(ValueError, match=sentence):
        read_tables(write(tmp_path, **files))

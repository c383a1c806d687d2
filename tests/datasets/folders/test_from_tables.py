import pytest
import torch
from writing import EDGES, GRAPHS, NODES, write

from ghr.datasets.folders.from_tables import apply_schema, learn_tables
from ghr.datasets.folders.request import Request
from ghr.datasets.folders.tables import read_tables


def learn(folder, request=None, **files):
    return learn_tables(read_tables(write(folder, **files)), request or Request(), "own")


def test_a_graph_target_with_mixed_features(tmp_path):
    data = learn(tmp_path, Request(target=("energy",)), nodes=NODES, graphs=GRAPHS)
    first, second = data.graphs
    assert first.x.tolist() == [[1.5, 1, 0, 0], [2.5, 0, 1, 0]]
    assert second.edge_attr.tolist() == [[0], [1], [0], [1]]
    assert second.edge_attr.dtype == torch.int64
    assert (first.y.tolist(), second.y.tolist()) == ([[2]], [[-3.5]])
    assert data.task.level == "graph"
    assert data.summary == [
        "own: 2 graphs with 5 nodes and 3 edges.",
        "Nodes have 2 features: size (numbers), element (3 words: C, H, O). "
        "Each word becomes a column of zeros and ones.",
        "Edges have 1 feature: kind (2 words: double, single). It gets an embedding.",
        "No edge is listed in both directions, so the other direction of each was added; to keep them as listed say "
        "undirected=False (--directed).",
        "Target: energy, a number per graph.",
        "Training, validation and test are drawn by the seed.",
    ]


def test_a_node_target_is_no_feature(tmp_path):
    data = learn(tmp_path, Request(target=("element",)), nodes=NODES)
    assert [column.name for column in data.schema.nodes] == ["size"]
    assert data.task.classes == ("C", "H", "O")
    assert [graph.y.tolist() for graph in data.graphs] == [[0, 1], [2, 0, 1]]


def test_a_target_of_another_level_by_the_same_name_is_no_feature_either(tmp_path):
    graphs = "graph,size\nm1,1\nm2,2\n"
    data = learn(tmp_path, Request(target=("size",), level="graph"), nodes=NODES, graphs=graphs)
    assert [column.name for column in data.schema.nodes] == ["element"]


def test_an_edge_target_counts_on_listed_edges_only(tmp_path):
    data = learn(tmp_path, Request(target=("kind",)), nodes=NODES)
    assert [graph.y.tolist() for graph in data.graphs] == [[1, -1], [0, 1, -1, -1]]
    assert data.schema.edges == ()
    assert data.graphs[0].edge_attr is None


def test_missing_targets_are_left_out_and_said(tmp_path):
    data = learn(tmp_path, Request(target=("energy",)), nodes=NODES, graphs="graph,energy\nm1,\nm2,3\n")
    assert data.graphs[0].y.isnan().all()
    assert "1 graph has no target and is left out." in data.summary


def test_without_a_target_there_is_no_task(tmp_path):
    data = learn(tmp_path)
    assert data.task is None
    assert "There is no target." in data.summary
    assert "Nodes have no features, so each gets a constant 1." in data.summary
    assert data.graphs[1].x.tolist() == [[1], [1], [1]]


def test_numbers_can_be_codes_and_columns_can_be_left_out(tmp_path):
    data = learn(tmp_path, Request(categorical=("size",), ignore=("kind",)), nodes=NODES)
    assert data.graphs[1].x.tolist() == [[2, 2], [3, 0], [4, 1]]
    assert data.graphs[0].edge_attr is None
    assert "Columns that are not used: kind." in data.summary
    with pytest.raises(ValueError, match="categorical names the column 'height'; there are size, element, kind"):
        learn(tmp_path, Request(categorical=("height",)), nodes=NODES)


def test_few_whole_numbers_may_be_classes_and_that_is_said(tmp_path):
    nodes = "node,y\na,0\nb,1\nc,1\n"
    data = learn(tmp_path, Request(target=("y",)), nodes=nodes, edges="source,target\na,b\n")
    assert data.task.loss == "mse"
    assert any("if they are classes, say classes=True (--classes)" in sentence for sentence in data.summary)
    data = learn(tmp_path, Request(target=("y",), classes=True), nodes=nodes, edges="source,target\na,b\n")
    assert data.task.classes == ("0", "1")


def test_columns_of_split_become_masks_or_parts(tmp_path):
    nodes = "graph,node,y,split\nm1,a,1,train\nm1,b,2,val\nm2,a,3,test\nm2,b,4,train\nm2,c,5,\n"
    data = learn(tmp_path, Request(target=("y",)), nodes=nodes)
    assert [graph.train_mask.tolist() for graph in data.graphs] == [[True, False], [False, True, False]]
    assert data.parts is None
    assert data.schema.nodes == ()
    assert data.summary[-1] == "The column split of nodes.csv divides the nodes: 2 train, 1 val, 1 test, 1 for nothing."
    graphs = "graph,split,y\nm2,train,1\nm1,test,2\n"
    data = learn(tmp_path, Request(target=("y",), level="graph"), nodes=NODES, graphs=graphs)
    assert data.parts == ["test", "train"]
    assert data.summary[-1].endswith("1 train, 1 test; validation from training by the seed.")


def test_a_column_of_split_can_be_left_out(tmp_path):
    nodes = "graph,node,y,split\nm1,a,1,train\nm1,b,2,what\nm2,a,3,\nm2,b,4,\nm2,c,5,\n"
    data = learn(tmp_path, Request(target=("y",), ignore=("split",)), nodes=nodes)
    assert "train_mask" not in data.graphs[0]
    assert data.schema.nodes == ()


@pytest.mark.parametrize(
    ("graphs", "sentence"),
    [
        ("graph,energy\nm1,1\nm2,2\nm1,3\n", "graphs.csv, line 4: the graph 'm1' is listed twice"),
        ("graph,energy\nm1,1\nm2,2\nm3,3\n", "graphs.csv, line 4: the graph 'm3' has no nodes"),
        ("graph,energy\nm1,1\n", "graphs.csv has no row for the graph 'm2'; add one, with an empty target"),
    ],
)
def test_rows_of_graphs_that_do_not_fit_are_said(tmp_path, graphs, sentence):
    with pytest.raises(ValueError, match=sentence):
        learn(tmp_path, Request(target=("energy",)), nodes=NODES, graphs=graphs)


def test_the_same_columns_are_read_again(tmp_path):
    schema = learn(tmp_path / "a", Request(target=("energy",)), nodes=NODES, graphs=GRAPHS).schema
    nodes = "graph,node,height,element,size\nx,1,7,H,9\nx,2,8,H,8\n"
    tables = read_tables(write(tmp_path / "b", nodes=nodes, edges="graph,source,target,kind\nx,2,1,double\n"))
    data = apply_schema(tables, schema, "own")
    assert data.graphs[0].x.tolist() == [[9, 0, 1, 0], [8, 0, 1, 0]]
    assert data.graphs[0].edge_index.tolist() == [[1, 0], [0, 1]]
    assert "y" not in data.graphs[0]
    assert data.summary[-1] == "Columns that training did not have are not used: height."


def test_targets_are_read_again_where_they_are_there(tmp_path):
    schema = learn(tmp_path, Request(target=("energy",)), nodes=NODES, graphs=GRAPHS).schema
    assert apply_schema(read_tables(tmp_path), schema, "own").graphs[1].y.tolist() == [[-3.5]]


@pytest.mark.parametrize(
    ("files", "sentence"),
    [
        ({"nodes": "graph,node,size\nm1,a,1\n"}, "nodes.csv has no column 'element', which the model was trained with"),
        (
            {"nodes": NODES.replace("1.5,C", "1.5,U")},
            "line 2: 'element' has the unknown value 'U'; known are C, H",
        ),
        ({"nodes": NODES, "edges": EDGES.replace("double", "")}, "edges.csv, line 3: the feature 'kind' is missing"),
    ],
)
def test_what_training_did_not_have_is_said(tmp_path, files, sentence):
    schema = learn(tmp_path / "a", Request(target=("energy",)), nodes=NODES, graphs=GRAPHS).schema
    tables = read_tables(write(tmp_path / "b", **files))
    with pytest.raises(ValueError, match=sentence):
        apply_schema(tables, schema, "own")

import csv
import re
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from test_graphml import save as save_graphml
from torch_geometric.data import Data
from writing import GRAPHS, NODES, write

from ghr.datasets.folders import read_folder
from ghr.datasets.folders.read import find_files

NUMBER = st.floats(-1e6, 1e6, width=32)
NAME = st.text(st.characters(codec="utf-8", exclude_categories=["Cs", "Cc", "Z"]), min_size=1, max_size=4)
WORD = st.sampled_from(["red", "a, b", 'say "x"', "ö", "x;y"])


@st.composite
def graphs(draw):
    """Some graphs as rows of three tables, every edge listed once."""
    made = []
    for graph in draw(st.lists(NAME, min_size=1, max_size=3, unique=True)):
        names = draw(st.lists(NAME, min_size=1, max_size=5, unique=True))
        numbers = st.integers(0, len(names) - 1)
        pairs = draw(st.lists(st.tuples(numbers, numbers), max_size=6, unique_by=lambda pair: tuple(sorted(pair))))
        nodes = draw(st.lists(st.tuples(NUMBER, NUMBER), min_size=len(names), max_size=len(names)))
        edges = draw(st.lists(st.tuples(WORD, WORD), min_size=len(pairs), max_size=len(pairs)))
        made.append((graph, names, nodes, pairs, edges, draw(NUMBER)))
    return made


def write_rows(path, header, rows):
    with open(path, "w", encoding="utf-8", newline="") as file:
        csv.writer(file).writerows([header, *rows])


@given(graphs())
def test_graphs_survive_being_written_and_read(made):
    with TemporaryDirectory() as folder:
        nodes = [(g, name, *values) for g, names, rows, *_ in made for name, values in zip(names, rows, strict=True)]
        edges = [
            (g, names[a], names[b], *words)
            for g, names, _, pairs, rows, _ in made
            for (a, b), words in zip(pairs, rows, strict=True)
        ]
        write_rows(Path(folder, "nodes.csv"), ["graph", "node", "size", "mass"], nodes)
        write_rows(Path(folder, "edges.csv"), ["graph", "source", "target", "colour", "kind"], edges)
        write_rows(Path(folder, "graphs.csv"), ["graph", "y"], [(g, y) for g, *_, y in reversed(made)])
        data = read_folder(folder, target="y")
    words = [column.words for column in data.schema.edges]
    for found, named, (graph, names, rows, pairs, codes, y) in zip(data.graphs, data.names, made, strict=True):
        assert (named.graph, named.nodes) == (graph, names)
        assert torch.equal(found.x, torch.tensor(rows))
        assert found.y.tolist() == [[torch.tensor(y).item()]]
        back = [(b, a) for a, b in pairs if a != b]
        assert [tuple(pair) for pair in found.edge_index.t().tolist()] == pairs + back
        if words and words[0] is not None:
            listed = found.edge_attr[: len(pairs)].tolist()
            assert [tuple(words[place][code] for place, code in enumerate(row)) for row in listed] == codes
            assert torch.equal(found.edge_attr[len(pairs) :], found.edge_attr[: len(pairs)][[a != b for a, b in pairs]])


def test_every_kind_of_input_leads_to_the_same_graph(tmp_path):
    nodes = "node,zone,size\nn0,7,1.5\nn1,8,2.5\n"
    edges = "source,target,open\nn0,n1,true\n"
    table = read_folder(write(tmp_path / "table", nodes=nodes, edges=edges), categorical=["zone"], undirected=True)
    (tmp_path / "xml").mkdir()
    file = save_graphml(tmp_path / "xml")
    single, folder = read_folder(file, target="energy"), read_folder(tmp_path / "xml", target="energy")
    torch.save(single.graphs, tmp_path / "own.pt")
    tensors = read_folder(tmp_path / "own.pt", target="y")
    for data in (single, folder, tensors):
        assert torch.equal(data.graphs[0].x, table.graphs[0].x)
        assert torch.equal(data.graphs[0].edge_index, table.graphs[0].edge_index)
        assert torch.equal(data.graphs[0].edge_attr, table.graphs[0].edge_attr)
        assert data.graphs[0].y.tolist() == [[-1.5]]
        assert data.task.level == "graph"
    assert folder.schema == read_folder(folder.source, schema=folder.schema).schema


def test_a_schema_reads_every_kind_again(tmp_path):
    torch.save(Data(x=torch.rand(3, 1), edge_index=torch.tensor([[0], [1]]), y=torch.rand(3)), tmp_path / "own.pt")
    data = read_folder(tmp_path / "own.pt")
    assert torch.equal(read_folder(tmp_path / "own.pt", schema=data.schema).graphs[0].x, data.graphs[0].x)
    with pytest.raises(ValueError, match="leave out target"):
        read_folder(tmp_path / "own.pt", target="y", schema=data.schema)


@pytest.mark.parametrize("seed", range(300))
def test_damaged_files_are_read_or_refused_with_a_sentence(tmp_path, seed):
    random = Random(seed)
    write(tmp_path, nodes=NODES, graphs=GRAPHS + "m2,train\n" * random.randrange(2))
    if seed % 3 == 0:
        for name in ("nodes", "edges", "graphs"):
            (tmp_path / f"{name}.csv").unlink()
        if seed % 2:
            save_graphml(tmp_path)
        else:
            torch.save(
                [Data(x=torch.rand(3, 1), edge_index=torch.zeros(2, 1).long(), y=torch.rand(1))], tmp_path / "a.pt"
            )
    path = random.choice(sorted(tmp_path.iterdir()))
    content = bytearray(path.read_bytes())
    for _ in range(random.randrange(1, 6)):
        place, kind = random.randrange(len(content)), random.randrange(3)
        if kind == 0:
            content[place] = random.choice(b'",;\n\r<>& 0\x00\xff')
        elif kind == 1:
            del content[place : place + random.randrange(1, 9)]
        else:
            content[place:place] = random.choice([b",", b'"', b"\n", b"nan", b"1e999", b"<node/>", b"m1", b"_"])
    path.write_bytes(content)
    target = random.choice([None, "energy", "size", "kind", "y"])
    graphs, said = [], "It was read."
    try:
        data = read_folder(tmp_path, target=target, classes=random.choice([None, True, False]))
        graphs = data.graphs
        data.splits()
    except (ValueError, OSError) as error:
        said = str(error)
    assert re.fullmatch(r"\S.*\w.*\.", said, re.DOTALL), said
    assert all(bool(graph.x.isfinite().all()) for graph in graphs)


def test_files_of_no_kind_or_of_several_are_said(tmp_path):
    with pytest.raises(FileNotFoundError, match=r"There is no folder or file .*nothing"):
        find_files(tmp_path / "nothing")
    with pytest.raises(ValueError, match=r"has no graphs: neither edges.csv"):
        find_files(tmp_path)
    write(tmp_path, nodes=NODES, graphs=GRAPHS)
    with pytest.raises(ValueError, match=r"nodes.csv is not a file of graphs that is read; give the folder"):
        find_files(tmp_path / "nodes.csv")
    (tmp_path / "notes.txt").write_text("notes")
    with pytest.raises(ValueError, match=r"notes.txt is not .*; known are .graphml and .pt"):
        find_files(tmp_path / "notes.txt")
    assert find_files(tmp_path)[0] == "csv"
    (tmp_path / "a.graphml").write_text("")
    with pytest.raises(ValueError, match=r"has edges.csv and a.graphml, and only one of them can be meant"):
        find_files(tmp_path)
    (tmp_path / "pt").mkdir()
    for name in ("a.pt", "b.pt"):
        (tmp_path / "pt" / name).write_text("")
    with pytest.raises(ValueError, match=r"has several .pt files"):
        find_files(tmp_path / "pt")

import pytest

from ghr.datasets.folders.graphml import read_graphml

HEAD = '<?xml version="1.0" encoding="UTF-8"?>\n<graphml xmlns="http://graphml.graphdrawing.org/xmlns">\n'
KEYS = """<key id="d0" for="node" attr.name="size" attr.type="double"/>
<key id="d1" for="node" attr.name="zone" attr.type="string"><default>7</default></key>
<key id="d2" for="edge" attr.name="open" attr.type="boolean"/>
<key id="d3" for="graph" attr.name="energy" attr.type="float"/>
<key id="d4" for="node" yfiles.type="nodegraphics"/>
"""
GRAPH = """<graph id="G" edgedefault="undirected"><data key="d3">-1.5</data>
<node id="n0"><data key="d0">1.5</data><data key="d4"><y:Shape xmlns:y="u">no</y:Shape></data></node>
<node id="n1"><data key="d0"> 2.5 </data><data key="d1">8</data></node>
<edge source="n0" target="n1"><data key="d2">true</data></edge>
</graph>"""
BOMB = '<!DOCTYPE x [<!ENTITY a "aaaa"><!ENTITY b "&a;&a;">]>'


def save(folder, graph=GRAPH, *, keys=KEYS, head=HEAD, name="m1"):
    path = folder / f"{name}.graphml"
    path.write_text(f"{head}{keys}{graph}</graphml>", encoding="utf-8")
    return path


def test_a_file_becomes_tables_with_lines(tmp_path):
    tables = read_graphml([save(tmp_path)])
    assert tables.nodes.columns == {
        "graph": ["m1", "m1"],
        "node": ["n0", "n1"],
        "zone": ["7", "8"],
        "size": ["1.5", "2.5"],
    }
    assert tables.edges.columns == {"graph": ["m1"], "source": ["n0"], "target": ["n1"], "open": ["true"]}
    assert tables.graphs.columns == {"graph": ["m1"], "energy": ["-1.5"]}
    assert tables.nodes.words == {"zone"}
    assert tables.undirected is True
    assert tables.nodes.locate(1) == "m1.graphml, line 10"


def test_several_files_are_several_graphs(tmp_path):
    other = GRAPH.replace("n1", "n9").replace('<data key="d3">-1.5</data>', "")
    tables = read_graphml([save(tmp_path), save(tmp_path, other, name="m2")])
    assert tables.nodes.columns["graph"] == ["m1", "m1", "m2", "m2"]
    assert tables.graphs.columns == {"graph": ["m1", "m2"], "energy": ["-1.5", ""]}
    assert tables.nodes.locate(2) == "m2.graphml, line 9"


def test_a_prefix_and_another_encoding_are_read(tmp_path):
    path = tmp_path / "a.graphml"
    text = '<?xml version="1.0" encoding="ISO-8859-1"?><g:graphml xmlns:g="u"><g:graph edgedefault="directed">'
    path.write_bytes(f'{text}<g:node id="Köln"/></g:graph></g:graphml>'.encode("latin-1"))
    tables = read_graphml([path])
    assert tables.nodes.columns == {"graph": ["a"], "node": ["Köln"]}
    assert tables.undirected is False


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"graph": "<graph>"}, "m1.graphml, line 8: edgedefault must be directed or undirected; got ''"),
        ({"graph": GRAPH + "<x>"}, "m1.graphml, line 12: this is not XML"),
        ({"graph": ""}, "m1.graphml has no element <graph>; it is not GraphML"),
        ({"graph": GRAPH + GRAPH}, "m1.graphml, line 12: there is a second graph; write one file per graph"),
        ({"graph": '<graph edgedefault="directed"></graph>'}, "There are no nodes in m1.graphml"),
        ({"graph": '<graph edgedefault="directed"><node/></graph>'}, "<node> needs the attribute 'id'"),
        ({"graph": '<graph edgedefault="directed"><edge source="a"/></graph>'}, "<edge> needs the attribute 'target'"),
        ({"graph": '<graph edgedefault="directed"><hyperedge/></graph>'}, "a hyperedge is not read"),
        ({"graph": '<graph edgedefault="directed"><node id="a"><node id="b"/></node></graph>'}, "<node> must stand in"),
        ({"graph": GRAPH.replace('key="d0"', 'key="d9"')}, "line 9: the key 'd9' is not declared above for nodes"),
        ({"graph": GRAPH.replace('key="d2"', 'key="d0"')}, "line 11: the key 'd0' is not declared above for edges"),
        ({"graph": GRAPH.replace("<edge ", '<edge directed="true" ')}, "directed and undirected edges are mixed"),
        ({"keys": KEYS.replace('"size"', '"node"')}, "a value of the nodes is called 'node'; give it another name"),
        ({"keys": KEYS.replace('id="d0"', "")}, "line 3: <key> needs the attribute 'id'"),
        ({"head": HEAD.replace("UTF-8", "UTF-ate")}, "line 1: unknown encoding: UTF-ate; save the file as UTF-8"),
        ({"head": BOMB + HEAD.splitlines()[1]}, "entities are refused"),
    ],
)
def test_what_is_not_read_is_said_with_its_line(tmp_path, options, sentence):
    with pytest.raises(ValueError, match=sentence):
        read_graphml([save(tmp_path, **options)])


def test_an_entity_of_a_file_is_refused(tmp_path):
    (tmp_path / "secret").write_text("secret")
    head = f'<!DOCTYPE graphml [<!ENTITY s SYSTEM "file://{tmp_path}/secret">]>{HEAD.splitlines()[1]}'
    with pytest.raises(ValueError, match="entities are refused"):
        read_graphml([save(tmp_path, GRAPH.replace("1.5", "&s;"), head=head)])


def test_elements_inside_a_value_are_no_values(tmp_path):
    nested = GRAPH.replace(">1.5<", ">1<x><data key='d1'>9</data><default>3</default></x>.5<")
    tables = read_graphml([save(tmp_path, nested)])
    assert tables.nodes.columns["zone"] == ["7", "8"]
    assert tables.nodes.columns["size"] == ["1.5", "2.5"]


def test_files_must_agree_on_directions(tmp_path):
    other = save(tmp_path, GRAPH.replace("undirected", "directed"), name="m2")
    with pytest.raises(ValueError, match=r"m1.graphml has undirected edges and m2.graphml directed ones"):
        read_graphml([save(tmp_path), other])


def test_a_file_that_is_not_there_is_a_sentence(tmp_path):
    with pytest.raises(OSError, match=r"Could not read .*m9.graphml: No such file"):
        read_graphml([tmp_path / "m9.graphml"])

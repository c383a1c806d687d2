import json

from test_cli import run

from ghr.cli.bench import geometric_graph


def test_bench_prints_a_table_and_writes_where_it_was_measured(capsys, tmp_path):
    code, out, _ = run(capsys, "bench", "--nodes", "50", "200", "--repeats", "2", "--out", str(tmp_path / "bench.json"))
    assert code == 0
    assert len(out.splitlines()) == 3
    record = json.loads((tmp_path / "bench.json").read_text())
    assert [row["nodes"] for row in record["coarsen"]] == [50, 200]
    assert all(row["seconds"] > 0 and 1 <= row["clusters"] < row["nodes"] for row in record["coarsen"])
    assert {"versions", "machine", "repeats"} <= record.keys()


def test_geometric_graph_has_the_degree_it_is_asked_for():
    graph = geometric_graph(20_000, mean_degree=6)
    assert 5.6 < graph.num_edges / graph.num_nodes < 6.1
    assert not graph.has_self_loops()
    assert graph.is_undirected()

import json

import pytest
from test_cli import run


def test_bench_prints_tables_and_writes_where_it_was_measured(capsys, tmp_path):
    file = tmp_path / "bench.json"
    code, out, _ = run(capsys, "bench", "A", "F", "--quick", "--threads", "1", "--quiet", "--out", str(file))
    assert code == 0
    assert all(words in out for words in ["times faster", "memory [MB]", "floor [s]", "GFLOP/s"])
    assert "0 of 0 targets met, 1 threads." in out

    record = json.loads(file.read_text())
    assert {"versions", "machine", "product_speed"} <= record.keys()
    assert (record["repeats"], record["threads"], record["quick"]) == (2, 1, True)
    model, coarsening = record["workloads"]
    ours, plain = (len(model["seconds"][name]) for name in ("ghr", "plain"))
    assert ours == plain >= 2  # two repeats, with as many turns in each as fit
    assert ours % 2 == 0
    assert max(model["errors"].values()) < 1e-3
    for name in ("ghr", "plain"):
        assert model["memory"][name]["peak"] > model["memory"][name]["before"] > 0
    assert model["memory"]["ratio_above"] > 0
    assert model["floor_ratio"] > 0
    assert model["met"] == {}  # targets are for the full size
    assert coarsening["median"]["ghr"] > 0
    assert "memory" not in coarsening


def test_bench_measures_more_on_request(capsys, tmp_path, monkeypatch):
    asked = []
    monkeypatch.setattr("ghr.cli.bench.cold_start", lambda workload, **options: asked.append("cold") or COLD)
    monkeypatch.setattr("ghr.cli.bench.growth", lambda sizes, **options: asked.append(sizes) or SIZES)
    arguments = ["--quick", "--no-memory", "--threads", "1", "--repeats", "1", "--scaling", "--cold", "--quiet"]
    file, page = tmp_path / "bench.json", tmp_path / "bench.md"
    arguments += ["--sizes", "10", "20", "--out", str(file), "--page", str(page)]
    code, out, _ = run(capsys, "bench", "C", *arguments)
    assert code == 0
    assert asked == ["cold", (10, 20)]
    assert all(words in out for words in ["2 threads", "second call", "bytes per node"])
    assert page.read_text().startswith("# Benchmark")
    assert json.loads(file.read_text())["scaling"][0]["name"] == "C"


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["A", "Z"], "Unknown workload 'Z'; known are A, Aw, B, C, D, A-gcn, "),
        (["A", "--repeats", "0"], "repeats of at least 1; got repeats=0"),
        (["A", "--threads", "0"], "threads of at least 1; got threads=0"),
        (["A", "--sizes", "10", "0"], "sizes of at least 1; got sizes=0"),
        (["A", "--threads", "100000"], "cores for us; got threads=100000"),
        (["E", "--cold"], "--scaling and --cold are about models; none of the workloads"),
        (["A", "--out", "{tmp}"], "--out takes a JSON file, but"),
        (["A", "--page", "{tmp}"], "--page takes a Markdown file, but"),
        (["A", "--out", "{tmp}/missing/bench.json"], "missing for the JSON file does not exist"),
    ],
)
def test_mistakes_are_found_before_anything_is_measured(capsys, tmp_path, arguments, words):
    code, out, err = run(capsys, "bench", *(word.format(tmp=tmp_path) for word in arguments))
    assert code == 2
    assert words in err
    assert out == ""


USAGE = {"build_seconds": 0.5, "seconds": [9.0, 0.25], "before": 1, "peak": 2}
COLD = {"name": "C", "empty": USAGE, "filled": USAGE}
SIZES = [{"nodes": 10, "median": 0.1, "above": 5}]


def test_bench_prints_json(capsys, tmp_path):
    file = tmp_path / "bench.json"
    code, out, _ = run(capsys, "bench", "E", "--quick", "--threads", "1", "--json", "--quiet", "--out", str(file))
    assert code == 0
    assert json.loads(out) == json.loads(file.read_text())

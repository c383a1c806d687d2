import json
import re

from test_cli import run

from ghr.datasets import BENCHMARKS
from ghr.models import MODELS


def test_every_benchmark_and_every_model_has_its_line(capsys):
    code, printed, _ = run(capsys, "list")
    assert code == 0
    lines = {line.split()[0]: line for line in printed.splitlines() if line}
    assert set(lines) >= {*BENCHMARKS, *MODELS, "benchmark", "model"}
    assert lines["rgg-sssp-small"].split()[:6] == ["rgg-sssp-small", "6000/1000/1000", "MAE,", "hops", "yes", "yes"]
    assert "one graph  accuracy, % (+)  no " in lines["city-paris"]
    for name, benchmark in BENCHMARKS.items():
        assert lines[name].endswith(benchmark.summary)
    for name, entry in MODELS.items():
        assert lines[name].endswith(entry.summary)
        assert re.match(rf"{name} +[\d,]+ ", lines[name]), "it has parameters"
    assert "steps, t_high, t_low" in lines["ghr"]
    assert " none " in lines["deep-gine"]


def test_one_table_alone(capsys):
    assert run(capsys, "list", "--benchmarks")[1].startswith("benchmark ")
    assert "\nmodel " not in run(capsys, "list", "--benchmarks")[1]
    code, printed, _ = run(capsys, "list", "--models", "--quiet")
    assert code == 0
    assert len(printed.splitlines()) == 1 + len(MODELS)


def test_all_of_it_as_json(capsys):
    code, printed, _ = run(capsys, "list", "--json")
    found = json.loads(printed)
    assert code == 0
    assert [model["name"] for model in found["models"]] == [*MODELS]
    assert [benchmark["name"] for benchmark in found["benchmarks"]] == [*BENCHMARKS]
    ghr = found["models"][0]
    assert (ghr["loops"], ghr["reference"]) == (["steps", "t_high", "t_low"], MODELS["ghr"].reference)
    assert ghr["parameters"] > 1000
    small = found["benchmarks"][0]
    assert small["graphs"] == {"train": 6000, "val": 1000, "test": 1000}
    assert small["metric"] == {"name": "MAE", "unit": "hops", "higher_is_better": False}
    assert json.loads(run(capsys, "list", "--json", "--models")[1]).keys() == {"models"}

import os

import pytest
from test_cli import run

from ghr.datasets import download


def test_prints_the_statistics_beside_the_published_ones_and_draws_the_sheet(capsys, tmp_path):
    out = tmp_path / "new"
    code, printed, err = run(capsys, "data", "lrim-16-hard", "--graphs", "20", "--out", str(out), "--quiet")
    assert code == 0, err
    lines = {line.split("  ")[0]: line.split() for line in printed.splitlines() if line}
    assert lines["targets in J"][-4:] == ["train", "val", "test", "published"]
    assert lines["graphs"][1:4] == ["16", "2", "2"]
    assert lines["diameter"][1:] == ["16", "16", "16", "16", "[S]"]
    assert lines["target std"][-2:] == ["4.66", "[V]"]
    assert "log10 MSE of a constant" in lines
    assert "source generate" in printed
    assert sorted(os.listdir(out)) == ["LRIM", "lrim-16-hard-generate.png"]


def test_a_second_time_nothing_is_generated(capsys, tmp_path):
    arguments = ["data", "echo-diam", "--graphs", "21", "--out", str(tmp_path)]
    code, first, err = run(capsys, *arguments)
    assert (code, "Generating" in err) == (0, True)
    code, second, err = run(capsys, *arguments)
    assert (code, "Generating" in err) == (0, False)
    assert first.splitlines()[1:] == second.splitlines()[1:]
    assert "nearly" in second.lower()


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["data", "lrim-17-hard"], "lrim-16-hard"),
        (["data", "rgg-sssp-small", "--source", "hub"], "rgg-sssp-small has no source 'hub'; it has generate"),
        (["data", "lrim-16-hard", "--graphs", "3"], "num_graphs must be a whole number of at least 10"),
        (["data", "echo-sssp", "--source", "hub", "--graphs", "70"], "no choice of number and seed"),
        (["data", "echo-sssp", "--workers", "0"], "--workers must be at least 1; got 0"),
    ],
)
def test_mistakes_are_one_sentence(capsys, tmp_path, arguments, words):
    code, out, err = run(capsys, *arguments, "--out", str(tmp_path))
    assert code == 2
    assert words in " ".join((out + err).replace("│", " ").split())
    assert "Traceback" not in err


def test_without_a_connection_the_hub_fails_with_the_way_out(capsys, tmp_path, monkeypatch):
    def unreachable(*_, **__):
        raise download.URLError("Name or service not known")

    monkeypatch.setattr(download.OpenerDirector, "open", unreachable)  # whatever this machine is connected to
    code, _, err = run(capsys, "data", "echo-sssp", "--source", "hub", "--out", str(tmp_path), "--quiet")
    assert code == 2
    assert (
        "Could not download https://huggingface.co/datasets/lucamiglior/echo-benchmark/resolve/main/echo-synth" in err
    )
    assert "no connection (Name or service not known)" in err
    assert "source='generate' rebuilds the benchmark" in err

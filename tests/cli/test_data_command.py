import os
from collections import Counter

import pytest
from test_cli import run

from ghr.cli import data
from ghr.datasets import CityNetworks
from ghr.datasets.storage import download
from ghr.testing.benchmarks import write_city


def test_prints_the_statistics_beside_the_published_ones_and_draws_the_sheet(capsys, tmp_path):
    out = tmp_path / "new"
    code, printed, err = run(capsys, "data", "lrim-16-hard", "--graphs", "16", "--out", str(out), "--quiet")
    assert code == 0, err
    lines = {line.split("  ")[0]: line.split() for line in printed.splitlines() if line}
    assert lines["targets: local energy"][-4:] == ["train", "val", "test", "published"]
    assert lines["graphs"][1:4] == ["16", "2", "2"]
    assert lines["diameter"][1:] == ["16", "16", "16", "16", "[S]"]
    assert lines["target std"][-2:] == ["4.66", "[V]"]
    assert "log10 MSE of a constant" in lines
    assert "source generate" in printed
    assert sorted(os.listdir(out)) == ["LRIM", "lrim-16-hard-generate.png"]


def test_a_second_time_nothing_is_generated(capsys, tmp_path):
    arguments = ["data", "echo-diam", "--graphs", "15", "--out", str(tmp_path)]
    code, first, err = run(capsys, *arguments)
    assert (code, "Generating" in err) == (0, True)
    code, second, err = run(capsys, *arguments)
    assert (code, "Generating" in err) == (0, False)
    assert first.splitlines()[1:] == second.splitlines()[1:]
    assert "nearly" in second.lower()
    assert "targets: diameter, hops" in second


def test_a_city_is_described_by_its_classes(capsys, tmp_path):
    write_city(tmp_path, "la")
    code, printed, err = run(capsys, "data", "city-la", "--out", str(tmp_path), "--quiet")
    assert code == 0, err
    lines = {line.split("  ")[0]: line.split() for line in printed.splitlines() if line}
    assert lines["targets"][1:4] == ["6", "6", "48"]
    assert lines["nodes"][-2:] == ["240587", "[S]"]
    share = [100 * max(Counter(split).values()) / len(split) for split in city_classes(tmp_path)]
    cells = lines["accuracy of the most frequent class, %"][-4:-1]
    assert list(map(float, cells)) == pytest.approx(share, abs=1e-3)
    assert "target mean" not in lines
    assert "It is the published set" in printed
    assert (tmp_path / "city-la-hub.png").exists()


def city_classes(root):
    data = CityNetworks(root, "la")[0]
    return [data.y[data[f"{split}_mask"]].tolist() for split in ("train", "val", "test")]


def test_graphs_too_large_to_be_placed_are_not_drawn(capsys, tmp_path, monkeypatch):
    monkeypatch.setattr(data, "MOST_PLACED", 50)
    write_city(tmp_path, "la")
    code, printed, err = run(capsys, "data", "city-la", "--out", str(tmp_path), "--quiet")
    assert code == 0, err
    assert "Sheet" not in printed
    assert not list(tmp_path.glob("*.png"))


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["data", "lrim-17-hard"], "Unknown benchmark 'lrim-17-hard'; known are rgg-sssp-small, rgg-sssp-large, "),
        (["data", "rgg-sssp-small", "--source", "hub"], "RGG-SSSP, small regime has no source 'hub'; it has generate"),
        (["data", "lrim-16-hard", "--source", "moon"], "LRIM-16-hard has no source 'moon'; it has generate, hub"),
        (["data", "lrim-16-hard", "--graphs", "3"], "must be a whole number of at least 10; got 3"),
        (["data", "city-la", "--graphs", "10"], "City-Networks, la is a single graph; the number of graphs cannot be"),
        (["data", "city-la", "--source", "generate"], "City-Networks, la has no source 'generate'; it has hub"),
        (["data", "echo-sssp", "--set", "nois=0"], "ECHO-Synth, sssp has no option 'nois'; known are noise"),
        (["data", "peptides-struct", "--set", "molecules=lrgb"], "peptide_multi_class_dataset.csv.gz is missing: put"),
        (["data", "echo-sssp", "--workers", "0"], "--workers must be a whole number of at least 1; got 0"),
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
    folder = tmp_path / "data"
    code, _, err = run(capsys, "data", "echo-sssp", "--source", "hub", "--out", str(folder), "--quiet")
    assert code == 2
    assert not folder.exists()
    assert (
        "Could not download https://huggingface.co/datasets/lucamiglior/echo-benchmark/resolve/main/echo-synth" in err
    )
    assert "no connection (Name or service not known)" in err
    assert "source='generate' rebuilds the benchmark" in err

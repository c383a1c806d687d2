import os
from pathlib import Path

import pytest

from ghr import Experiment
from ghr.cli.check import check_experiment, check_folder


def test_a_folder_that_can_be_made_passes_and_is_not_made(tmp_path):
    check_folder("--out", tmp_path)
    check_folder("--out", tmp_path / "a" / "b")
    check_folder("--out", Path("surely") / "nothing")
    assert [*tmp_path.iterdir()] == []


def test_a_file_in_the_way_is_named(tmp_path):
    (tmp_path / "file").write_text("")
    for folder in (tmp_path / "file", tmp_path / "file" / "a"):
        with pytest.raises(NotADirectoryError, match=r"--out takes a folder, but .*file is a file"):
            check_folder("--out", folder)


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() == 0, reason="root may write everywhere")
def test_a_folder_that_nobody_may_write_is_named(tmp_path):
    tmp_path.chmod(0o500)
    with pytest.raises(PermissionError, match="is not writable"):
        check_folder("--out", tmp_path / "a")


@pytest.mark.parametrize("model", ["ghr", "deep-gine", "gps", "min-plus", "recurrent-gr-gine"])
@pytest.mark.parametrize("benchmark", ["rgg-sssp-small", "lrim-16-hard", "peptides-struct", "city-paris"])
def test_what_is_right_passes_without_any_graph(benchmark, model):
    check_experiment(Experiment.on(benchmark, model))
    check_experiment(Experiment.on(benchmark, model, {"hidden_channels": 8}))


def test_options_that_only_the_data_can_judge_pass():
    check_experiment(Experiment.on("lrim-16-hard", settings={"block": 8}))
    check_experiment(Experiment.on("rgg-sssp-small", settings={"edge_dim": 1, "coarse_edge_dim": 2}))
    check_experiment(Experiment.on("rgg-sssp-small", settings={"t_high": [2, 1], "levels": 3}))


@pytest.mark.parametrize(
    ("model", "settings", "sentence"),
    [
        ("ghr", {"steps": 0}, "steps must be a whole number"),
        ("ghr", {"pool": "median"}, "Unknown pool"),
        ("ghr", {"partition": "metis"}, "Unknown partition"),
        ("ghr", {"rounds": 0}, "rounds must be"),
        ("deep-gine", {"layers": 0}, "layers must be a whole number"),
        ("gps", {"hidden_channels": 7}, "multiple of heads"),
        ("recurrent-gine", {"rounds": 2}, "levels is 1"),
    ],
)
def test_mistakes_in_options_are_found_without_any_graph(model, settings, sentence):
    with pytest.raises(ValueError, match=sentence):
        check_experiment(Experiment.on("rgg-sssp-small", model, settings))

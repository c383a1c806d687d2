from typing import get_args

import pytest

from ghr.cli.data import Task
from ghr.datasets import LRIM, RGGSSSP, ECHOChem, ECHOSynth, PeptidesStruct
from ghr.datasets.lrim import TEMPERATURES
from ghr.paper.benchmarks import BENCHMARKS


def test_the_command_knows_every_benchmark():
    assert list(get_args(Task)) == list(BENCHMARKS)


@pytest.mark.parametrize(
    ("name", "kind", "sizes"),
    [
        ("rgg-sssp-small", RGGSSSP, [30, 5, 5]),
        ("echo-sssp", ECHOSynth, [28, 5, 5]),
        ("echo-ecc", ECHOSynth, [28, 5, 5]),
        ("echo-diam", ECHOSynth, [28, 5, 5]),
        ("lrim-16-hard", LRIM, [32, 4, 4]),
    ],
)
def test_a_name_gives_its_dataset(tmp_path, name, kind, sizes):
    benchmark = BENCHMARKS[name]
    splits = [benchmark.load(tmp_path, split, "generate", 40, 1) for split in benchmark.splits]
    assert [len(split) for split in splits] == sizes
    assert all(type(split) is kind for split in splits)


@pytest.mark.parametrize("name", [name for name in BENCHMARKS if name.startswith("lrim")])
def test_names_of_lattices_say_size_and_decay(tmp_path, name, monkeypatch):
    _, size, level = name.split("-")
    seen = []
    monkeypatch.setattr(LRIM, "rebuild", lambda self: seen.append((self.size, self.sigma)) or [])
    with pytest.raises(ValueError, match="has no graphs"):
        BENCHMARKS[name].load(tmp_path, "test", "generate", 10, 1)
    assert seen == [(int(size), {"hard": 0.6, "easy": 1.5}[level])]
    assert seen[0] in TEMPERATURES


@pytest.mark.parametrize(
    ("name", "kind", "counts"),
    [
        ("echo-charge", ECHOChem, [32, 4, 4]),
        ("echo-energy", ECHOChem, [32, 4, 4]),
        ("peptides-struct", PeptidesStruct, [13, 13, 13]),
    ],
)
def test_molecules_are_shared_out_over_the_splits(tmp_path, name, kind, counts, monkeypatch):
    seen = []
    monkeypatch.setattr(kind, "rebuild", lambda self: seen.append((self.split, self.num_graphs)) or [])
    for split in BENCHMARKS[name].splits:
        with pytest.raises(ValueError, match="has no graphs"):
            BENCHMARKS[name].load(tmp_path, split, "generate", 40, 1)
    assert seen == list(zip(("train", "val", "test"), counts, strict=True))


def test_every_published_value_has_a_mark():
    for benchmark in BENCHMARKS.values():
        for value in benchmark.published.values():
            assert value.endswith(("[S]", "[V]", "[I]", "[2]", "[?]"))

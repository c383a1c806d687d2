import time

import pytest
import torch

from ghr.datasets import BENCHMARKS
from ghr.testing.benchmarks import COUNTS, FEW, tiny_splits


@pytest.fixture(scope="module")
def root(tmp_path_factory):
    return tmp_path_factory.mktemp("tiny")


@pytest.mark.parametrize("name", [name for name in BENCHMARKS if not name.startswith(("lrim-128", "lrim-256"))])
def test_every_benchmark_comes_in_small(root, name):
    splits = tiny_splits(name, root)
    sizes = {split: len(examples) for split, examples in splits.named().items()}
    assert sizes == (FEW if splits.train[0].num_nodes > 1500 or BENCHMARKS[name].one_graph else COUNTS)
    for examples in splits.named().values():
        for index in range(len(examples)):
            target = splits.task.target(examples[index])
            assert bool(splits.task.counted(examples[index], target).any())
            assert torch.isfinite(examples[index].x).all()
    started = time.perf_counter()
    assert tiny_splits(name, root).fingerprint() == splits.fingerprint()
    assert time.perf_counter() - started < 5  # nothing is generated again


def test_an_unknown_name_is_said(root):
    with pytest.raises(ValueError, match="Unknown benchmark 'rgg'; known are rgg-sssp-small"):
        tiny_splits("rgg", root)

import pytest
import torch

from ghr.bench import compare, select
from ghr.bench.measure import Usage
from ghr.threads import use_threads


@pytest.fixture
def fresh(monkeypatch):
    """Stand in for new processes, and keep what was asked of them."""
    calls = []

    def in_fresh_process(workload, implementation, **options):
        calls.append((workload, implementation, options))
        return Usage(1.0, [5.0, 2.0, 4.0], 100, 150 if implementation == "ghr" else 300)

    monkeypatch.setattr(compare, "in_fresh_process", in_fresh_process)
    return calls


def test_works_take_turns():
    log = []
    works = {name: lambda name=name: log.append(name) or len(log) for name in ("ghr", "plain")}
    seconds, results = compare.interleave(works, 3)
    assert log == ["ghr", "plain"] * 3
    assert results == {"ghr": 5, "plain": 6}
    assert [len(times) for times in seconds.values()] == [3, 3]


def test_short_works_take_several_turns_in_every_repeat():
    assert [compare.count_turns(seconds) for seconds in (5.0, 0.15, 0.05, 0.004, 0.0)] == [1, 1, 4, 50, 50]
    log = []
    works = {name: lambda name=name: log.append(name) for name in ("ghr", "plain")}
    seconds, _ = compare.interleave(works, 2, turns=3)
    assert log == ["ghr", "plain"] * 6
    assert [len(times) for times in seconds.values()] == [6, 6]


def test_memory_is_cleared_before_long_works_and_before_the_first_turn_of_short_ones(monkeypatch):
    log = []
    monkeypatch.setattr(compare.gc, "collect", lambda: log.append("collect"))
    works = {name: lambda name=name: log.append(name) for name in ("ghr", "plain")}
    compare.interleave(works, 1)
    compare.interleave(works, 1, turns=2)
    assert log == [*["collect", "ghr", "collect", "plain"] * 2, "ghr", "plain"]


def test_repeats_of_what_takes_long_are_limited():
    with use_threads(1):
        assert compare.compare(select(["D"])[0].quick(), repeats=4)["repeats"] == 2


def test_memory_of_both_and_both_ratios(fresh):
    memory = compare.compare_memory(select(["A"])[0], count=2, quick=False)
    assert memory["ghr"] == {"before": 100, "peak": 150, "above": 50}
    assert memory["ratio_peak"] == 0.5
    assert memory["ratio_above"] == 0.25
    assert [call[:2] for call in fresh] == [("A", "ghr"), ("A", "plain")]


class CountsThreads:
    """A workload that notes how many threads it may use."""

    name, max_repeats, implementations = "A", None, ("ghr",)

    def __init__(self):
        self.seen = []

    def quick(self):
        return CountsThreads()

    def load(self):
        return None

    def prepare(self, implementation, data):
        return lambda: self.seen.append(torch.get_num_threads())


def test_scaling_measures_one_and_two_threads_in_turns():
    workload = CountsThreads()
    row = compare.scaling(workload, repeats=3)
    assert workload.seen == [1, 2, 1, 2, 1, 2]
    assert [len(row["seconds"][count]) for count in ("1", "2")] == [3, 3]
    assert row["speedup"] > 0


def test_a_cold_start_meets_an_empty_cache_and_then_a_filled_one(fresh):
    row = compare.cold_start(select(["A"])[0], count=1, quick=True)
    assert row["empty"]["seconds"] == row["filled"]["seconds"] == [5.0, 2.0, 4.0]
    folders = {options["environment"]["NUMBA_CACHE_DIR"] for _, _, options in fresh}
    assert len(fresh) == 2
    assert len(folders) == 1


def test_growth_leaves_the_first_run_out(fresh):
    rows = compare.growth([10, 20], count=1)
    assert [row["nodes"] for row in rows] == [10, 20]
    assert all(row["median"] == 3.0 and row["above"] == 50 for row in rows)
    assert [options["nodes"] for _, _, options in fresh] == [10, 20]

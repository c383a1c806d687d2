import pytest

from ghr.bench import WORKLOADS, select
from ghr.bench.attention_work import AttentionWork
from ghr.bench.batching import Batching
from ghr.bench.compare import compare
from ghr.bench.stack_work import StackWork
from ghr.bench.targets import NO_TARGETS
from ghr.threads import use_threads


def test_names_select_and_keep_the_order():
    assert [workload.name for workload in select(["C", "A"])] == ["A", "C"]
    assert [workload.nodes for workload in select(["E"])] == [325, 100_000]
    assert select([]) == list(WORKLOADS)


def test_an_unknown_name_is_told_the_known_ones():
    with pytest.raises(ValueError, match=r"Unknown workload 'Z'; known are A, Aw, B, C, D, A-gcn, .*, H, I, S\."):
        select(["A", "Z"])


def test_every_workload_but_its_shrunk_version_has_a_target():
    for workload in WORKLOADS:
        assert workload.targets != NO_TARGETS
        assert workload.quick().targets == NO_TARGETS
        assert workload.quick().name == workload.name


@pytest.mark.parametrize("workload", WORKLOADS, ids=lambda workload: workload.title)
def test_ours_and_plain_agree(workload):
    with use_threads(1):
        row = compare(workload.quick(), repeats=1)
    assert set(row["seconds"]) == set(workload.implementations)
    trains = getattr(workload, "train", isinstance(workload, AttentionWork | StackWork))
    expected = {"output", "gradient"} if trains else {"output"}
    compared = "plain" in workload.implementations and not isinstance(workload, Batching)
    assert set(row["errors"]) == (expected if compared else set())
    assert all(error < 1e-3 for error in row["errors"].values())  # single precision through a deep recurrence
    assert 1 < row.get("clusters", 2) < row["nodes"] < row["edges"]

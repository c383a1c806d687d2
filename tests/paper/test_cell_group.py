import pytest

from ghr.paper.cell_group import CellGroup, CellRow, Column
from ghr.paper.row import AS_TRAINED, Loops
from ghr.paper.runs import RowRun
from tiny_rows import DEEP_ROW, GHR_ROW, SETUP, pretend


class Ask:
    """A test that tells with which loops it was asked."""

    name = "ask"

    def evaluate(self, model, data, loops):
        raise AssertionError("what is kept is not computed again")


def test_a_column_reads_what_the_run_found_with_the_loops_out_of_range(tmp_path):
    with_loops, without = RowRun(GHR_ROW, 3, tmp_path), RowRun(DEEP_ROW, 3, tmp_path)
    pretend(with_loops, 1.0)
    pretend(without, 1.0)
    column = Column("6-8 hops", "out_of_range", target=0.02)
    assert column.header == "6-8 hops (target: at most 0.02)"
    assert Column("in range", "in_range").header == "in range"
    assert column.read(without, GHR_ROW.far_loops, tmp_path) == pytest.approx(0.8)
    assert column.read(with_loops, GHR_ROW.far_loops, tmp_path) == pytest.approx(1.6), "twice it with other loops"


def test_a_column_of_other_graphs_reads_what_its_test_found_with_the_loops_there(tmp_path):
    run = RowRun(GHR_ROW, 3, tmp_path)
    pretend(run, 1.0)
    (run.path / "tests.json").write_text('{"ask; steps=2": {"far": 0.5, "near": null}, "ask; as trained": {"far": 3}}')
    assert Column("far", "far", Ask()).read(run, Loops(steps=2), tmp_path) == 0.5
    assert Column("far", "far", Ask()).read(run, AS_TRAINED, tmp_path) == 3.0
    assert Column("near", "near", Ask()).read(run, Loops(steps=2), tmp_path) is None
    assert Column("far", "far", Ask()).read(run, Loops(steps=5), tmp_path) is None, "nor where weights are lost"


def test_a_run_that_is_not_finished_has_no_number(tmp_path):
    assert Column("in range", "in_range").read(RowRun(GHR_ROW, 3, tmp_path), AS_TRAINED, tmp_path) is None


def test_rows_are_tested_far_as_trained_unless_they_say_otherwise():
    row = CellRow("cell", "GHR", SETUP, "ghr-select")
    assert row.far == AS_TRAINED
    assert row.name == "tiny/ghr-select"
    assert CellGroup("A group", "How.", (row,), ()).digits == 4

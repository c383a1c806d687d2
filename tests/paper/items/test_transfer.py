import math
from dataclasses import replace

import pytest

from ghr import datasets
from ghr.datasets.lrim import SIGMAS
from ghr.paper.cell_tests import Lattices
from ghr.paper.extension import TEST_SEED
from ghr.paper.item import Place
from ghr.paper.items.equal import EqualTable
from ghr.paper.items.transfer import Transfer, _oracle
from ghr.paper.ranges import RangeTest
from ghr.paper.runs import list_runs, work_on
from ghr.paper.systems import LRIM_SYSTEMS
from tiny_columns import LRIM, SYSTEMS


def test_transfer_asks_only_what_a_system_can_answer(tiny_place):
    report = Transfer(systems=SYSTEMS, column=LRIM, larger=(*LRIM.tests, *LRIM.far_tests)).report(tiny_place)
    rows = {row["system"]: row["errors"] for row in report.record["rows"]}
    assert rows["ghr"] == {16: None, 32: None, 64: None}
    assert rows["gcn"][32] is not None
    assert rows["gcn"][64] is None
    assert rows["constant"][64] is not None
    assert rows["oracle-15"][64] > rows["oracle-15"][32]
    assert rows["oracle-15"][32] < rows["oracle-8"][32]


def test_a_kernel_that_is_exact_sees_no_farther_than_half_the_trained_side(tiny_place):
    kernel = next(system for system in LRIM_SYSTEMS if system.key == "torus-kernel")
    column = replace(LRIM, epochs={kernel.key: 1}, tests=(*LRIM.tests, RangeTest("lrim-16-hard", graphs=2)))
    assert work_on(list_runs(column.rows((kernel,)), tiny_place.runs), tiny_place.data, quiet=True) == []
    report = Transfer(systems=(kernel,), column=column, larger=LRIM.tests).report(tiny_place)
    rows = {row["system"]: row["errors"] for row in report.record["rows"]}
    assert rows["torus-kernel"][16] < -10
    assert rows["oracle-15"][32] < rows["torus-kernel"][32] < rows["oracle-8"][32]
    assert "two floors" in report.text
    text = EqualTable("table-tiny", "Tiny", "Tiny graphs.", (kernel,), (column,)).report(tiny_place).text
    assert "| 45 | 1 |" in text
    assert f"- {kernel.title}: knows the lattice and the form of the answer" in text


def test_without_runs_there_is_no_oracle(tmp_path):
    table = Transfer(systems=SYSTEMS, column=LRIM, larger=LRIM.tests)
    report = table.report(Place(tmp_path / "runs", tmp_path / "data"))
    assert [row["system"] for row in report.record["rows"]] == ["ghr", "gcn", "constant"]
    assert report.text.count("| not run |") == 3
    assert [row.name for row in table.rows] == ["equal/lrim-16-hard/gcn", "equal/lrim-16-hard/constant"]


@pytest.mark.parametrize("hops", [2, 5])
def test_an_oracle_misses_what_lies_farther_than_it_sees(tmp_path, hops):
    side, sigma = 16, SIGMAS["hard"]
    graphs = datasets.LRIM(tmp_path, side, sigma, "test", num_graphs=1, seed=TEST_SEED)
    spins = graphs[0].x.view(-1).tolist()
    squares = []
    for i, own in enumerate(spins):
        missed = 0.0
        for j, other in enumerate(spins):
            down, right = (min(d % side, -d % side) for d in (i // side - j // side, i % side - j % side))
            if down + right > hops:
                missed += own * other * (down**2 + right**2) ** (-(2 + sigma) / 2)
        squares.append(missed**2)
    expected = math.log10(sum(squares) / len(squares))
    assert _oracle(Lattices(side, 1), hops, Place(tmp_path / "runs", tmp_path)) == pytest.approx(expected)

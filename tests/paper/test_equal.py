from dataclasses import replace

from ghr.paper.equal import LONG_SEEDS, SEED
from tiny_columns import ECHO, LRIM, SYSTEMS, TRAINING

GHR, GCN, CONSTANT = SYSTEMS


def test_a_system_is_trained_as_its_column_says_unless_it_has_a_recipe():
    train = ECHO.row(GCN).experiment(SEED).train
    assert (train.batch_size, train.lr, train.epochs) == (TRAINING["batch_size"], TRAINING["lr"], 2)
    assert ECHO.row(CONSTANT).experiment(SEED).train.lr == 0.1


def test_a_column_may_change_a_system():
    special = replace(GCN, by_column={"echo-sssp": {"layers": 3}})
    assert ECHO.row(special).experiment().options["layers"] == 3
    assert LRIM.row(special).experiment().options["layers"] == 1


def test_a_system_without_epochs_is_no_row_of_a_column():
    assert LRIM.row(GHR) is None
    assert ECHO.long_row(GHR) is None
    assert ECHO.long_row(GCN).experiment().train.epochs == 3
    assert [row.name for row in ECHO.rows(SYSTEMS)] == [
        "equal/echo-sssp/ghr",
        "equal/echo-sssp/gcn",
        "equal/echo-sssp/constant",
        "longer/echo-sssp/gcn",
    ]
    assert [row.setup.seeds for row in ECHO.rows(SYSTEMS)] == [(SEED,)] * 3 + [LONG_SEEDS]


def test_far_tests_are_for_those_that_can_answer():
    assert len(LRIM.row(GCN).tests) == 1
    assert len(LRIM.row(CONSTANT).tests) == 2

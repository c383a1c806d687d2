from dataclasses import replace

import pytest

from ghr.paper.equal import LONG_SEEDS, SEED
from ghr.paper.lrgb import LRGB_COLUMNS, LRGB_SYSTEMS
from ghr.paper.systems import (
    ECHO_CHEM_COLUMNS,
    ECHO_COLUMNS,
    ECHO_SYSTEMS,
    LRIM_COLUMNS,
    LRIM_SYSTEMS,
    TRANSFER_PUBLISHED,
)
from tiny_columns import ECHO, LRIM, SYSTEMS, TRAINING

GHR, GCN, CONSTANT = SYSTEMS
TABLES = [
    ((*ECHO_COLUMNS, *ECHO_CHEM_COLUMNS), ECHO_SYSTEMS),
    (LRIM_COLUMNS, LRIM_SYSTEMS),
    (LRGB_COLUMNS, LRGB_SYSTEMS),
]


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


@pytest.mark.parametrize(("columns", "systems"), TABLES, ids=["echo", "lrim", "lrgb"])
def test_all_rows_can_be_built_and_all_published_numbers_belong_to_a_system(columns, systems):
    keys = {system.key for system in systems}
    for column in columns:
        assert {*column.published} <= keys
        assert {*column.epochs} <= keys
        for row in column.rows(systems):
            row.experiment(SEED)  # refuses what no option is named
    assert len(keys) == len(systems)


@pytest.mark.parametrize("column", LRIM_COLUMNS, ids=lambda column: column.key)
def test_two_floors_know_the_lattice(column):
    floors = [system for system in LRIM_SYSTEMS if system.note.startswith("knows the lattice")]
    assert [system.key for system in floors] == ["torus-kernel", "lattice-unet"]
    assert {system.family for system in floors} == {"floor"}
    kernel, unet = (column.row(system) for system in floors)
    assert kernel.experiment(SEED).train.epochs == 1
    assert unet.experiment(SEED).train.lr == column.training["lr"]
    assert unet.experiment(SEED).options["budget"] == 50_000
    assert kernel.tests == unet.tests == (*column.tests, *column.far_tests)


def test_published_numbers_are_those_of_the_paper():
    assert ECHO_COLUMNS[0].published["swan"] == "0.896"
    assert ECHO_COLUMNS[2].published["ghr-gine"] == "0.746"
    assert [column.published["ghr-gated-gine"] for column in ECHO_CHEM_COLUMNS] == ["6.819", "6.040"]
    assert ECHO_CHEM_COLUMNS[1].published["gps"] == "5.257"
    assert LRGB_COLUMNS[0].published["graph-vit"] == "0.2449"
    assert LRIM_COLUMNS[1].published["gps-rwse"] == "-4.134"
    assert [TRANSFER_PUBLISHED[name]["ghr-gated-gcn"] for name in TRANSFER_PUBLISHED] == [
        "-1.086",
        "-0.825",
        "-0.771",
        "-1.073",
    ]


@pytest.mark.parametrize("column", ECHO_CHEM_COLUMNS, ids=["charge", "energy"])
def test_on_molecules_ghr_has_the_loops_of_the_paper(column):
    for system in ECHO_SYSTEMS[:3]:
        experiment = column.row(system).experiment(SEED)
        entry = experiment.entry
        options = {**experiment.suggested, **entry.options, **experiment.options}
        assert [options[name] for name in ("steps", "t_high", "t_low", "pool")] == [4, 1, 3, "sum"]
        assert options["readout"] == {"echo-charge": "node-mlp", "echo-energy": "graph-mlp"}[column.key]
        assert options.get("levels", 2) == 2


def test_what_cannot_be_compared_is_said():
    assert all("cannot be compared" in column.caution for column in (*ECHO_CHEM_COLUMNS, *LRGB_COLUMNS))
    assert not any(column.caution for column in (*ECHO_COLUMNS, *LRIM_COLUMNS))

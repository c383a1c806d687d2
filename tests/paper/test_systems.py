import pytest

from ghr.paper.equal import SEED
from ghr.paper.systems import (
    ECHO_CHEM_COLUMNS,
    ECHO_COLUMNS,
    ECHO_SYSTEMS,
    LARGER,
    LRIM_COLUMNS,
    LRIM_SYSTEMS,
    TRANSFER_PUBLISHED,
)

TABLES = [((*ECHO_COLUMNS, *ECHO_CHEM_COLUMNS), ECHO_SYSTEMS), (LRIM_COLUMNS, LRIM_SYSTEMS)]


@pytest.mark.parametrize(("columns", "systems"), TABLES, ids=["echo", "lrim"])
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
    assert all("cannot be compared" in column.caution for column in ECHO_CHEM_COLUMNS)
    assert not any(column.caution for column in (*ECHO_COLUMNS, *LRIM_COLUMNS))


def test_larger_lattices_are_asked_on_side_16_alone_and_the_largest_not_of_attention():
    small, large = LRIM_COLUMNS
    assert (*small.tests[:2], *small.far_tests) == LARGER
    assert large.far_tests == ()
    assert {*TRANSFER_PUBLISHED} == {32, 64, 128, 256}
    attending = [system for system in LRIM_SYSTEMS if not system.far]
    assert {system.family for system in attending} == {"GPS"}
    for system in attending:
        assert small.row(system).tests == small.tests

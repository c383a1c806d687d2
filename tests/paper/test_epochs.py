import pytest

from ghr.paper.epochs import EPOCHS, LONG
from ghr.paper.lrgb import LRGB_COLUMNS, LRGB_SYSTEMS
from ghr.paper.systems import ECHO_CHEM_COLUMNS, ECHO_COLUMNS, ECHO_SYSTEMS, LRIM_COLUMNS, LRIM_SYSTEMS

SYSTEMS = {
    **{column.key: ECHO_SYSTEMS for column in (*ECHO_COLUMNS, *ECHO_CHEM_COLUMNS)},
    **{column.key: LRIM_SYSTEMS for column in LRIM_COLUMNS},
    **{column.key: LRGB_SYSTEMS for column in LRGB_COLUMNS},
}


@pytest.mark.parametrize("key", SYSTEMS)
def test_every_system_of_a_column_has_epochs(key):
    assert {*EPOCHS[key]} == {system.key for system in SYSTEMS[key]}
    assert all(1 <= epochs <= 1500 for epochs in EPOCHS[key].values())


def test_there_are_no_others():
    assert {*EPOCHS} == {*SYSTEMS}


def test_what_is_also_trained_for_longer_is_trained_for_longer():
    for key, longer in LONG.items():
        for system, epochs in longer.items():
            assert epochs > EPOCHS[key][system]

import pytest

from ghr.models.coarsening import COARSENING
from ghr.models.ghr_options import complete_options, suggested_names
from ghr.models.values import SMALLEST

STATES = ("hidden_channels", "conv", "steps", "t_low", "readout", "time_informed", "checkpoint")
LOOPS = ("t_high", "pool")


@pytest.mark.parametrize(
    ("options", "names"),
    [
        ({}, (*STATES, *LOOPS, *COARSENING)),
        ({"levels": 3}, (*STATES, *LOOPS, *COARSENING)),
        ({"levels": 1}, STATES),
        ({"partition": "grid"}, (*STATES, *LOOPS)),
        ({"coarsen": {"rounds": 1}}, (*STATES, *LOOPS)),
        ({"coarsen": None}, (*STATES, *LOOPS, *COARSENING)),
        ({"values": "select"}, ("steps", "t_low", "checkpoint", *COARSENING)),
        ({"values": "select", "levels": 1}, ("steps", "t_low", "checkpoint")),
        ({"values": "sum"}, ("checkpoint", *COARSENING)),
        ({"values": "sum", "partition": "grid"}, ("checkpoint",)),
    ],
)
def test_a_benchmark_suggests_what_suits_the_model(options, names):
    assert suggested_names(options) == names


def test_carried_values_have_edges_of_their_own():
    names = suggested_names({"values": "select", "value_carry": True})
    assert {*COARSENING} - {*names} == {"edge_reduce"}


@pytest.mark.parametrize("levels", ["1", True, 1.0, None])
def test_odd_levels_are_left_to_the_check_behind(levels):
    assert isinstance(suggested_names({"levels": levels}), tuple)


@pytest.mark.parametrize(
    ("options", "added"),
    [
        ({"values": "sum", "partition": "grid"}, {"directions": True, "until": SMALLEST}),
        ({"values": "sum", "partition": "grid", "block": 2}, {"directions": True, "until": SMALLEST}),
        ({"values": "sum", "partition": "grid", "levels": 3}, {"directions": True}),
        ({"values": "sum", "partition": "grid", "until": 4}, {"directions": True}),
        ({"values": "sum", "partition": "grid", "directions": False}, {"until": SMALLEST}),
        ({"values": "sum", "partition": "grid", "block": 3}, {}),
        ({"values": "sum"}, {}),
        ({"values": "select", "partition": "grid"}, {}),
        ({"value_carry": True}, {"edge_reduce": "centre_paths"}),
        ({"value_carry": True, "edge_reduce": "min"}, {}),
        ({"value_carry": True, "levels": 1}, {}),
        ({"value_carry": True, "coarsen": {}}, {}),
        ({"value_carry": "yes"}, {}),
    ],
)
def test_values_suggest_how_to_coarsen_and_what_is_given_stays(options, added):
    before = dict(options)
    assert complete_options(options) == {**options, **added}
    assert options == before

import pytest
from numpy import int64

from ghr import Coarsen, Graclus
from ghr.models.scale_law import ScaleLaw
from ghr.models.values import SMALLEST, CarryValues, SelectValues, SumValues, ValueOptions

USUAL = {
    "values": None,
    "value_channels": 8,
    "value_gate": "node",
    "value_reach": 3,
    "value_carry": False,
    "directions": False,
    "scale_law": 0.0,
    "value_sharpness": 6.0,
}


def options(**given):
    return ValueOptions(**{**USUAL, **given})


def make(edge_dims=(1, 1), control=0, levels=2, **given):
    return options(**given).make(2, 4, edge_dims, control=control, levels=levels)


def test_numbers_come_back_as_those_of_python():
    found = vars(options(value_channels=int64(3), value_reach=int64(2), scale_law=1, value_sharpness=2))
    assert found == {**USUAL, "value_channels": 3, "value_reach": 2, "scale_law": 1.0, "value_sharpness": 2.0}
    assert [type(found[name]) for name in ("value_channels", "value_reach")] == [int, int]


def test_the_kinds_of_values():
    assert make() is None
    assert isinstance(make(values="select"), SelectValues)
    assert isinstance(make(values="select", value_carry=True), CarryValues)
    assert isinstance(make(values="sum"), SumValues)
    assert make(values="select", value_gate="graph").gate == "graph"
    carried = make(edge_dims=(None, 1), values="select", value_carry=True, value_reach=32)
    assert (carried.lengths, carried.reach, carried.channels) == (False, 32, 8)
    assert make(values="select", value_carry=True).lengths
    assert make(values="sum", directions=True).cell.directions


@pytest.mark.parametrize(
    ("given", "sentence"),
    [
        ({"value_reach": 17}, "value_reach must be a whole number of at most 16"),
        ({"value_carry": True}, "value_carry is for values that are chosen"),
        ({"values": "sum", "value_carry": True}, "value_carry is for values that are chosen"),
        ({"directions": 1}, "directions must be True or False; got 1"),
        ({"value_carry": None}, "value_carry must be True or False"),
        ({"value_channels": 2.5}, "value_channels must be a whole number"),
    ],
)
def test_options_are_checked_one_by_one(given, sentence):
    with pytest.raises(ValueError, match=sentence):
        options(**given)


def test_carried_values_may_reach_far():
    assert options(values="select", value_carry=True, value_reach=100).value_reach == 100


@pytest.mark.parametrize(
    ("given", "model", "sentence"),
    [
        ({"directions": True}, {}, "directions are for values that are added up, values='sum'"),
        ({"values": "select", "directions": True}, {}, "leave it out with values='select'"),
        ({"values": "select", "value_gate": "graph"}, {"control": 4}, "value_gate='graph' is for values without"),
        ({"values": "select", "value_carry": True}, {"levels": 1}, "from a coarse level; got levels=1"),
        ({"values": "select", "value_carry": True}, {"control": 4}, "without control and with value_gate='node'"),
        ({"values": "select", "value_carry": True, "value_gate": "graph"}, {}, "with value_gate='node'"),
        ({"values": "select", "value_carry": True}, {"edge_dims": (2, 1)}, "got widths 2, 1"),
        ({"values": "select", "value_carry": True}, {"edge_dims": (1, None)}, "got widths 1, 0"),
    ],
)
def test_options_that_do_not_suit_the_model_are_sentences(given, model, sentence):
    with pytest.raises(ValueError, match=sentence):
        make(**model, **given)


def test_the_law_of_scale_is_for_lattices():
    assert options().make_scale_law() is None
    assert options(values="sum", directions=True).make_scale_law() is None
    assert isinstance(options(values="sum", directions=True, scale_law=0.5).make_scale_law(), ScaleLaw)
    with pytest.raises(ValueError, match="scale_law is for lattices"):
        options(values="sum", scale_law=0.5).make_scale_law()


def test_values_say_how_to_coarsen_only_where_nobody_else_does():
    own, plain = Coarsen(Graclus(rounds=1)), options(values="select")
    carry = options(values="select", value_carry=True)
    places = options(values="sum", directions=True)
    for asked in (plain, carry, places):
        assert asked.choose_coarsen(own, 2) is own
        assert asked.choose_coarsen(None, 1) is None
        assert asked.choose_coarsen({"rounds": 1}, 2) == {"rounds": 1}
    assert plain.choose_coarsen(None, 3) is None
    assert carry.choose_coarsen(None, 3) == {"edge_reduce": "centre_paths", "levels": 2}
    assert places.choose_coarsen(None, 3) == {"partition": "grid", "until": SMALLEST}

import pytest

from ghr.models.values import CarryValues, SelectValues, SumValues, make_value_readout
from ghr.nn import NodeReadout
from ghr.nn.readout import BilinearReadout, EdgeReadout, GraphReadout, MixtureReadout
from ghr.nn.values import SumCell

SUM = SumValues(SumCell(2, 3, reach=1, directions=False), 2, (None,))
CARRY = CarryValues(2, 3, 4, lengths=True, reach=1)


def select(gate="node"):
    return SelectValues(2, 3, 4, (1,), control=0, gate=gate, levels=1)


@pytest.mark.parametrize("level", ["node", "graph", "edge"])
def test_short_names_read_values_alone(level):
    summed = make_value_readout(SUM, level, 5, 2, None)
    assert isinstance(summed, BilinearReadout)
    assert (summed.level, summed.out_channels, summed.map.in_features) == (level, 2, 2)
    for values in (select(), CARRY, select("graph")):
        chosen = make_value_readout(values, level, 5, 2, None)
        assert isinstance(chosen, MixtureReadout)
        assert (chosen.level, chosen.out_channels) == (level, 2)


def test_only_sweeps_lean_towards_the_largest_channel():
    leans = [make_value_readout(values, "node", 0, 1, None).lean for values in (select("graph"), select(), CARRY)]
    assert [lean is not None for lean in leans] == [True, False, False]


@pytest.mark.parametrize(
    ("name", "kind", "width"),
    [("node-mlp", NodeReadout, 5 + 3), ("graph-mlp", GraphReadout, None), ("edge-mlp", EdgeReadout, None)],
)
def test_names_with_mlp_read_values_and_control(name, kind, width):
    readout = make_value_readout(select(), name, 5, 2, None)
    assert isinstance(readout, kind)
    assert readout.channels == 5 + 3
    assert width is None or readout.mlp[0].in_features == width


def test_a_readout_of_ones_own_stays_and_an_unknown_name_is_a_sentence():
    own = NodeReadout(8, 2)
    assert make_value_readout(select(), own, 5, 2, None) is own
    with pytest.raises(ValueError, match="Unknown readout 'cloud'"):
        make_value_readout(select(), "cloud", 5, 2, None)

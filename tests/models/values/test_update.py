import pytest
import torch

from cases import hierarchy, randomise
from ghr import GHR
from ghr.models.cell import LevelState
from ghr.models.values.update import Reading, ValueState, ValueUpdate
from ghr.nn.values import Holder

DATA = hierarchy(8, 12)


@pytest.fixture
def parts():
    model = randomise(GHR(2, 6, 1, edge_dim=3))
    encoded = model.encode(DATA)
    states = [
        LevelState(torch.randn(level.num_nodes, 6, generator=torch.Generator().manual_seed(k)).double(), edges)
        for k, (level, edges) in enumerate(zip(encoded.levels, encoded.edges, strict=True))
    ]
    return [model._update_of(k, encoded) for k in range(2)], states


def hold(level, state):
    return ValueState(Holder(torch.ones(DATA.levels[level].num_nodes, 3), None), state)


def test_values_come_with_what_the_control_reads(parts):
    (low, high), states = parts
    above, below = hold(1, states[1]), hold(0, states[0])
    read = ValueUpdate(low).read_above(above)
    assert read.held is above.held
    torch.testing.assert_close(read.control, low.read_above(states[1]))
    read = ValueUpdate(high).read_below(below)
    assert read.held is below.held
    torch.testing.assert_close(read.control, high.read_below(states[0]))


@pytest.mark.parametrize("controlled", [False, True])
def test_without_control_on_either_side_there_is_nothing_to_read(parts, controlled):
    (low, _), states = parts
    control, state = (low, None) if controlled else (None, states[1])
    update = ValueUpdate(control)
    for read in (update.read_above(hold(1, state)), update.read_below(hold(0, state))):
        assert read.control is None


def test_the_graph_itself_is_updated_so_often_and_reads_nothing_below():
    class Count(ValueUpdate):
        def update(self, state, above, below, outer=1):
            assert (above, below, outer) == ("above", None, 3)
            return state._replace(held=Holder(state.held.value + 1, None))

    done = Count(None).repeat(hold(0, None), "above", 4, 3)
    assert torch.equal(done.held.value, torch.full((8, 3), 5.0))
    with pytest.raises(NotImplementedError):
        ValueUpdate(None).update(done, None, None)


def test_a_control_is_updated_as_in_the_paper_and_normalised(parts):
    (low, high), states = parts
    nothing = hold(0, None).held
    from_above, from_below = low.read_above(states[1]), high.read_below(states[0])
    fine, normal = ValueUpdate(low)._update_control(states[0], Reading(nothing, from_above), None, 1)
    torch.testing.assert_close(fine.state, low.repeat(states[0], from_above, 1, 1).state)
    torch.testing.assert_close(normal, low.cell.norm(fine.state))
    coarse, normal = ValueUpdate(high)._update_control(states[1], None, Reading(nothing, from_below), 1)
    torch.testing.assert_close(coarse.state, high.update(states[1], None, from_below).state)
    torch.testing.assert_close(normal, high.cell.norm(coarse.state))
    assert ValueUpdate(None)._update_control(states[0], None, None, 1) == (None, None)
    assert ValueUpdate(low)._update_control(None, None, None, 1) == (None, None)

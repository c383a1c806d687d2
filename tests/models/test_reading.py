import pytest
import torch

from ghr.hierarchy.data import levels_of
from ghr.models.reading import read_out
from ghr.models.state import Encoded, Shown, State
from ghr.nn.readout import make_readout
from ghr.testing import random_graph


@pytest.mark.parametrize("name", ["node", "node-mlp", "graph", "edge"])
@pytest.mark.parametrize("width", [0, 3])
def test_predictions_do_not_depend_on_the_order_of_computing(name, width):
    torch.manual_seed(0)
    graph = random_graph(9, 14, in_channels=2)
    (finest,) = levels_of(graph)
    state, values = torch.randn(9, 4), torch.randn(9, width)
    readout = make_readout(name, 4 + width, 2, None)

    def read(order, shown):
        parts = (values[order],) if width else ()
        encoded = Encoded((finest,), None, (), (), None, 1, {}, graph.x[order], shown=shown)
        return read_out(readout, encoded, State((state[order],), parts))

    as_given = read(torch.arange(9), None)
    order = torch.randperm(9)
    shown = Shown(order.argsort(), finest, graph.x)
    torch.testing.assert_close(read(order, shown), as_given)
    if name != "graph":
        assert not torch.allclose(read(order, None), as_given)


def test_values_and_input_reach_the_readout():
    graph = random_graph(5, 6, in_channels=2)
    encoded = Encoded(levels_of(graph), None, (), (), None, 1, {}, graph.x)
    state = State((torch.randn(5, 3),), (torch.randn(5, 2),))
    given = read_out(lambda given: given, encoded, state)
    assert torch.equal(given.state, torch.cat([state.low, state.values[0]], dim=1))
    assert given.values is state.values[0]
    assert given.x is graph.x

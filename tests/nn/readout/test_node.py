import pytest
import torch

import reference
from cases import randomise, relative_error
from ghr import GHR, memory
from ghr.nn import EdgeReadout, GraphReadout, NodeReadout, ProportionalReadout
from ghr.nn.readout import READOUTS, Readout, ReadoutInput, make_readout, readout_name


def made_up(num_nodes=5, channels=4):
    return ReadoutInput(
        state=torch.randn(num_nodes, channels, dtype=torch.double),
        batch=torch.zeros(num_nodes, dtype=torch.long),
        num_graphs=1,
        edge_index=torch.tensor([[0, 1], [1, 0]]),
        edge_attr=None,
    )


@pytest.mark.parametrize("layers", [1, 2])
def test_equals_the_loops(layers):
    readout = randomise(NodeReadout(4, 3, layers=layers))
    given = made_up()
    weights = reference.read_weights(readout)
    expected = reference.read_out(weights, "node", reference.read_rows(given.state), [], [0] * 5, 1)
    assert relative_error(readout(given), expected) <= 1e-12
    assert repr(readout) == f"NodeReadout(out_channels=3, layers={layers})"


def test_two_layers_are_as_wide_as_the_state():
    readout = NodeReadout(4, 1, layers=2)
    assert [tuple(value.shape) for value in readout.state_dict().values()] == [(4, 4), (4,), (1, 4), (1,)]


def test_reset_parameters_draws_anew():
    readout = NodeReadout(4, 3)
    before = readout.mlp[0].weight.clone()
    readout.reset_parameters()
    assert not torch.equal(readout.mlp[0].weight, before)


@pytest.mark.parametrize("name", [f"{kind}{suffix}" for kind in READOUTS for suffix in ("", "-mlp")])
def test_shorthand_goes_there_and_back(name):
    readout = make_readout(name, 4, 2, 3)
    assert type(readout) is READOUTS[name.removesuffix("-mlp")]
    assert readout.layers == (2 if name.endswith("-mlp") else 1)
    assert readout_name(readout, 3) == name


@pytest.mark.parametrize("name", ["nodes", "node-linear", "", "mlp"])
def test_unknown_shorthand_is_refused(name):
    known = "node, node-mlp, graph, graph-mlp, edge, edge-mlp"
    with pytest.raises(ValueError, match=f"Unknown readout '{name}'; known are {known}"):
        make_readout(name, 4, 2, None)


def test_a_readout_of_ones_own_has_no_shorthand():
    class First(Readout):
        def rows(self, given):
            return given.state[:1]

    readout = First(4, 4, 2, 1).double()
    assert readout(made_up()).shape == (1, 2)
    assert readout_name(readout, None) is None


def test_a_readout_object_must_be_as_wide_as_the_prediction():
    readout = NodeReadout(4, 2)
    assert make_readout(readout, 4, 2, None) is readout
    with pytest.raises(ValueError, match="The readout predicts 2 columns, but out_channels is 3"):
        make_readout(readout, 4, 3, None)


@pytest.mark.parametrize("kind", [NodeReadout, GraphReadout, EdgeReadout, ProportionalReadout])
@pytest.mark.parametrize("value", [0, 2.5, "4", None, [4], True, 2**31, torch.tensor(4)])
def test_widths_are_whole_numbers(kind, value):
    for name in ("channels", "out_channels"):
        with pytest.raises(ValueError, match=f"^{name} must be a whole number"):
            kind(**{"channels": 4, "out_channels": 1, name: value})


@pytest.mark.parametrize("kind", [NodeReadout, GraphReadout, EdgeReadout, ProportionalReadout])
def test_widths_beyond_the_memory_are_refused(kind, monkeypatch):
    monkeypatch.setattr(memory, "physical_memory", lambda: 2**30)
    with pytest.raises(ValueError, match="A map of out_channels=1073741824 to 4 channels needs 16 GiB"):
        kind(4, 2**30)


@pytest.mark.parametrize("kind", [NodeReadout, GraphReadout, EdgeReadout, ProportionalReadout])
def test_a_readout_object_must_read_states_of_the_model_s_width(kind):
    with pytest.raises(ValueError, match="The readout reads states of 5 channels, but the model has 4 hidden channels"):
        GHR(2, 4, 1, readout=kind(5, 1))

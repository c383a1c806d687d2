import pytest
import torch

from ghr.analysis.follow import Pass
from ghr.analysis.measures import make_measure
from ghr.nn.readout import ReadoutInput

N, D, C = 5, 2, 3


def leaf(seed, *shape):
    value = torch.randn(*shape, generator=torch.Generator().manual_seed(seed), dtype=torch.double)
    return value.requires_grad_()


@pytest.fixture
def done():
    r"""A pass :math:`h = \tanh(A x W)`, :math:`y_r = \sum_v B_{rv} h_v \odot h_v M`, so that all derivatives differ."""
    x, shapes = leaf(0, N, D), ((N, N), (D, 4), (N, N), (4, C))
    mix, weight, read, maps = (leaf(seed, *shape).detach() for seed, shape in enumerate(shapes, start=1))
    state = torch.tanh(mix @ x @ weight)
    prediction = read @ state.square() @ maps
    given = ReadoutInput(state, torch.zeros(N).long(), 1, torch.zeros(2, 0).long(), None)
    return Pass(prediction, [x], given)


def jacobian(of, by):
    """Return all derivatives, one by one: (rows, columns, nodes, channels)."""
    rows = [
        [torch.autograd.grad(of[r, c], by, retain_graph=True, create_graph=True)[0] for c in range(of.size(1))]
        for r in range(of.size(0))
    ]
    return torch.stack([torch.stack(row) for row in rows])


@pytest.mark.parametrize("row", range(N))
def test_by_the_jacobian_of_the_prediction(done, row):
    expected = jacobian(done.prediction, done.leaves[0])[row].abs().sum(dim=(0, 2))
    torch.testing.assert_close(make_measure(done, N, "jacobian")(torch.tensor([row])), expected)


@pytest.mark.parametrize("row", range(N))
def test_through_the_states_that_are_read(done, row):
    slopes = [torch.autograd.grad(column, done.read.state, retain_graph=True)[0] for column in done.prediction.sum(0)]
    states = jacobian(done.read.state, done.leaves[0])[row]
    expected = sum(torch.einsum("k,knd->nd", slope[row], states).abs().sum(dim=1) for slope in slopes)
    torch.testing.assert_close(make_measure(done, N, "readout")(torch.tensor([row])), expected)


@pytest.mark.parametrize("row", range(N))
def test_by_the_second_derivative(done, row):
    x = done.leaves[0]
    expected = torch.zeros(N, dtype=torch.double)
    for column in done.prediction.sum(dim=0):
        (slope,) = torch.autograd.grad(column, x, create_graph=True, retain_graph=True)
        for channel in range(D):
            (bend,) = torch.autograd.grad(slope[row, channel], x, retain_graph=True)
            expected += bend.abs().sum(dim=1)
    torch.testing.assert_close(make_measure(done, N, "hessian")(torch.tensor([row])), expected)


def test_rows_of_several_graphs_are_measured_at_once(done):
    measure = make_measure(done, N, "jacobian")
    slopes = jacobian(done.prediction, done.leaves[0])
    expected = (slopes[1] + slopes[4]).abs().sum(dim=(0, 2))
    torch.testing.assert_close(measure(torch.tensor([1, 4])), expected)


def test_where_nothing_is_made_of_the_input_nothing_has_influence(done):
    done.leaves.clear()
    for kind in ("jacobian", "readout", "hessian"):
        assert make_measure(done, 7, kind)(torch.tensor([0])).tolist() == [0.0] * 7


def test_states_that_are_not_read_are_a_sentence(done):
    done.read = None
    with pytest.raises(ValueError, match=r"does not read nodes, .*measure the range through='hessian'"):
        make_measure(done, N, "readout")

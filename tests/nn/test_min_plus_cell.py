import math

import pytest
import torch

from cases import randomise, relative_error
from ghr.nn import EdgeLength, MinPlusCell


def softplus(value):
    return math.log1p(math.exp(value))


def by_loops(cell, arrived, cap, x=None):
    weights = {name: value.tolist() for name, value in cell.state_dict().items()}
    first, last, rows = weights["mix_in.weight"], weights["mix_out.weight"], []
    width = range(cell.channels)
    for i, row in enumerate(arrived.tolist()):
        mean, top = sum(row) / len(row), cap[i, 0].item()
        hidden = [max(0.0, sum(first[c][d] * (row[d] - mean) for d in width)) for c in width]
        new = []
        for c in width:
            value = row[c] + sum(last[c][d] * hidden[d] for d in width)
            if x is not None:
                marks = enumerate(x[i].tolist())
                value -= top * sum(mark * softplus(weights["mark"][m][c]) for m, mark in marks)
            new.append(min(max(value, 0.0), top))
        rows.append(new)
    return rows


@pytest.fixture
def cell():
    torch.manual_seed(0)
    return randomise(MinPlusCell(2, 5), scale=0.5)


def test_equals_the_loops(cell):
    arrived, cap = 3 * torch.rand(9, 5).double(), 1 + 2 * torch.rand(9, 1).double()
    x = torch.rand(9, 2).double() * (torch.rand(9, 2) < 0.3)
    assert relative_error(cell(arrived, cap, cell.injection(x, cap)), by_loops(cell, arrived, cap, x)) <= 1e-12
    assert relative_error(cell(arrived, cap), by_loops(cell, arrived, cap)) <= 1e-12


def test_costs_are_lengths_times_a_positive_rate(cell):
    length = torch.tensor([0.0, 1.0, 2.5]).double()
    expected = [[e * softplus(rate) for rate in cell.rate.tolist()] for e in length.tolist()]
    assert relative_error(cell.cost(length), expected) <= 1e-12
    fresh = MinPlusCell(1, 500).cost(torch.ones(1)).detach()
    assert 0.499 < float(fresh.min()) < 0.55
    assert 1.45 < float(fresh.max()) < 1.501


def test_adding_a_constant_adds_it(cell):
    arrived, cap = 50 + torch.rand(6, 5).double(), torch.full((6, 1), 1e3).double()
    torch.testing.assert_close(cell(arrived + 7, cap), cell(arrived, cap) + 7)


def test_a_marked_node_starts_at_zero_and_others_stay_where_they_are():
    cell = MinPlusCell(1, 4)
    cap = torch.full((2, 1), 30.0)
    state = cell(cap.expand(2, 4), cap, cell.injection(torch.tensor([[1.0], [0.0]]), cap))
    assert state.tolist() == [[0.0] * 4, [30.0] * 4]


def test_the_norm_is_that_of_the_mixing(cell):
    with torch.no_grad():
        for value, parameter in enumerate(cell.parameters(), start=1):
            parameter.fill_(-value)
    names = [name for name, _ in cell.named_parameters()]
    mixing = [names.index(f"{name}.weight") + 1 for name in ("mix_in", "mix_out")]
    assert cell.l1_norm().item() == 25 * sum(mixing)


def test_reset_parameters_draws_anew(cell):
    before = {name: value.clone() for name, value in cell.state_dict().items()}
    cell.reset_parameters()
    assert not any(torch.equal(before[name], value) for name, value in cell.state_dict().items())
    assert repr(cell) == "MinPlusCell(5, in_channels=2)"


def test_learned_lengths_equal_the_loops_and_grow_with_the_features():
    torch.manual_seed(0)
    layer = randomise(EdgeLength(3, channels=4), scale=1.0)
    features = torch.randn(6, 3).double()
    directions, weight = layer.directions.tolist(), layer.weight.tolist()
    expected = [
        [
            sum(
                softplus(w) * max(0.0, sum(u * f for u, f in zip(row, each, strict=True)))
                for w, row in zip(weight, directions, strict=True)
            )
        ]
        for each in features.tolist()
    ]
    assert relative_error(layer(features), expected) <= 1e-12
    assert float(layer(features).min()) >= 0
    torch.testing.assert_close(layer(7 * features), 7 * layer(features))
    assert repr(layer) == "EdgeLength(3, channels=4)"


def test_learned_lengths_start_at_the_magnitude_of_the_features():
    torch.manual_seed(0)
    offsets = torch.nn.functional.normalize(torch.randn(200, 2), dim=1)
    assert 0.5 < float(EdgeLength(2, channels=500)(offsets).mean()) < 2

"""Laws of larger lattices, on fields that keep them and on fields that break them."""

import math

import pytest
import torch
from test_values import lattice, make_lattice_model
from torch_geometric.data import Batch


def power_law(x, exponent):
    """What a field that falls off with a power of the distance is, on a torus."""
    side = x.size(0)
    out = torch.zeros_like(x)
    for a in range(side):
        for b in range(side):
            r = math.hypot(min(a, side - a), min(b, side - b))
            if r > 0:
                out += r**exponent * x.roll((a, b), (0, 1))
    return out


def test_both_laws_see_a_field_that_breaks_them():
    law = make_lattice_model(scale_law=1.0).scale_law
    x, target = torch.randn(4, 8, 8, 1, dtype=torch.double), torch.zeros(4, 8, 8, dtype=torch.double)

    def by_size(given):  # depends on the size of the lattice alone, which no distance does
        return given[..., 0] * given.size(1)

    def local(given):
        return given[..., 0]

    law.exponent.fill_(0.0)
    assert law.compare_patches(local, x, 2, 3) < -11
    assert law.compare_patches(by_size, x, 2, 3) > 0
    assert law.compare_apart(local, x, x[..., 0], 4) < -11
    assert law.compare_apart(local, x, target, 4) > -1


@pytest.mark.parametrize("factor", [2, 4])
def test_a_field_by_a_power_of_the_distance_obeys_the_law(factor):
    x = torch.randn(4, 4, dtype=torch.double)
    apart = torch.zeros(4 * factor, 4 * factor, dtype=torch.double)
    apart[1::factor, ::factor] = x
    torch.testing.assert_close(power_law(apart, -2.6)[1::factor, ::factor], factor**-2.6 * power_law(x, -2.6))


class Field(torch.nn.Module):
    """Falls off with a power of the distance."""

    def forward(self, data):
        side = math.isqrt(data.num_nodes // data.num_graphs)
        return torch.cat([power_law(x, -2.6).reshape(-1, 1) for x in data.x.view(-1, side, side)])


def make_batch(side):
    batch = Batch.from_data_list([lattice(side, seed=seed, levels=1) for seed in range(4)])
    batch.y = Field()(batch)
    return batch


def test_the_penalty_is_the_distance_from_the_law():
    model, batch = make_lattice_model(scale_law=2.0), make_batch(8)
    law = model.scale_law
    law.exponent.fill_(-2.6)
    assert law(Field(), model.prepare, batch).item() < -20
    law.exponent.fill_(-2.0)
    assert law(Field(), model.prepare, batch).item() > -10
    before = law.exponent.item()
    torch.manual_seed(0)
    expected = 2 * law(model, model.prepare, batch)
    torch.manual_seed(0)
    law.exponent.fill_(before)
    assert torch.equal(model.penalty(batch), expected)
    expected.backward()
    assert all(parameter.grad is not None for parameter in model.values.cell.stencils.parameters())
    assert make_lattice_model().penalty(batch) is None


def test_the_exponent_is_read_off_lattices_of_the_side_that_has_targets():
    model, batch = make_lattice_model(scale_law=1.0), make_batch(8)
    law = model.scale_law
    assert law.exponent == -2
    seen = []
    for _ in range(400):
        law.read_exponent(
            lambda x: torch.stack([power_law(image[..., 0], -2.6) for image in x]), batch.x.view(4, 8, 8, 1)
        )
        seen.append(law.exponent.item())
    assert seen == sorted(seen, reverse=True)  # every patch of such a field says the same
    assert seen[-1] == pytest.approx(-2.6, abs=1e-3)


def test_the_exponent_stays_where_nothing_can_be_read():
    law = make_lattice_model(scale_law=1.0).scale_law
    x = torch.randn(4, 8, 8, 1)
    law.read_exponent(lambda given: torch.zeros_like(given[..., 0]), x)
    assert law.exponent == -2


def test_lattices_without_room_for_two_patches_are_refused():
    model = make_lattice_model(scale_law=1.0)
    with pytest.raises(ValueError, match="side 6 or more, got side 4: train without it"):
        model.penalty(make_batch(4))


def test_the_law_is_asked_for_after_the_first_fifth_of_a_training():
    model, batch = make_lattice_model(scale_law=1.0), make_batch(8)
    model.anneal(0.19)
    assert model.penalty(batch) is None
    assert model.scale_law.exponent != -2  # but read from the start
    model.anneal(0.2)
    assert model.penalty(batch) is not None

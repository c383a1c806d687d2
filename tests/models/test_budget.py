import pytest

from ghr import GHR, MODELS, DeepGNN, Entry, Task
from ghr.models.budget import About, find_width
from ghr.testing import random_graph

EXAMPLE = random_graph(6, 9, edge_dim=1)


@pytest.mark.parametrize("budget", [15_000, 500_000])
def test_the_closest_width(budget):
    width = find_width(lambda width: 3 * width**2 + 7, budget)
    errors = {near: abs(3 * near**2 + 7 - budget) for near in range(1, 1000)}
    assert errors[width] == min(errors.values())


def test_a_multiple():
    assert find_width(lambda width: width**2, 15_000, multiple=8) == 120


@pytest.mark.parametrize(
    ("count", "budget"), [(lambda width: 1000 * width, 100), (lambda width: 10 ** (width + 3), 5000)]
)
def test_out_of_reach(count, budget):
    with pytest.raises(ValueError, match=r"within 10 % of a budget of .* give hidden_channels\."):
        find_width(count, budget)


def test_a_budget_that_nobody_asked_for_is_kept_as_well_as_can_be():
    assert find_width(lambda width: 1000 * width, About(100)) == 1


def test_a_model_by_its_budget():
    for build in (GHR, DeepGNN):
        model = build.for_data(EXAMPLE, Task("node"), budget=15_000)
        assert abs(model.num_parameters - 15_000) <= 1500
        assert "budget" not in model.config


def test_budget_or_width():
    with pytest.raises(ValueError, match="Both budget and hidden_channels"):
        GHR.for_data(EXAMPLE, Task("node"), budget=15_000, hidden_channels=8)


def test_who_decides_the_width():
    entry = Entry(DeepGNN, {"layers": 4}, budget=15_000)

    def count(options=None, suggested=None):
        return entry.for_data(EXAMPLE, Task("node"), options or {}, suggested).num_parameters

    assert abs(count() - 15_000) <= 1500
    assert abs(count(suggested={"budget": 60_000}) - 60_000) <= 6000
    assert abs(count({"budget": 30_000}, {"budget": 60_000}) - 30_000) <= 3000
    assert count({"hidden_channels": 8}, {"budget": 60_000}) < 5000


def test_a_budget_in_place_of_the_width_of_a_name():
    model = MODELS["ghr-select"].for_data(EXAMPLE, Task("node"), {"budget": 3000})
    assert abs(model.num_parameters - 3000) <= 300

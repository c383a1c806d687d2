"""The flat recurrence, one layer for all iterations: GHR with a single level."""

import pytest
import torch

from cases import hierarchy, randomise, relative_error
from ghr import GHR, MODELS, Task
from ghr.testing import (
    assert_batch_equals_loop,
    assert_gradients_reach_all_parameters,
    assert_permutation_equivariant,
    path_graph,
)

CONVS = ("gine", "gated_gine")


def flat(conv="gine", edge_dim=3, **options) -> GHR:
    torch.manual_seed(0)
    return randomise(GHR(2, 6, 2, conv=conv, levels=1, edge_dim=edge_dim, **options), scale=0.15)


@pytest.mark.parametrize("conv", ["gine", "gated-gine"])
def test_the_baselines_of_the_paper_differ_in_iterations_alone(conv):
    example = hierarchy(levels=1)
    built = {
        name: MODELS[name].for_data(example, Task("node"), {}) for name in (f"recurrent-{conv}", f"recurrent-gr-{conv}")
    }
    plain, repeated = built.values()
    assert plain.num_parameters == repeated.num_parameters
    assert (plain.levels, plain.steps, plain.t_low) == (1, 1, 20)
    assert (repeated.levels, repeated.steps, repeated.t_low) == (1, 4, 20)
    assert plain.transform is None
    assert plain.loops == ("steps", "t_low")


@pytest.mark.parametrize("conv", CONVS)
def test_two_global_steps_are_twice_the_iterations(conv):
    model, data = flat(conv, steps=1, t_low=3), hierarchy()
    assert relative_error(model(data, steps=2), model(data, t_low=6)) <= 1e-12
    assert relative_error(model(data, steps=1), model(data, t_low=6)) > 1e-3


@pytest.mark.parametrize("conv", CONVS)
def test_laws(conv):
    model = flat(conv, steps=2, t_low=3)
    assert_permutation_equivariant(model, hierarchy(), rtol=1e-10)
    assert_batch_equals_loop(model, [hierarchy(n, n + 2, seed=n) for n in (4, 9, 6)], rtol=1e-10)
    torch.manual_seed(0)
    fresh = GHR(2, 16, 1, conv=conv, levels=1, edge_dim=3, steps=1, t_low=2).double()
    assert_gradients_reach_all_parameters(fresh, hierarchy(12, 18))


@pytest.mark.parametrize(("steps", "t_low"), [(1, 3), (2, 2), (3, 1)])
def test_reaches_exactly_as_many_hops_as_iterations(steps, t_low):
    torch.manual_seed(0)
    model = randomise(GHR(1, 6, 1, conv="adgn", levels=1, steps=steps, t_low=t_low), scale=0.15)
    path = path_graph(10)
    path.x = torch.randn(10, 1).double()

    def predict(x):
        given = path.clone()
        given.x = x
        return model(given)[:, 0]

    support = torch.autograd.functional.jacobian(predict, path.x).abs().sum(dim=2) != 0
    here = torch.arange(10)
    assert torch.equal(support, (here[:, None] - here[None, :]).abs() <= steps * t_low)


def test_without_coarse_levels_there_is_no_t_high():
    model, data = GHR(2, 6, 1, levels=1), hierarchy(levels=1, edge_dim=None)
    data.x = data.x.float()
    with pytest.raises(ValueError, match="t_high is for coarse levels, but there is none; leave out t_high=50"):
        model(data, t_high=50)

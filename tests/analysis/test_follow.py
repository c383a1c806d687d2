import pytest
import torch
from analysis_cases import graph, small

from ghr import GHR, Task
from ghr.analysis.follow import follow

CODES = Task("node", out_channels=2, loss="cross_entropy")


def coded():
    data = graph()
    data.x = torch.arange(24).remainder(3).view(12, 2)
    data.y = torch.zeros(12).long()
    torch.manual_seed(0)
    model = GHR.for_data([data], CODES, hidden_channels=6, steps=1)
    return model, model.prepare(data)


def test_what_is_pulled_back_is_the_sum_of_sizes_over_channels():
    model, data = small("ghr"), graph()
    data.x = torch.rand(12, 1)
    data = model.prepare(data)
    with follow(model, data, {}) as done:
        (leaf,) = done.leaves
        weight = torch.randn(done.prediction.shape)
        found = done.pull_back([done.prediction], [weight])
        expected = torch.zeros(12)
        for row in range(12):
            (slope,) = torch.autograd.grad(done.prediction[row, 0], leaf, retain_graph=True)
            expected += weight[row, 0] * slope[:, 0]
    torch.testing.assert_close(found, expected.abs(), rtol=1e-4, atol=1e-6)
    assert not found.requires_grad


def test_the_prediction_is_that_of_the_model_with_its_loops():
    model = small("ghr")
    data = model.prepare(graph())
    with follow(model, data, {"steps": 3}) as done:
        torch.testing.assert_close(done.prediction, model(data, steps=3))
        assert done.read.state.shape == (12, 8)


def test_it_leaves_the_model_the_graph_and_random_numbers_as_they_were():
    model = small("ghr").train()
    data = model.prepare(graph())
    x, before = data.x, torch.get_rng_state()
    with torch.no_grad(), follow(model, data, {}) as done:
        assert not model.training
        assert done.prediction.requires_grad, "gradients are on, whatever was before"
    assert model.training
    assert data.x is x
    assert not x.requires_grad
    assert torch.equal(torch.get_rng_state(), before)
    assert not model.readout._forward_pre_hooks
    with pytest.raises(RuntimeError, match="stop"), follow(model, data, {}):
        raise RuntimeError("stop")
    assert model.training


def test_random_states_are_the_same_in_every_pass():
    torch.manual_seed(0)
    model = GHR(1, 6, 1, edge_dim=1, initial_state="random")
    data = model.prepare(graph())
    seen = []
    for _ in range(2):
        torch.rand(1)
        with follow(model, data, {}) as done:
            seen.append(done.prediction.detach())
    assert torch.equal(*seen)


def test_codes_are_followed_from_what_their_encoder_makes_of_them():
    model, data = coded()
    with follow(model, data, {}) as done:
        (leaf,) = done.leaves
        assert leaf.requires_grad
        torch.testing.assert_close(leaf.detach(), model.node_encoder(data.x).detach())
        torch.testing.assert_close(done.prediction, model(data))
        assert done.pull_back([done.prediction], [torch.ones_like(done.prediction)]).shape == (12,)
    assert not model.node_encoder._forward_hooks


def test_what_nothing_depends_on_has_no_slope():
    with follow(small("constant"), graph(), {}) as done:
        alone = torch.ones(3)
        assert all(not slope.any() for slope in done.differentiate([alone], [alone]))
        assert done.pull_back([alone], [alone]).shape == (12,)


def test_a_slope_can_be_differentiated_again():
    model = small("mlp").double()
    data = graph()
    data.x = data.x.double()
    with follow(model, data, {}) as done:
        (slope,) = done.differentiate([done.prediction.square()], [torch.ones_like(done.prediction)], again=True)
        (bend,) = torch.autograd.grad(slope[3, 0], done.leaves, allow_unused=True)
    x = data.x.clone()
    sums = []
    for shift in (1e-4, 0.0, -1e-4):
        moved = data.clone()
        moved.x = x.clone()
        moved.x[3] += shift
        with torch.no_grad():
            sums.append(model(moved).square().sum())
    torch.testing.assert_close(bend[3, 0], (sums[0] - 2 * sums[1] + sums[2]) / 1e-8, rtol=1e-2, atol=1e-3)

"""A graph in parts, against the same model on the whole graph; float64."""

import pytest
import torch

from cases import randomise, relative_error
from ghr import GHR, Coarsen, Graclus, MinPlusGHR
from ghr.bench.graphs import geometric_graph
from ghr.hierarchy.parts import Parts
from ghr.models.in_parts import InParts, Share
from ghr.nn.conv import CONVS
from ghr.ops import using

HOPS = 4  # steps * t_high * t_low
CLOSE = 1e-10


def graph(levels=1, size=120):
    data = geometric_graph(size, mean_degree=5)
    generator = torch.Generator().manual_seed(0)
    data.x = torch.randn(size, 2, generator=generator, dtype=torch.double)
    data.edge_attr = torch.rand(data.num_edges, 1, generator=generator, dtype=torch.double)
    data.y = torch.randn(size, 1, generator=generator, dtype=torch.double)
    return Coarsen(Graclus(rounds=2), levels=levels)(data)


def build(conv="gated_gine", **options):
    torch.manual_seed(0)
    given = {"edge_dim": 1, "steps": 2, "t_high": 2, "t_low": 1, **options}
    return randomise(GHR(2, 6, 1, conv=conv, **given), scale=0.05)


def squares(predictions, target):
    return sum(0.8**k * (prediction - target).square().sum() for k, prediction in enumerate(reversed(predictions)))


def gradients(model, loss):
    model.zero_grad()
    loss.backward()
    return {name: value.grad.clone() for name, value in model.named_parameters() if value.grad is not None}


def in_parts(model, data, halo, count=3):
    run = InParts(model, Parts(data, count, halo=halo))
    run.refresh()
    return run


def whole_and_parts(model, data, halo):
    """Return the loss and the gradients of the whole graph, and their sums over parts."""
    loss = squares(model.rollout(data), data.y)
    expected = loss.item(), gradients(model, loss)
    run = in_parts(model, data, halo)
    total = sum(squares(run.rollout(part), data.y[part.nodes[: part.num_own]]) for part in run.parts)
    return expected, (total.item(), gradients(model, total))


@pytest.mark.parametrize("conv", CONVS)
def test_a_halo_as_wide_as_messages_go_makes_losses_exact(conv):
    model, data = build(conv), graph()
    (loss, _), (ours, _) = whole_and_parts(model, data, HOPS + 1)
    assert ours == pytest.approx(loss, rel=CLOSE)
    assert any(len(part.nodes) < data.num_nodes for part in Parts(data, 3, halo=HOPS + 1)), "parts, not copies"


@pytest.mark.parametrize("conv", CONVS)
@pytest.mark.parametrize("backend", ["torch", "numba"])
def test_refresh_predicts_as_the_whole_graph_does_with_any_halo(conv, backend):
    model, data = build(conv), graph()
    with using(backend):
        expected = model(data)
        assert relative_error(in_parts(model, data, 0).refresh(), expected) < CLOSE
        assert relative_error(in_parts(model, data, 0, count=7).refresh(4, read=2, keep=False), expected) < CLOSE


@pytest.mark.parametrize("options", [{}, {"checkpoint": True}, {"pool": "mean", "time_informed": True}])
def test_with_everything_in_the_halo_gradients_are_those_of_the_whole_graph(options):
    model, data = build(**options), graph()
    (loss, expected), (ours, found) = whole_and_parts(model, data, data.num_nodes)
    assert ours == pytest.approx(loss, rel=CLOSE)
    assert found.keys() == expected.keys()
    for name, value in expected.items():
        assert relative_error(found[name], value) < CLOSE, name


def test_three_levels_are_exact_too():
    model, data = build(levels=3, t_high=(2, 1)), graph(levels=2)
    (loss, expected), (ours, found) = whole_and_parts(model, data, data.num_nodes)
    assert ours == pytest.approx(loss, rel=CLOSE)
    for name, value in expected.items():
        assert relative_error(found[name], value) < CLOSE, name
    run = in_parts(model, data, HOPS)
    assert relative_error(run.refresh(), model(data)) < CLOSE


def test_gradients_are_those_of_a_model_in_which_other_parts_are_constant():
    model, data = build(), graph()
    run = in_parts(model, data, HOPS)
    part = run.parts[1]
    own, mine = part.nodes[: part.num_own], part.own.unsqueeze(1)
    found = gradients(model, squares(run.rollout(part._replace(inside=part.own)), data.y[own]))
    encoded = model.encode(data)
    state, predictions = model.initial_state(encoded), []
    for _ in range(model.steps):
        low, high = (step := model._begin(encoded, state)).levels
        states = list(step.states)
        for outer in (1, 2):
            pooled = high.read_below(states[0])
            states[1] = high.update(states[1], None, torch.where(mine, pooled, pooled.detach()))
            states[0] = low.repeat(states[0], low.read_above(states[1]), 1, outer)
        state = step.finish(states)
        predictions.append(model.read_state(encoded, state)[own])
    for name, value in gradients(model, squares(predictions, data.y[own])).items():
        assert relative_error(found[name], value) < CLOSE, name
    near = gradients(model, squares(run.rollout(part), data.y[own]))
    whole = gradients(model, squares([each[own] for each in model.rollout(data)], data.y[own]))
    errors = [max(relative_error(given[name], value) for name, value in whole.items()) for given in (near, found)]
    assert 1e-6 < errors[0] < errors[1], "clusters of the halo count too, and make it better"


def test_a_short_halo_is_near_and_a_longer_one_nearer():
    model, data = build(), graph()
    expected = model.rollout(data)[-1]
    errors = []
    for halo in (0, 1, 2, HOPS):
        run = in_parts(model, data, halo)
        errors.append(max(relative_error(run.rollout(p)[-1], expected[p.nodes[: p.num_own]]) for p in run.parts))
    assert errors[0] > errors[1] > errors[2] > errors[3]
    assert errors[3] < CLOSE


def test_what_was_noted_is_read_until_the_next_refresh():
    model, data = build(), graph()
    run = in_parts(model, data, HOPS)
    part = run.parts[0]
    with torch.no_grad():
        model.node_encoder.weight += 0.1
    own = part.nodes[: part.num_own]
    stale = relative_error(run.rollout(part)[-1], model(data)[own])
    assert 1e-6 < stale < 0.5
    run.refresh()
    assert relative_error(run.rollout(part)[-1], model(data)[own]) < CLOSE


def test_processes_share_the_parts_of_a_refresh():
    model, data = build(), graph()
    run = InParts(model, Parts(data, 3), share=Share(0, 3))
    run.refresh(1)  # nobody adds anything up, so the states of other parts stay zero
    assert relative_error(run.refresh(1), model(data, steps=1)) > 0.01


def test_what_cannot_run_in_parts_is_refused():
    data = graph()
    parts = Parts(data, 2)
    for model, sentence in (
        (MinPlusGHR(1), "Only GHR runs in parts.*got MinPlusGHR"),
        (build(levels=1, t_high=1), "build the model with levels=2"),
        (build(values="select"), "values=None"),
        (build(initial_state="random"), '"learned"'),
        (build(readout="graph"), "node readout"),
    ):
        with pytest.raises(ValueError, match=sentence):
            InParts(model, parts)
    run = InParts(build(), parts)
    with pytest.raises(ValueError, match=r"as refresh ran, 0 so far; call refresh\(2\) first"):
        run.rollout(parts[0])
    run.refresh()
    with pytest.raises(ValueError, match=r"as refresh ran, 2 so far; call refresh\(3\) first"):
        run.rollout(parts[0], 3)

import pytest
import torch

from ghr.bench import select
from ghr.bench.model_work import relative
from ghr.testing.plain import PlainGHR


@pytest.fixture
def workload():
    return select(["A"])[0].quick()


def test_a_training_step_leaves_gradients_and_a_second_one_does_not_add_to_them(workload):
    work = workload.prepare("plain", workload.load())
    assert isinstance(work.model, PlainGHR)
    first = work()
    gradient = work.model.readout.weight.grad.clone()
    assert torch.equal(work(), first)
    assert torch.allclose(work.model.readout.weight.grad, gradient)


def test_inference_keeps_no_graph():
    workload = select(["D"])[0].quick()
    work = workload.prepare("plain", workload.load())
    assert not work().requires_grad
    assert work.model.readout.weight.grad is None


def test_errors_notice_other_weights(workload):
    data = workload.load()
    works = {name: workload.prepare(name, data) for name in ("ghr", "plain")}
    with torch.no_grad():
        works["ghr"].model.readout.mlp[0].weight.mul_(1.01)
    errors = workload.errors(works, {name: work() for name, work in works.items()})
    assert errors["output"] > 5e-3
    assert errors["gradient"] > 5e-3


def test_errors_say_which_parameter_has_no_gradient(workload):
    data = workload.load()
    works = {name: workload.prepare(name, data) for name in ("ghr", "plain")}
    results = {name: work() for name, work in works.items()}
    works["plain"].model.down.weight.grad = None
    with pytest.raises(ValueError, match=r"The parameter down\.weight of PlainGHR got no gradient"):
        workload.errors(works, results)


def test_relative_error():
    assert relative(torch.tensor([3.0, 5.0]), torch.tensor([3.0, 4.0])) == pytest.approx(0.2)
    assert relative(torch.zeros(2), torch.zeros(2)) == 0


def test_the_size_of_the_graph_can_be_set():
    data = select(["D"])[0].sized(77).load()
    assert data.num_nodes == 77


def test_the_numbers_of_steps_can_be_set(workload):
    looped = workload.looped(1, 2, 3)
    model = looped.prepare("ghr", looped.load()).model
    assert (model.steps, model.t_high, model.t_low) == (1, 2, 3)

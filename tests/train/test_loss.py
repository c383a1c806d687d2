import math

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import nn

from ghr.train.loss import DiscountedLoss

number = st.floats(-10, 10)


@settings(deadline=None, max_examples=50)
@given(
    steps=st.lists(st.lists(number, min_size=4, max_size=4), min_size=1, max_size=6),
    target=st.lists(number, min_size=4, max_size=4),
    gamma=st.floats(0.01, 1.0),
)
def test_equals_the_sum_in_plain_python(steps: list[list[float]], target: list[float], gamma: float) -> None:
    expected = 0.0
    for r, step in enumerate(steps, start=1):
        error = sum((a - b) ** 2 for a, b in zip(step, target, strict=True)) / len(target)
        expected += gamma ** (len(steps) - r) * error
    predictions = [torch.tensor(step, dtype=torch.float64).reshape(2, 2) for step in steps]
    rows = torch.tensor(target, dtype=torch.float64).reshape(2, 2)
    loss = DiscountedLoss(nn.MSELoss(), gamma=gamma)
    assert loss(predictions, rows).item() == pytest.approx(expected, rel=1e-12, abs=1e-12)
    assert torch.equal(loss(predictions, rows), loss.total(predictions, rows))


def test_log10_is_the_logarithm_of_the_total() -> None:
    predictions, target = [torch.full((3, 1), 2.0), torch.full((3, 1), 3.0)], torch.zeros(3, 1)
    loss = DiscountedLoss(nn.L1Loss(), gamma=0.5, log10=True)
    assert loss.total(predictions, target).item() == pytest.approx(4.0)
    assert loss(predictions, target).item() == pytest.approx(math.log10(4.0))


@pytest.mark.parametrize("gamma", [0.0, -0.5, 1.01, math.nan])
def test_refuses_gamma_outside_its_range(gamma: float) -> None:
    with pytest.raises(ValueError, match="gamma must be a finite number above 0 and of at most 1"):
        DiscountedLoss(nn.MSELoss(), gamma=gamma)


def test_refuses_no_predictions() -> None:
    with pytest.raises(ValueError, match="at least one step"):
        DiscountedLoss(nn.MSELoss())([], torch.zeros(2, 1))


@pytest.mark.parametrize("shape", [(3,), (1, 3), (3, 2), (1, 1)])
def test_never_broadcasts(shape: tuple[int, ...]) -> None:
    with pytest.raises(ValueError, match=r"the target \(3, 1\)"):
        DiscountedLoss(nn.MSELoss())([torch.zeros(shape)], torch.zeros(3, 1))


@pytest.mark.parametrize("criterion", [nn.MSELoss(), nn.L1Loss(), nn.HuberLoss(), nn.BCEWithLogitsLoss()])
@pytest.mark.parametrize("width", [1, 3])
def test_whole_numbers_are_classes_only_for_a_criterion_over_scores(criterion: nn.Module, width: int) -> None:
    with pytest.raises(ValueError, match=r"the target \(3,\)"):
        DiscountedLoss(criterion)([torch.zeros(3, width)], torch.tensor([0, 1, 2]))


def test_a_criterion_of_one_s_own_may_take_classes_but_not_of_one_score() -> None:
    class Margin(nn.MultiMarginLoss):
        pass

    classes = torch.tensor([0, 1, 2])
    assert DiscountedLoss(Margin())([torch.zeros(3, 3)], classes).item() == pytest.approx(2 / 3)
    with pytest.raises(ValueError, match="same shape"):
        DiscountedLoss(Margin())([torch.zeros(3, 1)], classes)


def test_refuses_a_criterion_that_does_not_reduce() -> None:
    with pytest.raises(ValueError, match="reduce to a scalar"):
        DiscountedLoss(nn.MSELoss(reduction="none"))([torch.zeros(3, 1)], torch.zeros(3, 1))


def test_repr() -> None:
    assert repr(DiscountedLoss(nn.MSELoss(), gamma=0.8)) == "DiscountedLoss(MSELoss(), gamma=0.8, log10=False)"


def test_classes_for_a_criterion_over_scores() -> None:
    torch.manual_seed(0)
    steps, classes = [torch.randn(5, 3), torch.randn(5, 3)], torch.tensor([0, 2, 1, 1, 0])
    first, last = (nn.functional.cross_entropy(scores, classes) for scores in steps)
    loss = DiscountedLoss(nn.CrossEntropyLoss(), gamma=0.5)(steps, classes)
    assert loss.item() == pytest.approx(float(0.5 * first + last))
    with pytest.raises(ValueError, match="same shape"):
        DiscountedLoss(nn.CrossEntropyLoss())(steps, classes[:4])


@pytest.mark.parametrize("criterion", [nn.MSELoss(), nn.L1Loss(), nn.HuberLoss(), nn.BCEWithLogitsLoss()])
@pytest.mark.parametrize(
    ("ours", "theirs"),
    [(torch.float32, torch.float64), (torch.float64, torch.float32), (torch.bfloat16, torch.float32)],
)
def test_targets_may_have_another_precision(criterion: nn.Module, ours: torch.dtype, theirs: torch.dtype) -> None:
    prediction = torch.tensor([[0.5], [-1.5]], dtype=ours, requires_grad=True)
    target = torch.tensor([[1.0], [0.0]], dtype=theirs)
    loss = DiscountedLoss(criterion)([prediction], target)
    assert loss.dtype == torch.promote_types(ours, theirs)
    assert loss.item() == pytest.approx(criterion(prediction.detach().double(), target.double()).item(), rel=1e-6)
    loss.backward()
    assert prediction.grad is not None
    assert prediction.grad.dtype == ours


@pytest.mark.parametrize("predictions", [None, 5, "steps", {0: torch.zeros(2, 1)}, torch.tensor(1.0), iter([])])
def test_refuses_what_is_no_list_of_predictions(predictions: object) -> None:
    with pytest.raises(ValueError, match="The loss takes the predictions of all steps as a list of tensors; got"):
        DiscountedLoss(nn.MSELoss())(predictions, torch.zeros(2, 1))  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("prediction", "words"),
    [
        (None, "The prediction of a step must be a tensor; got the NoneType None"),
        ([[0.0], [0.0]], "The prediction of a step must be a tensor"),
        (torch.zeros(2, 1).to_sparse(), "must be a dense tensor"),
        (torch.zeros(2, 1).long(), "A prediction must hold floating point numbers; got torch.int64"),
        (torch.zeros(2, 3), r"must have the same shape; got \(2, 1\) and \(2, 3\)"),
    ],
)
def test_refuses_odd_predictions(prediction: object, words: str) -> None:
    with pytest.raises(ValueError, match=words):
        DiscountedLoss(nn.MSELoss())([torch.zeros(2, 1), prediction], torch.zeros(2, 1))  # type: ignore[list-item]


@pytest.mark.parametrize(
    ("target", "words"),
    [
        (None, "The target must be a tensor"),
        ([0.0, 0.0], "The target must be a tensor"),
        (torch.tensor(0.0), "The target must be a tensor of real numbers"),
        (torch.zeros(2, 1, device="meta"), "must be on the same device; got cpu and meta"),
    ],
)
def test_refuses_odd_targets(target: object, words: str) -> None:
    with pytest.raises(ValueError, match=words):
        DiscountedLoss(nn.MSELoss())([torch.zeros(2, 1)], target)  # type: ignore[arg-type]


@pytest.mark.parametrize("criterion", [nn.CrossEntropyLoss(), nn.NLLLoss()])
@pytest.mark.parametrize(
    ("target", "words"),
    [
        (torch.tensor([0, 3]), "The target has 3, but must be in 0 to 2"),
        (torch.tensor([0, -1]), "The target has -1, but must be in 0 to 2"),
        (torch.zeros(2, 3).long(), r"reads one class per item, whole numbers of shape \(N,\)"),
    ],
)
def test_refuses_classes_that_have_no_score(criterion: nn.Module, target: torch.Tensor, words: str) -> None:
    with pytest.raises(ValueError, match=words):
        DiscountedLoss(criterion)([torch.zeros(2, 3)], target)


def test_classes_may_be_any_whole_numbers_and_left_out() -> None:
    scores, classes = torch.randn(4, 3), torch.tensor([0, 2, -100, 1])
    expected = nn.functional.cross_entropy(scores, classes)
    for dtype in (torch.int64, torch.int32, torch.int8):
        assert torch.equal(DiscountedLoss(nn.CrossEntropyLoss())([scores], classes.to(dtype)), expected)
    with pytest.raises(ValueError, match=r"reads a row of scores per item, but a prediction has the shape \(4,\)"):
        DiscountedLoss(nn.CrossEntropyLoss())([scores[:, 0]], classes)


@pytest.mark.parametrize("criterion", [nn.MSELoss(), nn.L1Loss(), nn.HuberLoss(), nn.BCEWithLogitsLoss()])
@pytest.mark.parametrize("dtype", [torch.bool, torch.int64])
def test_whole_numbers_of_the_right_shape_are_numbers(criterion: nn.Module, dtype: torch.dtype) -> None:
    prediction, target = torch.tensor([[0.5], [-1.0]]), torch.tensor([[1], [0]])
    assert torch.equal(DiscountedLoss(criterion)([prediction], target.to(dtype)), criterion(prediction, target.float()))


def test_refuses_a_criterion_that_returns_no_tensor() -> None:
    with pytest.raises(ValueError, match=r"must reduce to a scalar, but .* returned 3\.0"):
        DiscountedLoss(lambda prediction, target: 3.0)([torch.zeros(2, 1)], torch.zeros(2, 1))  # type: ignore[arg-type]

import math

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from ghr.datasets.metrics import (
    METRICS,
    Metric,
    accuracy,
    find_metric,
    log10_mse,
    macro_f1,
    mae_of_powers,
    make_metric,
    mean_absolute_error,
    r2,
    roc_auc,
)

NAN = math.nan


def test_scores_are_their_definitions():
    prediction, target = torch.tensor([[1.0, 2.0], [3.0, 5.0]]), torch.tensor([[1.0, 0.0], [3.0, 1.0]])
    assert mean_absolute_error(prediction, target) == pytest.approx(6 / 4)
    assert log10_mse(prediction, target) == pytest.approx(math.log10(20 / 4))
    assert log10_mse(target, target) == -math.inf
    assert mae_of_powers(prediction, target) == pytest.approx((99 + 100_000 - 10) / 4)


def test_sums_are_taken_in_double_precision():
    prediction = torch.full((100_000, 1), 1e-4)
    assert mean_absolute_error(prediction, torch.zeros_like(prediction)) == pytest.approx(
        float(prediction[0]), rel=1e-9
    )


def test_powers_of_an_untrained_model_are_finite():
    target = torch.tensor([[2.0], [2.0]])
    assert mae_of_powers(torch.tensor([[1e6], [2.0]]), target) == pytest.approx(1e300 / 2)
    assert mae_of_powers(torch.tensor([[-1e6], [2.0]]), target) == pytest.approx(50)


@pytest.mark.parametrize("score", [mean_absolute_error, mae_of_powers, log10_mse, r2])
def test_wrong_shapes_and_no_rows_are_said(score):
    with pytest.raises(ValueError, match=r"same shape; got \(2, 1\) and \(2,\)"):
        score(torch.ones(2, 1), torch.ones(2))
    with pytest.raises(ValueError, match="of no rows is not defined"):
        score(torch.ones(0, 1), torch.ones(0, 1))


def test_r2_is_the_mean_over_columns_without_missing_entries():
    target = torch.tensor([[0.0, 1.0], [2.0, NAN], [4.0, 3.0]])
    prediction = torch.tensor([[0.0, 2.0], [2.0, 9.0], [4.0, 2.0]])
    assert r2(prediction, target) == pytest.approx((1.0 + 0.0) / 2)  # exact; no better than the mean
    assert r2(target[:, :1] * 2, target[:, :1]) == pytest.approx(1 - (4 + 16) / 8)


def test_r2_of_targets_without_spread_is_one_or_zero():
    target = torch.full((3, 1), 5.0)
    assert r2(target, target) == 1.0
    assert r2(target + 1, target) == 0.0
    with pytest.raises(ValueError, match="at least one"):
        r2(target, torch.full((3, 1), NAN))


def test_accuracy_takes_scores_classes_and_logits():
    target = torch.tensor([0, 1, 2, 2])
    scores = torch.tensor([[3.0, 1.0, 0.0], [0.0, 1.0, 0.0], [9.0, 0.0, 1.0], [0.0, 0.0, 1.0]])
    assert accuracy(scores, target) == 0.75
    assert accuracy(scores.argmax(dim=1), target) == 0.75
    answers = torch.tensor([0.0, 1.0, 1.0, 0.0])
    logits = torch.tensor([-2.0, 0.1, -0.1, 0.3])
    assert accuracy(logits, answers) == 0.5
    assert accuracy(logits.unsqueeze(1), answers) == 0.5
    assert accuracy(logits.unsqueeze(1), answers.unsqueeze(1)) == 0.5
    assert accuracy(logits, answers.unsqueeze(1)) == 0.5
    assert accuracy(logits.view(2, 2), answers.view(2, 2)) == 0.5


@pytest.mark.parametrize("score", [accuracy, macro_f1])
@pytest.mark.parametrize(
    ("prediction", "target"), [((3, 10), (4,)), ((4, 3), (4, 1)), ((2, 3), (3, 2)), ((2, 3), (6,)), ((6,), (2, 3, 1))]
)
def test_shapes_that_do_not_go_together_are_said(score, prediction, target):
    with pytest.raises(ValueError, match=r"Scores \(N, classes\) or classes \(N\) are needed"):
        score(torch.ones(prediction), torch.ones(target).long())


def f1(classes, truth, label):
    hits = sum(one == other == label for one, other in zip(classes, truth, strict=True))
    return 2 * hits / (classes.count(label) + truth.count(label))


@given(st.lists(st.tuples(st.integers(0, 3), st.integers(0, 3)), min_size=1, max_size=30))
def test_macro_f1_is_the_mean_over_classes_that_occur(rows):
    classes, truth = (list(side) for side in zip(*rows, strict=True))
    labels = set(classes) | set(truth)
    wanted = sum(f1(classes, truth, label) for label in labels) / len(labels)
    scores = torch.nn.functional.one_hot(torch.tensor(classes), 4).float()
    assert macro_f1(scores, torch.tensor(truth)) == pytest.approx(wanted)


def area(scores, answers):
    """The share of pairs of a yes and a no in which the yes has the higher score, ties counting half."""
    pairs = [
        (yes, no)
        for yes, a in zip(scores, answers, strict=True)
        if a
        for no, b in zip(scores, answers, strict=True)
        if not b
    ]
    return sum(1.0 if yes > no else 0.5 if yes == no else 0.0 for yes, no in pairs) / len(pairs)


@given(st.lists(st.tuples(st.integers(-3, 3), st.booleans()), min_size=2, max_size=30))
def test_roc_auc_is_the_share_of_right_pairs(rows):
    scores, answers = (list(side) for side in zip(*rows, strict=True))
    prediction, target = torch.tensor(scores).float(), torch.tensor(answers).float()
    if len(set(answers)) == 1:
        with pytest.raises(ValueError, match="needs both answers in some column"):
            roc_auc(prediction, target)
        return
    for columns in (prediction, prediction.unsqueeze(1)):
        assert roc_auc(columns, target) == pytest.approx(area(scores, answers))


def test_roc_auc_leaves_out_missing_entries_and_columns_without_both_answers():
    target = torch.tensor([[1.0, 1.0], [0.0, 1.0], [NAN, 1.0], [1.0, NAN]])
    prediction = torch.tensor([[2.0, 0.0], [1.0, 0.0], [9.0, 0.0], [0.0, 0.0]])
    assert roc_auc(prediction, target) == pytest.approx(0.5)


def test_roc_auc_of_classes_is_the_mean_of_each_against_the_rest():
    target = torch.tensor([0, 1, 2, 1])
    prediction = torch.tensor([[2.0, 0.0, 0.0], [0.0, 2.0, 1.0], [0.0, 1.0, 0.0], [0.0, 0.0, 0.5]])
    shares = prediction.double().softmax(dim=1)
    wanted = [area(shares[:, label].tolist(), (target == label).tolist()) for label in range(3)]
    assert roc_auc(prediction, target) == pytest.approx(sum(wanted) / 3)


@pytest.mark.parametrize("name", METRICS)
def test_every_metric_knows_its_direction(name):
    metric = METRICS[name]
    assert metric.higher_is_better == (name in ("r2", "accuracy", "macro_f1", "roc_auc"))
    good, bad = (1.0, 0.0) if metric.higher_is_better else (0.0, 1.0)
    assert metric.is_better(good, bad)
    assert not metric.is_better(bad, good)
    assert not metric.is_better(good, good)
    assert not metric.is_better(NAN, bad)
    assert metric.is_better(bad, metric.worst)
    assert not metric.is_better(metric.worst, bad)
    assert find_metric(metric) == (name, 1.0)


@pytest.mark.parametrize("name", METRICS)
def test_the_score_of_what_is_no_number_is_none(name):
    target = torch.tensor([0.0, 1.0, 1.0, 0.0])
    score = METRICS[name](torch.tensor([0.1, NAN, 0.3, 0.2]), target)
    assert math.isnan(score)
    assert not METRICS[name].is_better(score, METRICS[name].worst)


def test_scaled_metrics_have_another_unit_and_the_same_direction():
    hops = METRICS["mae"].scale(40, "hops")
    assert hops(torch.zeros(2, 1), torch.full((2, 1), 0.5)) == 20.0
    assert (str(hops), hops.unit, hops.higher_is_better) == ("MAE, hops", "hops", False)
    assert find_metric(hops) == ("mae", 40)
    percent = METRICS["accuracy"].scale(100, "%")
    assert percent.higher_is_better
    assert percent(torch.tensor([1.0, -1.0]), torch.tensor([1.0, 1.0])) == 50.0
    assert METRICS["r2"].scale(100, "%").columns
    twice = hops.scale(2.5, "dm")
    assert twice(torch.zeros(2, 1), torch.full((2, 1), 0.5)) == 50.0
    assert find_metric(twice) == ("mae", 100)
    assert str(METRICS["mae"]) == "MAE"


def test_metrics_come_by_name_or_as_they_are():
    own = Metric("largest error", lambda prediction, target: float((prediction - target).abs().max()))
    assert make_metric(own) is own
    assert make_metric("mae") is METRICS["mae"]
    assert own(torch.zeros(2), torch.tensor([1.0, -3.0])) == 3.0
    assert find_metric(own) == ("largest error", 1.0)
    with pytest.raises(ValueError, match=r"'accuracy' is a bare function, and nobody knows whether higher or lower"):
        make_metric(accuracy)
    with pytest.raises(ValueError, match="Unknown metric 'mea'; known are mae, mae_of_powers, log10_mse, r2"):
        make_metric("mea")


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"name": ""}, "A metric needs a name; got ''"),
        ({"score": 3}, r"score must be a function \(prediction, target\) -> number; got 3"),
        ({"unit": None}, "unit must be a word, or an empty one for none; got None"),
        ({"higher_is_better": "no"}, "higher_is_better must be True or False; got 'no'"),
        ({"columns": 1}, "columns must be True or False; got 1"),
    ],
)
def test_wrong_options_are_said(options, words):
    with pytest.raises(ValueError, match=words):
        Metric(**({"name": "MAE", "score": mean_absolute_error} | options))


@pytest.mark.parametrize("name", METRICS)
@pytest.mark.parametrize(
    ("odd", "words"),
    [
        (None, "must be a tensor; got the NoneType None"),
        ([[0.0], [1.0]], "must be a tensor; got the list"),
        (torch.tensor(1.0), "must be a tensor of real numbers"),
        (torch.zeros(2, 1).to_sparse(), "must be a dense tensor"),
        (torch.zeros(2, 1, device="meta"), "is on the device meta and has no values"),
    ],
)
def test_scores_are_of_tensors(name, odd, words):
    good = torch.tensor([[0.0], [1.0]])
    with pytest.raises(ValueError, match=f"^The prediction {words}"):
        METRICS[name](odd, good)
    with pytest.raises(ValueError, match=f"^The target {words}"):
        METRICS[name](good, odd)


@pytest.mark.parametrize(("target", "words"), [([0, 3], "has 3, but must be in 0 to 2"), ([0, NAN], "whole numbers")])
def test_the_area_needs_classes_that_have_a_score(target, words):
    with pytest.raises(ValueError, match=f"The target .*{words}"):
        roc_auc(torch.rand(2, 3), torch.tensor(target))


def test_predictions_may_be_whole_numbers():
    assert accuracy(torch.tensor([[False, True], [True, False]]), torch.tensor([1, 1])) == 0.5


@pytest.mark.parametrize("factor", [None, "2", [2.0], NAN, torch.tensor([1.0, 2.0])])
def test_a_factor_is_a_number(factor):
    with pytest.raises(ValueError, match="factor must be a finite number"):
        METRICS["mae"].scale(factor, "m")

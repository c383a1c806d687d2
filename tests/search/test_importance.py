import numpy as np
import pytest

from ghr.search import Choice, Journal, Range, Trial, weigh_settings

SPACE = {"x": Range(0.0, 1.0), "steps": Range(1, 8), "pool": Choice(["max", "sum"]), "gap": Choice([None, 2])}


def trials(score):
    rng = np.random.default_rng(0)
    made = []
    for number in range(60):
        chosen = {
            "x": float(rng.random()),
            "steps": int(rng.integers(1, 9)),
            "pool": ["max", "sum"][int(rng.integers(2))],
            "gap": [None, 2][int(rng.integers(2))],
        }
        made.append(Trial(number, chosen, score(chosen)))
    return made


@pytest.mark.parametrize("name", ["x", "steps", "pool"])
def test_what_decides_the_score_matters_most(name):
    found = weigh_settings(
        trials(lambda chosen: float(["max", "sum"].index(chosen["pool"]) if name == "pool" else chosen[name])),
        SPACE,
        higher_is_better=False,
    )
    assert set(found) == set(SPACE)
    assert sum(found.values()) == pytest.approx(1)
    assert max(found, key=found.get) == name


def test_nobody_can_say_without_scores_that_differ():
    assert weigh_settings([], SPACE, higher_is_better=False) == {}
    assert weigh_settings(trials(lambda _: 1.0), SPACE, higher_is_better=False) == {}
    failed = [Trial(trial.number, trial.chosen, None, failed=True) for trial in trials(lambda _: 1.0)]
    assert weigh_settings(failed, SPACE, higher_is_better=True) == {}


def test_it_is_what_a_search_says_of_the_same_trials(tmp_path):
    from contextlib import ExitStack

    space = {"x": Range(0.0, 1.0), "pool": Choice(["max", "sum"])}
    journal = Journal(tmp_path, space, higher_is_better=False)
    for _ in range(12):
        with ExitStack() as stack:
            trial = journal.claim(12, stack)
            journal.finish(trial, trial.chosen["x"])
    done = sorted(journal.done(), key=lambda trial: trial.number)
    assert weigh_settings(done, space, higher_is_better=False) == pytest.approx(journal.importances())

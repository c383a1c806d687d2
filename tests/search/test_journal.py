import json
from contextlib import ExitStack

import pytest

from ghr.search import Choice, Journal, Range

SPACE = {"x": Range(0.0, 1.0), "n": Range(1, 8), "kind": Choice(["a", [2, 1], None])}


def open_journal(folder, *, higher_is_better=False, space=SPACE):
    return Journal(folder, space, higher_is_better=higher_is_better)


def finish_all(journal, most, score=lambda trial: trial.chosen["x"]):
    """Finish trials until there are enough; return them in the order of their numbers."""
    trials = []
    while True:
        with ExitStack() as stack:
            trial = journal.claim(most, stack)
            if trial is None:
                return trials
            journal.finish(trial, score(trial))
            trials.append(trial)


def test_values_come_back_as_they_were_given(tmp_path):
    for trial in finish_all(open_journal(tmp_path), 12):
        assert 0 <= trial.chosen["x"] <= 1
        assert type(trial.chosen["n"]) is int
        assert trial.chosen["kind"] in ("a", [2, 1], None)


@pytest.mark.parametrize("higher_is_better", [False, True])
def test_the_best_is_first_by_the_direction_and_failures_are_last(tmp_path, higher_is_better):
    journal = open_journal(tmp_path, higher_is_better=higher_is_better)
    with ExitStack() as stack:
        journal.fail(journal.claim(5, stack))
    finish_all(journal, 5)
    done = journal.done()
    scores = [trial.score for trial in done[:-1]]
    assert scores == sorted(scores, reverse=higher_is_better)
    assert (len(done), done[-1].failed, done[-1].score, done[-1].number) == (5, True, None, 0)


@pytest.mark.parametrize("higher_is_better", [False, True])
def test_what_is_chosen_moves_towards_better_scores(tmp_path, higher_is_better):
    trials = finish_all(open_journal(tmp_path, higher_is_better=higher_is_better), 40)
    late = sum(trial.chosen["x"] for trial in trials[20:]) / 20
    assert (late > 0.6) if higher_is_better else (late < 0.4)


def test_a_search_that_goes_on_chooses_as_one_that_never_stopped(tmp_path):
    for name in ("one", "two"):
        (tmp_path / name).mkdir()
    whole = finish_all(open_journal(tmp_path / "one"), 14)
    parts = [trial for most in (3, 11, 14) for trial in finish_all(open_journal(tmp_path / "two"), most)]
    assert parts == whole
    assert len({trial.chosen["x"] for trial in whole}) == 14, "no choice is made twice"


def test_trials_of_others_count_and_are_left_alone(tmp_path):
    with ExitStack() as stack:
        mine = open_journal(tmp_path).claim(2, stack)
        other = open_journal(tmp_path).claim(2, stack)
        assert (mine.number, other.number) == (0, 1)
        assert open_journal(tmp_path).claim(2, stack) is None


def test_a_trial_that_was_given_up_is_taken_first_with_the_same_choice(tmp_path):
    journal = open_journal(tmp_path)
    with ExitStack() as stack:
        lost = journal.claim(3, stack)
    with ExitStack() as stack:
        found = open_journal(tmp_path).claim(3, stack)
        assert found == lost
        journal.finish(found, 0.5)
    assert [trial.score for trial in journal.done()] == [0.5]


def test_half_a_line_of_a_killed_process_is_dropped(tmp_path):
    finish_all(open_journal(tmp_path), 2)
    with open(tmp_path / "journal.log", "a") as file:
        file.write('{"op_code":5,"wor')
    trials = finish_all(open_journal(tmp_path), 4)
    assert [trial.number for trial in trials] == [2, 3]
    for line in (tmp_path / "journal.log").read_text().splitlines():
        json.loads(line)


def test_a_trial_killed_while_it_was_chosen_does_not_count(tmp_path):
    journal = open_journal(tmp_path)
    with ExitStack() as stack:
        journal.claim(2, stack)
    lines = (tmp_path / "journal.log").read_text().splitlines(keepends=True)
    (tmp_path / "journal.log").write_text("".join(lines[:-1]))  # the last of its three values is gone
    trials = finish_all(open_journal(tmp_path), 2)
    assert [trial.number for trial in trials] == [1, 2]
    assert len(open_journal(tmp_path).done()) == 2


def test_importances_need_scores_that_differ(tmp_path):
    journal = open_journal(tmp_path)
    finish_all(journal, 3, score=lambda trial: 1.0)
    assert journal.importances() == {}
    finish_all(journal, 30)
    importances = journal.importances()
    assert sum(importances.values()) == pytest.approx(1)
    assert max(importances, key=importances.get) == "x"

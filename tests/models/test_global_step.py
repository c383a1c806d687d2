"""Algorithm 2 by its order: who is updated when, and what it reads."""

import gc
import weakref

import pytest

from ghr.models.global_step import count_updates, run_global_step, trace_global_step


class Recorder:
    """A level whose state counts its updates, and that notes what it reads."""

    def __init__(self, k: int, log: list[tuple[object, ...]]) -> None:
        self.k, self.log = k, log

    def read_above(self, above: int) -> tuple[str, int]:
        return ("above", above)

    def read_below(self, below: int) -> tuple[str, int]:
        return ("below", below)

    def update(self, state: int, above: object, below: object) -> int:
        self.log.append((self.k, above, below))
        return state + 1

    def repeat(self, state: int, above: object, updates: int, outer: int, first: int = 1) -> int:
        self.log.append((self.k, above, updates, outer) if first == 1 else (self.k, above, updates, outer, first))
        return state + updates


def run(updates: tuple[int, ...]) -> tuple[list[int], list[tuple[object, ...]]]:
    log: list[tuple[object, ...]] = []
    levels = [Recorder(k, log) for k in range(len(updates))]
    return run_global_step(levels, [0] * len(updates), updates), log


def test_two_levels_are_the_algorithm_of_the_paper():
    states, log = run((3, 2))
    assert states == [6, 2]
    assert log == [
        (1, None, ("below", 0)),
        (0, ("above", 1), 3, 1),
        (1, None, ("below", 3)),
        (0, ("above", 2), 3, 2),
    ]


def test_a_level_between_reads_both_sides_and_what_is_above_once_per_loop():
    states, log = run((1, 2, 1))
    assert states == [2, 2, 1]
    assert log == [
        (2, None, ("below", 0)),
        (1, ("above", 1), ("below", 0)),
        (0, ("above", 1), 1, 1),
        (1, ("above", 1), ("below", 1)),
        (0, ("above", 2), 1, 2),
    ]


def test_a_flat_recurrence_only_repeats():
    assert run((5,)) == ([5], [(0, None, 5, 1)])


@pytest.mark.parametrize("updates", [(1,), (2, 3), (2, 1, 3), (1, 2, 3, 1)])
def test_a_level_is_updated_as_often_as_all_loops_around_it_turn(updates):
    states, _ = run(updates)
    for k, count in enumerate(states):
        product = 1
        for number in updates[k:]:
            product *= number
        assert count == product


def test_the_given_states_stay_as_they_are():
    given = [0, 0]
    run_global_step([Recorder(k, []) for k in range(2)], given, (1, 1))
    assert given == [0, 0]


@pytest.mark.parametrize("updates", [(3,), (3, 2), (2, 2, 3), (1, 1)])
def test_the_trace_of_a_step_is_the_step_update_by_update(updates):
    log: list[tuple[object, ...]] = []
    levels = [Recorder(k, log) for k in range(len(updates))]
    moments = list(trace_global_step(levels, [0] * len(updates), updates))
    states, whole = run(updates)
    assert moments[-1][1] == states
    assert len(moments) == count_updates(updates) == sum(states)
    for number, (level, after) in enumerate(moments):
        before = moments[number - 1][1] if number else [0] * len(updates)
        assert [now - then for now, then in zip(after, before, strict=True)] == [
            k == level for k in range(len(updates))
        ]
    coarse = [entry for entry in log if entry[0] != 0]
    assert coarse == [entry for entry in whole if entry[0] != 0]
    first = [entry[4] if len(entry) == 5 else 1 for entry in log if entry[0] == 0]
    assert first == list(range(1, updates[0] + 1)) * (len(first) // updates[0])


class Kept:
    """A state of which one can tell when nobody holds it any more."""


class Maker:
    """A level whose every update gives a new state."""

    def read_above(self, above):
        return None

    read_below = read_above

    def update(self, state, above, below):
        return Kept()

    def repeat(self, state, above, updates, outer, first=1):
        return Kept()


def last_of_trace(*given):
    return [*trace_global_step(*given)][-1][1]


@pytest.mark.parametrize("step", [run_global_step, last_of_trace])
def test_states_are_let_go_at_once(step):
    gc.disable()  # only counting references may free them
    try:
        references = [weakref.ref(state) for state in step([Maker(), Maker()], [Kept(), Kept()], (2, 2))]
        assert [reference() for reference in references] == [None, None]
    finally:
        gc.enable()

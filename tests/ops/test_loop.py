import pytest
import torch

from ghr.ops.loop import fake_states, make_room, run_stages, take_out

STATE = torch.arange(12.0).view(4, 3)
PARTS = torch.tensor([0, 1, 4])
ALL, FIRST, SECOND = range(3)


@pytest.mark.parametrize(("updates", "kept", "others"), [(1, 0, 0), (2, 1, 1), (3, 2, 2), (6, 5, 2)])
def test_room_is_for_all_states_between_or_for_two_in_turn(updates, kept, others):
    assert make_room(updates, STATE, keep=True).shape == (kept, 4, 3)
    assert make_room(updates, STATE, keep=False).shape == (others, 4, 3)
    assert make_room(updates, STATE.double(), keep=True).dtype == torch.float64


@pytest.mark.parametrize("updates", [1, 2, 5])
@pytest.mark.parametrize("keep", [False, True])
def test_a_compiler_is_told_the_shapes_that_come_out(updates, keep):
    between = take_out(make_room(updates, STATE, keep=keep), keep=keep)
    last, fake = fake_states(STATE, updates, keep=keep)
    assert (fake.shape, fake.dtype) == (between.shape, between.dtype)
    assert (last.shape, last.dtype) == (STATE.shape, STATE.dtype)


def record(alone, *, back):
    """Return (parts, stage, updates) of every call of a kernel; on one thread, a call has all parts."""
    calls = []

    def kernel(team, first, stop, stage, parts, begin, end, updates, *arrays):
        assert parts.tolist() == [0, 1, 4]
        assert (updates, arrays) == (3, ("a", "b"))
        calls.append((first, stop, stage, begin, end))

    run_stages(kernel, (ALL, FIRST, SECOND), PARTS, torch.tensor(alone), 3, ("a", "b"), back=back)
    return calls


@pytest.fixture(autouse=True)
def one_thread(monkeypatch):
    monkeypatch.setattr("ghr.ops.share.numba.get_num_threads", lambda: 1)


@pytest.mark.parametrize("back", [False, True])
def test_parts_that_no_edge_joins_run_everything_by_themselves(back):
    assert record(True, back=back) == [(0, 2, ALL, 0, 3)]


def test_joined_parts_wait_for_each_other_after_every_stage():
    turns = [(0, 2, stage, update, update + 1) for update in range(3) for stage in (FIRST, SECOND)]
    assert record(False, back=False) == turns


def test_on_the_way_back_the_last_update_comes_first_and_stages_stay_in_order():
    turns = [(0, 2, stage, update, update + 1) for update in (2, 1, 0) for stage in (FIRST, SECOND)]
    assert record(False, back=True) == turns

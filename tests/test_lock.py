import multiprocessing
import os
import signal

import pytest

from ghr.lock import hold, is_held


def hold_until(path, ready, done):
    """Hold a lock in a process of its own until told to stop."""
    with hold(path) as mine:
        ready.put(mine)
        done.wait(30)


@pytest.fixture
def holder(tmp_path):
    context = multiprocessing.get_context("spawn")
    ready, done = context.Queue(), context.Event()
    process = context.Process(target=hold_until, args=(tmp_path / "lock", ready, done))
    process.start()
    assert ready.get(timeout=120) is True
    yield process, done
    process.kill()
    process.join()


def test_only_one_process_holds_it_and_it_is_given_back(tmp_path, holder):
    process, done = holder
    path = tmp_path / "lock"
    assert is_held(path)
    with hold(path) as mine:
        assert not mine
    done.set()
    process.join()
    assert not is_held(path)
    with hold(path) as mine:
        assert mine


def test_a_killed_process_holds_nothing(tmp_path, holder):
    process, _ = holder
    os.kill(process.pid, signal.SIGKILL)
    process.join()
    with hold(tmp_path / "lock") as mine:
        assert mine


def test_it_is_given_back_after_an_error(tmp_path):
    def fail():
        with hold(tmp_path / "lock"):
            raise RuntimeError("inside")

    with pytest.raises(RuntimeError, match="inside"):
        fail()
    assert not is_held(tmp_path / "lock")


def test_somebody_who_asks_for_an_instant_does_not_turn_a_worker_away(tmp_path, monkeypatch):
    """The first tries meet the lock held, a later one does not."""
    import ghr.lock

    answers = iter([False, False, True])
    monkeypatch.setattr(ghr.lock, "_try", lambda handle, path: next(answers))
    with hold(tmp_path / "lock") as mine:
        assert mine


def test_asking_leaves_it_free_and_makes_no_file(tmp_path):
    assert not is_held(tmp_path / "none")
    assert not (tmp_path / "none").exists()
    (tmp_path / "lock").touch()
    for _ in range(2):
        assert not is_held(tmp_path / "lock")


def test_a_folder_that_is_not_there_is_a_sentence(tmp_path):
    with pytest.raises(OSError, match="Could not open the lock file"), hold(tmp_path / "no" / "lock"):
        pass

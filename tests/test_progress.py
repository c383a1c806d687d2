import io
import logging
import sys
import time

from ghr import progress
from ghr.progress import hide_bars, make_bar, track


class Terminal(io.StringIO):
    def isatty(self):
        return True


def open_terminal(patch, delay=0.0):
    """Make the error output a terminal, on which bars need not wait for two seconds."""
    patch.setattr(sys, "stderr", Terminal())
    patch.setattr(progress, "DELAY", delay)
    return sys.stderr


def work():
    for _ in track(range(3), "Working", unit="graph"):
        time.sleep(0.15)  # longer than the bar waits between two drawings


def test_a_bar_has_the_time_left(monkeypatch):
    terminal = open_terminal(monkeypatch)
    work()
    assert "Working:  67%" in terminal.getvalue()
    assert "2/3 [00:00<00:00" in terminal.getvalue()
    assert "graph/s" in terminal.getvalue()


def test_what_is_quick_has_no_bar(monkeypatch):
    terminal = open_terminal(monkeypatch, progress.DELAY)
    work()
    assert progress.DELAY == 2
    assert terminal.getvalue() == ""


def test_bars_are_for_terminals(monkeypatch):
    monkeypatch.setattr(sys, "stderr", io.StringIO())
    monkeypatch.setattr(progress, "DELAY", 0.0)
    work()
    assert sys.stderr.getvalue() == ""


def test_hidden_bars_stay_hidden(monkeypatch):
    terminal = open_terminal(monkeypatch)
    with hide_bars():
        with hide_bars(False):
            work()
        with make_bar("Counting", 3) as bar:
            bar.update(3)
    assert terminal.getvalue() == ""
    with hide_bars(False):
        work()
    assert "Working" in terminal.getvalue()


def test_no_bar_where_logging_is_off(monkeypatch):
    terminal = open_terminal(monkeypatch)
    logging.disable(logging.CRITICAL)
    try:
        work()
    finally:
        logging.disable(logging.NOTSET)
    assert terminal.getvalue() == ""


def test_a_bar_moved_by_hand(monkeypatch):
    terminal = open_terminal(monkeypatch)
    with make_bar("Counting", 4, done=1, unit="B", scale=True) as bar:
        time.sleep(0.15)
        bar.update(2)
        assert "Counting:  75%" in terminal.getvalue()

"""The study that measures how many epochs take the time of a column."""

import importlib.util
import itertools
import sys
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

from ghr.paper.equal import System
from ghr.paper.trees import NAME, TreeRow
from tiny_columns import ECHO, SYSTEMS

FILE = Path(__file__).parent.parent / "studies" / "equal_budget" / "measure.py"
spec = importlib.util.spec_from_file_location("measure", FILE)
measure = importlib.util.module_from_spec(spec)
spec.loader.exec_module(measure)


def test_the_second_epoch_is_scaled_to_all_graphs(tmp_path, monkeypatch):
    clock = itertools.count(step=3)
    monkeypatch.setattr(measure, "time", SimpleNamespace(process_time=lambda: next(clock)))
    column = replace(ECHO, graphs={"train": 400, "val": 40, "test": 60})
    assert measure.time_epoch(column, SYSTEMS[1], tmp_path, batches=1) == 3 * 400 / 8


def test_the_columns_of_all_tables_are_measured():
    keys = {column.key for columns, _ in measure.TABLES for column in columns}
    assert keys == {*measure.EPOCHS}


def test_only_what_is_asked_for_is_measured_and_no_trees(monkeypatch, capsys):
    trees = System("trees", "trees", NAME, row=TreeRow)
    monkeypatch.setattr(measure, "TABLES", (((ECHO,), (*SYSTEMS, trees)),))
    monkeypatch.setattr(measure, "time_epoch", lambda column, system, data, batches: 72.0 / batches)
    monkeypatch.setattr(sys, "argv", ["measure.py", "--only", "gcn", "trees", "--batches", "2"])
    measure.main()
    assert capsys.readouterr().out == "echo-sssp gcn: 36.0 s an epoch, 20 epochs\n"


def test_long_rows_have_their_own_minutes(monkeypatch, capsys):
    column = replace(ECHO, long={"gcn": 3}, long_minutes=30)
    monkeypatch.setattr(measure, "TABLES", (((column,), SYSTEMS),))
    monkeypatch.setattr(measure, "time_epoch", lambda column, system, data, batches: 36.0)
    monkeypatch.setattr(sys, "argv", ["measure.py", "--long"])
    measure.main()
    assert capsys.readouterr().out == "echo-sssp gcn: 36.0 s an epoch, 50 epochs\n"

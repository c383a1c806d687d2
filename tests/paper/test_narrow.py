from dataclasses import replace

import pytest

from ghr.experiment import Experiment
from ghr.paper.cells import GROUPS
from ghr.paper.narrow import DIAMETER, NarrowGraphs, NarrowRow
from ghr.paper.runs import RowRun, list_runs, work_on

ROWS = {row.folder: row for group in GROUPS for row in group.rows}


def shorten(row, **counts):
    setup = replace(row.setup, graphs={"train": 8, "val": 2, "test": 2, **counts}, seeds=(1,))
    return replace(row, setup=setup, settings={**row.settings, "epochs": 1})


def test_narrow_graphs_are_trained_on_and_all_are_tested(tmp_path):
    row = shorten(ROWS["select-echo-narrow"], train=24, val=24, test=12)
    assert isinstance(row, NarrowRow)
    splits = row.experiment().data.load(tmp_path)
    whole = replace(ROWS["select-echo"], setup=row.setup).experiment().data.load(tmp_path)
    assert [len(graphs) for graphs in whole.named().values()] == [24, 24, 12]
    assert (len(splits.train), len(splits.val)) == (12, 12), "of 17, 24, 31 and 38, which come first, half are narrow"
    assert len(splits.test) == 12
    assert max(40 * float(graph.y.max()) for graph in splits.train) < 28.5
    assert max(40 * float(graph.y.max()) for graph in whole.train) > 28.5
    assert splits.fingerprint()["train"] != whole.fingerprint()["train"]


def test_narrow_graphs_are_trained_on_as_any_others(tmp_path):
    row = shorten(ROWS["select-echo-narrow"])
    run = list_runs([replace(row, settings={**row.settings, "t_low": 1})], tmp_path / "runs")[0]
    assert work_on([run], tmp_path / "data", quiet=True) == []
    assert run.result()["epochs"] == 1
    whole = replace(ROWS["select-echo"], setup=row.setup, settings=run.row.settings, folder=row.folder)
    with pytest.raises(ValueError, match="belongs to another run: data is"):
        RowRun(whole, run.seed, run.runs).open()


def test_a_run_on_narrow_graphs_is_another_run():
    narrow, whole = ROWS["select-echo-narrow"].experiment(), ROWS["select-echo"].experiment()
    assert isinstance(narrow, Experiment)
    assert narrow.describe()["data"]["largest_diameter"] == 28
    assert "largest_diameter" not in whole.describe()["data"]
    assert ROWS["select-echo-narrow"].budget.endswith("only diameters to 28")


def test_a_row_on_narrow_graphs_differs_in_its_graphs_alone():
    narrow = ROWS["select-echo-narrow"].experiment(3)
    assert isinstance(narrow.data, NarrowGraphs)
    assert narrow.data.largest == DIAMETER
    wide = replace(ROWS["select-echo"], setup=ROWS["select-echo-narrow"].setup).experiment(3)
    assert narrow.train == wide.train
    assert narrow.options == wide.options
    assert {name: getattr(narrow.data, name) for name in vars(wide.data)} == vars(wide.data)

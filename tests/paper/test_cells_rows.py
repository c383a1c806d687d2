import math
from dataclasses import replace

import pytest

from ghr.models import GHR, MODELS
from ghr.paper.cell_tests import FarHops, Lattices
from ghr.paper.cells import GROUPS
from ghr.paper.extension import FarTest

ROWS = {row.folder: row for group in GROUPS for row in group.rows}


def shorten(row, **counts):
    setup = replace(row.setup, graphs={"train": 8, "val": 2, "test": 2, **counts}, seeds=(1,))
    return replace(row, setup=setup, settings={**row.settings, "epochs": 1})


def build(row, tmp_path):
    experiment = shorten(row).experiment()
    return experiment.build(experiment.data.load(tmp_path))


def test_every_row_has_a_folder_of_its_own_and_the_seeds_of_the_study():
    rows = [row for group in GROUPS for row in group.rows]
    assert len(ROWS) == 19
    assert all(row.settings == ROWS[row.folder].settings for row in rows), "a row of two tables is trained once"
    assert {row.setup.group for row in rows} == {"table-cells"}
    assert {row.setup.seeds for row in rows} == {(42, 43, 44, 45, 46)}
    assert all(row.reported is None for row in rows)


@pytest.mark.parametrize("row", ROWS.values(), ids=lambda row: row.folder)
def test_training_is_that_of_the_model_s_name(row):
    recipe = MODELS[row.model].training
    train = row.experiment().train
    assert {name: getattr(train, name) for name in recipe} == recipe
    assert train.patience is None
    assert train.schedule == ("exponential" if row.model == "ghr-sum" else "cosine")


def test_what_differs_between_the_rows_trained_to_5_hops(tmp_path):
    built = {row.folder: build(row, tmp_path) for row in GROUPS[0].rows}
    select = built["select"].config
    differ = {
        name: {key for key, value in model.config.items() if value != select[key]}
        for name, model in built.items()
        if name.startswith("select")
    }
    assert differ == {
        "select": set(),
        "select-soft": {"value_sharpness"},
        "select-carried": {"levels", "coarsen", "coarse_edge_dim", "value_carry", "value_reach"},
        "select-two-levels": {"levels", "coarsen", "coarse_edge_dim"},
        "select-control": {"conv"},
    }
    assert (select["values"], select["conv"], select["levels"]) == ("select", None, 1)
    assert (built["paper"].config["values"], built["paper"].config["start"]) == (None, "paper")
    assert built["select-two-levels"].config["coarsen"]["edge_reduce"] == ["min", "mean"]


@pytest.mark.parametrize("row", GROUPS[0].rows, ids=lambda row: row.folder)
def test_loops_reach_as_far_as_the_graphs_go(tmp_path, row):
    model = build(row, tmp_path)
    if row.family == "Deep":
        assert row.far.given == {}
        return
    loops = {"steps": model.steps, "t_high": model.t_high, "t_low": model.t_low, **row.far.given}
    high = loops["t_high"] if isinstance(loops["t_high"], int) else loops["t_high"][0]
    updates = loops["steps"] * loops["t_low"] * (high if model.levels > 1 else 1)
    assert updates == 48, "as many for every cell, and more than the 40 hops need"


def test_loops_of_the_large_graphs(tmp_path):
    large, echo = build(ROWS["select-to-20"], tmp_path), build(ROWS["select-echo"], tmp_path)
    assert large.steps * large.t_low == 21
    assert large.steps * ROWS["select-to-20"].far_loops.given["t_low"] == 42
    assert echo.steps * echo.t_low == 42


@pytest.mark.parametrize("row", GROUPS[-1].rows, ids=lambda row: row.folder)
def test_a_model_of_sums_takes_larger_lattices_unchanged(tmp_path, row):
    model = build(row, tmp_path)
    assert math.isfinite(Lattices(32, 1).evaluate(model, tmp_path, row.far.given)["log10_mse"])


def test_a_model_with_two_levels_is_tested_on_graphs_with_two_levels(tmp_path):
    row = ROWS["select-two-levels"]
    found = FarHops(FarTest("small", 8, 3), 5).evaluate(build(row, tmp_path), tmp_path, row.far.given)
    assert math.isfinite(found["mae"])


def test_sums_differ_by_law_and_directions(tmp_path):
    law, plain, blind = (build(row, tmp_path) for row in GROUPS[-1].rows)
    assert all(isinstance(model, GHR) and model.config["values"] == "sum" for model in (law, plain, blind))
    assert [model.config["scale_law"] for model in (law, plain, blind)] == [1, 0, 0]
    assert [model.config["directions"] for model in (law, plain, blind)] == [True, True, False]

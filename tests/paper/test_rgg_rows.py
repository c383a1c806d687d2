import json
from dataclasses import replace

import pytest

from ghr import MODELS
from ghr.datasets import BENCHMARKS
from ghr.datasets.task import Task
from ghr.experiment import Experiment
from ghr.models import GHR, GPS, DeepGNN
from ghr.paper.extension import EXTENSION
from ghr.paper.rgg import ABLATIONS, FALLING, FULL, PREDICTION, REDUCED, REPORTED, SMALL
from ghr.paper.row import _EXAMPLE, AS_TRAINED
from ghr.train import TrainConfig

ALL = (*ABLATIONS, *PREDICTION, *SMALL[5], *SMALL[8])
PAPER = TrainConfig(epochs=300, lr=1e-3, batch_size=32, patience=15)


def build(row):
    experiment = row.experiment()
    return experiment.entry.for_data(_EXAMPLE, Task("node"), experiment.options, experiment.suggested)


def test_every_run_has_a_directory_of_its_own():
    places = [row.name for row in (*ALL, *EXTENSION)]
    assert len(set(places)) == len(places)
    assert str(SMALL[5][0].run_dir("runs", 42)) == "runs/rgg-small-cap5/ghr-gated-gine/seed-42"


@pytest.mark.parametrize(("row", "benchmark"), [(FULL[0], "rgg-sssp-large"), (SMALL[5][0], "rgg-sssp-small")])
def test_rows_of_full_protocol_are_the_recipes_of_the_train_command(row, benchmark):
    assert row.experiment(42) == Experiment.on(benchmark, "ghr-gated-gine", {"start": "paper"}, seed=42)


def test_all_recurrences_start_as_the_paper_s():
    recurrences = [row for row in ALL if row.family in ("GHR", "Recurrent")]
    assert {build(row).config["start"] for row in recurrences} == {"paper"}
    assert len(recurrences) == 15


def test_the_full_protocol_is_the_paper_s():
    for row in (*FULL, *SMALL[5], *SMALL[8]):
        assert row.experiment().train == PAPER
        assert row.setup.graphs is None
        assert BENCHMARKS[row.setup.benchmark].sizes == {"train": 6000, "val": 1000, "test": 1000}
        assert row.setup.seeds == (42, 43, 44)
    assert [rows[0].in_range for rows in SMALL.values()] == [5, 8]
    assert (PAPER.optimizer, PAPER.weight_decay, PAPER.clip, PAPER.gamma) == ("adam", 0.0, 1.0, 0.8)
    assert (PAPER.jitter, PAPER.schedule, PAPER.log10) == (True, "constant", False)


def test_one_row_of_the_full_protocol_has_a_falling_rate():
    constant, falling = FULL[1].experiment(), FALLING.experiment()
    changes = {"schedule": "cosine", "epochs": 35, "patience": None}
    assert falling.train == replace(constant.train, **changes)
    assert (falling.data, falling.model, falling.options) == (constant.data, constant.model, constant.options)
    assert FALLING.reported == FULL[1].reported


def test_models_have_the_loops_and_sizes_of_the_paper():
    for row, loops in ((SMALL[5][0], (4, 2, 2)), (FULL[0], (4, 3, 6)), (PREDICTION[0], (4, 3, 4))):
        model = build(row)
        assert isinstance(model, GHR)
        assert (model.steps, model.t_high, model.t_low) == loops
        assert (model.config["hidden_channels"], model.config["conv"], model.pool) == (32, "gated_gine", "max")
        coarsen = model.transform
        assert (coarsen.partition.rounds, coarsen.edge_reduce, coarsen.levels) == (3, ("min", "mean"), 1)
    for row in (SMALL[5][1], SMALL[8][1], PREDICTION[1]):
        deep = build(row)
        assert isinstance(deep, DeepGNN)
        assert (deep.config["conv"], deep.config["layers"], deep.steps) == ("gine", 10, None)
    gps = build(SMALL[8][2])
    assert isinstance(gps, GPS)
    assert [gps.config[name] for name in ("layers", "heads", "dropout", "conv")] == [10, 4, 0.3, "gine"]


def test_the_thirteen_rows_of_the_paper_s_table():
    assert len(REDUCED) == len({row.title for row in REDUCED}) == 13
    assert [row.model for row in REDUCED] == list(REPORTED)
    for row in REDUCED:
        model, train = build(row), row.experiment().train
        gr = row.title.endswith("+ GR")
        assert row.title.startswith(f"{row.family}-")
        assert ("Gated" in row.title) == (model.config["conv"] == "gated_gine")
        if row.family == "Deep":
            assert isinstance(model, DeepGNN)
            assert (len(model.convs), model.steps) == (20, 4 if gr else None)
            assert row.far_loops == AS_TRAINED, "deep models stay as they are"
        else:
            flat = row.family == "Recurrent"
            assert isinstance(model, GHR)
            assert (model.levels, model.steps) == ((1, 4 if gr else 1) if flat else (2, 4))
            assert (model.t_low, model.t_high) == ((20, 1) if flat else (6, 3))
            assert row.far_loops.given == {"t_low": 30 if flat else 8}
        assert all(set(loops.given) <= set(model.loops) for loops in row.all_loops)
        assert train.jitter == (model.steps != 1), "a single pass stays single"
        assert row.reported is not None


def test_the_paper_s_numbers_hang_together():
    """Test error lies between the errors in and out of range, as every mean of both must."""
    for paper in REPORTED.values():
        assert paper.in_range[0] < paper.mae[0] < paper.out_of_range[0]
    assert [row.reported for row in FULL] == [row.reported for row in REDUCED[:2]]
    assert all(row.reported is None for row in (*SMALL[5], *SMALL[8], *PREDICTION))


def test_all_rows_of_the_reduced_budget_see_the_same_graphs_and_the_same_training():
    experiments = [row.experiment() for row in REDUCED]
    assert all(experiment.data == experiments[0].data for experiment in experiments)
    assert {replace(experiment.train, epochs=1, jitter=True) for experiment in experiments} == {
        TrainConfig(epochs=1, batch_size=8, lr=2e-3, schedule="cosine")
    }
    assert [experiment.train.epochs for experiment in experiments] == [14, 22, 9, 5, 7, 15, 22, 80, 11, 44, 44, 56, 18]
    assert dict(experiments[0].data.graphs) == {"train": 1000, "val": 100}


def test_the_rows_of_ten_hops():
    for row, epochs in zip(PREDICTION, (12, 40), strict=True):
        experiment = row.experiment()
        assert experiment.train == TrainConfig(epochs=epochs, batch_size=8, lr=2e-3, schedule="cosine")
        assert experiment.data.options == {"max_distance": 10, "mean_degree": 12.0}
        assert (row.in_range, row.setup.seeds) == (10, (42,))


@pytest.mark.parametrize("row", [*ALL, *EXTENSION], ids=lambda row: row.name)
def test_every_row_has_a_known_model_and_survives_json(row):
    assert row.model in MODELS
    assert json.loads(json.dumps(row.describe()))["config"]["train"]["epochs"] == row.experiment().train.epochs

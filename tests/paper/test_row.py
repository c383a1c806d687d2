from dataclasses import replace

import pytest

from ghr.experiment import Experiment
from ghr.paper.row import AS_TRAINED, Inference, Loops, Setup
from tiny_rows import DEEP_ROW, GHR_ROW, REPORTED, SETUP


def test_loops_are_named_by_what_differs():
    assert AS_TRAINED.label == "as trained"
    assert Loops(t_low=8, steps=6).label == "steps=6, t_low=8"
    assert Loops(t_high=3).given == {"t_high": 3}


def test_every_seed_has_an_experiment_of_its_own():
    settings = {**SETUP.settings, **GHR_ROW.settings}
    assert GHR_ROW.experiment(7) == Experiment.on("rgg-sssp-small", "ghr", settings, graphs=SETUP.graphs, seed=7)
    assert GHR_ROW.experiment(7) != GHR_ROW.experiment(8)
    assert GHR_ROW.run_dir("runs", 7).parts == ("runs", "tiny", "ghr", "seed-7")
    assert DEEP_ROW.name == "tiny/deep"


def test_the_budget_follows_from_the_settings():
    assert GHR_ROW.budget == "6 graphs, 2 epochs, batch 32, lr 0.001"
    setup = Setup("tiny", "rgg-sssp-small", {"schedule": "cosine", "lr": 0.02})
    changed = replace(GHR_ROW, setup=setup, settings={"patience": 5})
    assert changed.budget == "6,000 graphs, at most 300 epochs, batch 32, patience 5, lr 0.02 cosine"


def test_the_range_is_that_of_the_training(tmp_path):
    assert GHR_ROW.in_range == 5
    setup = Setup("tiny", "rgg-sssp-small", {"max_distance": 4}, {"train": 20, "val": 5, "test": 60})
    capped = replace(GHR_ROW, setup=setup)
    assert capped.in_range == 4
    splits = capped.experiment().data.load(tmp_path)
    assert splits.in_range == 4
    assert int(splits.train.hops.max()) <= 4
    assert int(splits.test.hops.max()) > 5, "the test goes on to the limit of its regime"


def test_a_benchmark_without_a_range_is_a_sentence():
    with pytest.raises(ValueError, match="lrim-16-hard has no trained range"):
        _ = replace(GHR_ROW, setup=Setup("tiny", "lrim-16-hard")).in_range


def test_going_out_of_range_needs_to_be_evaluated():
    with pytest.raises(ValueError, match="t_low=9 is to go out of range, but is not among the loops"):
        Inference((Loops(t_low=8),), far=Loops(t_low=9))


def test_the_paper_s_numbers_are_found_by_the_model():
    assert GHR_ROW.reported == REPORTED
    assert DEEP_ROW.reported is None
    assert GHR_ROW.describe()["paper"]["out_of_range"] == (1.5, 0.2)


@pytest.mark.parametrize("row", [GHR_ROW, DEEP_ROW], ids=lambda row: row.title)
def test_parameters_are_counted_without_data(tmp_path, row):
    experiment = row.experiment()
    model = experiment.build(experiment.data.load(tmp_path))
    assert row.count_parameters() == sum(parameter.numel() for parameter in model.parameters())

from dataclasses import replace

import pytest
import torch

from ghr.datasets import mae_by_distance
from ghr.datasets.task import Task
from ghr.experiment import evaluate_split
from ghr.models import MinPlusGHR
from ghr.paper.extension import EXTENSION, FAR_TESTS, FarTest, evaluate_far
from ghr.paper.row import _EXAMPLE
from ghr.threads import use_threads
from ghr.train import TrainConfig, collect


def build(row):
    torch.manual_seed(0)
    experiment = row.experiment()
    return experiment.entry.for_data(_EXAMPLE, Task("node"), experiment.options, experiment.suggested)


def test_the_rows_cover_what_the_table_compares():
    assert len({row.folder for row in EXTENSION}) == len(EXTENSION) == 8
    for row in EXTENSION:
        model, experiment = build(row), row.experiment()
        assert isinstance(model, MinPlusGHR)
        assert model.t_low == row.in_range + 1, "every step that the loss counts reaches as far as training goes"
        assert row.folder.startswith(f"cap{row.in_range}-")
        assert ("lengths" in row.folder) == experiment.data.options.get("weighted", False)
        assert ("flat" in row.folder) == (model.levels == 1)
        assert (model.steps, model.t_high, model.config["hidden_channels"]) == (2, 1, 8)
        assert row.reported is None
        assert row.setup.seeds == (42, 43, 44)
        small = row.in_range == 5
        wanted = TrainConfig(epochs=12, batch_size=32 if small else 8, lr=1e-2, schedule="cosine")
        assert experiment.train == wanted
        assert list(experiment.data.graphs.values()) == ([1000, 100, 100] if small else [200, 30, 30])


def test_full_half_and_a_third_of_what_the_distance_needs():
    assert [[test.updates(part) for part in (1, 2, 3)] for test in FAR_TESTS] == [[40, 20, 14], [90, 45, 30]]


@pytest.mark.parametrize(("row", "loops"), [(EXTENSION[0], (1, 5)), (EXTENSION[1], (5, 1))])
def test_evaluating_runs_so_many_low_level_updates_on_fresh_graphs(tmp_path, row, loops):
    model = build(row)
    graphs = FarTest("small", 8, 30).load(tmp_path, transform=model.transform)
    few = replace(row, setup=replace(row.setup, graphs={"train": 1, "val": 1, "test": 1}))
    assert not torch.equal(graphs[0].pos, few.experiment().data.load(tmp_path).test[0].pos)
    evaluated = evaluate_far(model, graphs, graphs.task, 5, 5)
    prediction, target = collect(model, graphs, graphs.task, steps=loops[0], t_low=loops[1])
    expected = mae_by_distance(prediction, target, graphs.hops[graphs.mask], 5)
    assert evaluated["out_of_range"] == pytest.approx(expected["out_of_range"])
    assert evaluated["updates"] == 5
    far = graphs.hops[graphs.mask] > 5
    pairs = list(zip(prediction[far].flatten().tolist(), target[far].flatten().tolist(), strict=True))
    lost = [(p, t) for p, t in pairs if p > 2 * t]
    assert evaluated["lost"] == pytest.approx(len(lost) / len(pairs))
    found = [abs(p - t) for p, t in pairs if p <= 2 * t]
    assert evaluated["found"] == (pytest.approx(sum(found) / len(found), rel=1e-5) if found else None)


def test_the_extension_is_exact_out_of_range_after_a_short_training(tmp_path):
    row = EXTENSION[3]
    setup = replace(row.setup, graphs={"train": 60, "val": 10, "test": 20})
    experiment = replace(row, setup=setup, settings={**row.settings, "batch_size": 8}).experiment()
    with use_threads(1):  # the graphs are tiny: threads would only wait for each other
        run = experiment.run(tmp_path / "run", tmp_path / "data", quiet=True)
    assert 0 < run.result["metrics"]["out_of_range"] < 1e-2
    splits = experiment.data.load(tmp_path / "data", run.model.transform)
    assert evaluate_split(run.model, splits, "test", steps="auto")["out_of_range"] < 1e-2
    assert splits.test[0].levels[1].centre_distance is not None

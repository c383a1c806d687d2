import pytest

from ghr.datasets import BENCHMARKS
from ghr.paper.sensitivity import ECHO, LRIM, count_updates, to_settings

STUDIES = pytest.mark.parametrize("study", [ECHO, LRIM], ids=lambda study: study.benchmark)


@STUDIES
def test_the_recipe_is_that_of_the_benchmark(study):
    benchmark = BENCHMARKS[study.benchmark]
    assert study.recipe["gamma"] == benchmark.training["gamma"]
    for name in ("steps", "t_high", "t_low", "pool"):
        assert study.recipe[name] == benchmark.suggested[name]
    wanted = to_settings({"partition": study.recipe["partition"]})
    assert wanted == {name: benchmark.suggested[name] for name in wanted}
    assert study.base.experiment().options.keys() <= {"hidden_channels"}


@STUDIES
def test_every_row_can_be_built_and_has_a_folder_of_its_own(study, tmp_path):
    data = BENCHMARKS[study.benchmark].load(tmp_path, "test", num_graphs=1)
    configs = []
    for row in study.rows:
        experiment = row.experiment(42)
        model = experiment.entry.for_data(data, data.task, experiment.options, experiment.suggested)
        configs.append((model.config, experiment.train.gamma, experiment.train.epochs))
        assert experiment.train.patience is None
    assert len({row.name for row in study.rows}) == len(study.rows)
    single = [str(config) for config in configs[: 1 + len(study.single_rows)]]
    assert len(set(single)) == len(single), "each differs from the recipe and from the others"
    names = [factor.name for factor in study.factors]
    assert names == ["steps", "t_high", "t_low", "gamma", "levels", "pool", "partition"]


def test_a_flat_model_is_told_nothing_of_coarse_levels():
    changed = {"levels": 1, "t_high": 2, "pool": "sum", "partition": "random, 2 rounds", "steps": 3}
    assert to_settings(changed) == {"levels": 1, "steps": 3}
    assert to_settings({"partition": "random, 2 rounds"}) == {"partition": "graclus", "rounds": 2, "mode": "random"}


def test_updates_are_counted_level_by_level():
    def cost(**changed):
        return count_updates({"steps": 1, "t_high": 2, "t_low": 3, "levels": 2, **changed}, coarse=0.5, fixed=7)

    assert cost() == 2 * 3 + 2 / 2 + 7
    assert cost(steps=5) == 5 * (cost() - 7) + 7
    assert cost(levels=1) == 3 + 7
    assert cost(levels=3) == 4 * 3 + (2 + 4) / 2 + 7
    assert ECHO.count_epochs({"steps": 1}) == round(20 * 116 / 35)
    assert ECHO.count_epochs({"gamma": 1.0}) == ECHO.epochs


def test_rows_at_random_stay_what_they_are_and_become_trials():
    assert ECHO.draw(3) == ECHO.draw(3)
    assert len({str(ECHO.draw(place)) for place in range(24)}) == 24
    for factor in ECHO.factors:
        assert {ECHO.draw(place)[factor.name] for place in range(24)} == {*factor.values}
    scores = {"recipe": 1.0, "pool-sum": 2.0, "drawn-03": 3.0, "of-another-study": 4.0}
    base, single, drawn = ECHO.trials(scores)
    assert (base.chosen, base.score) == (ECHO.recipe, 1.0)
    assert (single.chosen, single.score) == ({**ECHO.recipe, "pool": "sum"}, 2.0)
    assert (drawn.chosen, drawn.score) == (ECHO.draw(3), 3.0)
    assert list(ECHO.space["pool"].values) == ["max", "mean", "sum"]

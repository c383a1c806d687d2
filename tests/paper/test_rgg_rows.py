from dataclasses import replace

import pytest

from ghr.cli.train import Train
from ghr.models import GHR, DeepGNN
from ghr.paper.protocol import PAPER
from ghr.paper.rgg import ABLATIONS, FULL, PREDICTION, REDUCED, SMALL
from ghr.paper.row import AS_TRAINED

ALL = (*ABLATIONS, *PREDICTION, *SMALL[5], *SMALL[8])


def test_every_run_has_a_directory_of_its_own():
    places = [(row.group, row.name) for row in ALL]
    assert len(set(places)) == len(places)
    assert str(SMALL[5][0].run_dir("runs", 42)) == "runs/rgg-small-cap5/ghr-gated_gine/seed-42"


@pytest.mark.parametrize(("row", "task"), [(FULL[0], "rgg-sssp-large"), (SMALL[5][0], "rgg-sssp-small")])
def test_rows_of_full_protocol_are_the_recipes_of_the_train_command(row, task):
    assert row.seeded(42) == Train(task, seed=42)._recipe()


def test_the_full_protocol_is_the_paper_s():
    for row in (*FULL, *SMALL[5], *SMALL[8]):
        assert row.recipe.train == PAPER
        assert (row.recipe.data.train_graphs, row.recipe.data.val_graphs, row.recipe.data.test_graphs) == (
            6000, 1000, 1000,
        )  # fmt: skip
        assert row.seeds == (42, 43, 44)
    assert [rows[0].recipe.data.in_range for rows in SMALL.values()] == [5, 8]


def test_the_thirteen_rows_of_the_paper_s_table():
    assert len(REDUCED) == 13
    assert len({row.title for row in REDUCED}) == 13
    for row in REDUCED:
        model = row.recipe.build()
        flat = not row.title.startswith("GHR")
        gr = row.title.endswith("+ GR")
        assert ("Gated" in row.title) == (row.recipe.model.conv == "gated_gine")
        if row.title.startswith("Deep"):
            assert isinstance(model, DeepGNN)
            assert (len(model.convs), model.steps) == (20, 4 if gr else None)
            assert row.beyond == AS_TRAINED, "deep models stay as they are"
        else:
            assert isinstance(model, GHR)
            assert (model.levels, model.steps) == ((1, 4 if gr else 1) if flat else (2, 4))
            assert (model.t_low, model.t_high) == ((20, 1) if flat else (6, 3))
            assert row.beyond.given == {"t_low": 30 if flat else 8}
        assert row.recipe.train.jitter == (model.steps != 1), "a single pass stays single"
        assert row.reported is not None


def test_the_paper_s_numbers_hang_together():
    """Test error lies between the errors within and beyond the range, as every mean of both must."""
    for row in REDUCED:
        paper = row.reported
        assert paper.in_range[0] < paper.mae[0] < paper.out_of_range[0]
    assert FULL[0].reported == REDUCED[0].reported
    assert FULL[1].reported == REDUCED[1].reported


def test_all_rows_of_the_reduced_budget_see_the_same_graphs():
    assert len({row.recipe.data for row in REDUCED}) == 1
    assert len({replace(row.recipe.train, epochs=1, jitter=True) for row in REDUCED}) == 1

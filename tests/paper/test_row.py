from dataclasses import replace

import pytest

from ghr.paper.row import AS_TRAINED, Counts
from tiny_rows import GHR_ROW


def test_counts_are_named_by_what_differs():
    assert AS_TRAINED.label == "as trained"
    assert Counts(t_low=8, steps=6).label == "steps=6, t_low=8"
    assert Counts(t_high=3).given == {"t_high": 3}


def test_every_seed_has_a_recipe_of_its_own():
    assert GHR_ROW.seeded(7) == replace(GHR_ROW.recipe, train=replace(GHR_ROW.recipe.train, seed=7))
    assert GHR_ROW.run_dir("runs", 7).parts == ("runs", "tiny", "ghr", "seed-7")


def test_the_budget_follows_from_the_recipe():
    assert GHR_ROW.budget == "6 graphs, 2 epochs, batch 32, lr 0.001"
    train = replace(GHR_ROW.recipe.train, patience=5, schedule="cosine", lr=0.02)
    data = replace(GHR_ROW.recipe.data, train_graphs=6000)
    changed = replace(GHR_ROW, recipe=replace(GHR_ROW.recipe, train=train, data=data))
    assert changed.budget == "6,000 graphs, at most 2 epochs, batch 32, patience 5, lr 0.02 cosine"


def test_going_beyond_needs_to_be_judged():
    with pytest.raises(ValueError, match="goes beyond its range with t_low=9, which is not in inference"):
        replace(GHR_ROW, beyond=Counts(t_low=9))

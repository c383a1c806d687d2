from ghr.paper.data_specs import TrialData
from ghr.paper.recipe import Recipe
from ghr.paper.trials import OTHER_QUESTIONS, PARTS_REPLACED


def test_every_row_changes_one_thing():
    plain = PARTS_REPLACED[1].recipe.model.__class__()
    for row in PARTS_REPLACED[1:]:
        changed = [name for name, value in vars(row.recipe.model).items() if value != getattr(plain, name)]
        assert len(changed) == 1
        assert row.recipe.data == PARTS_REPLACED[0].recipe.data
    assert len({row.name for row in (*PARTS_REPLACED, *OTHER_QUESTIONS)}) == len(PARTS_REPLACED) + len(OTHER_QUESTIONS)


def test_a_config_gives_the_recipe_back():
    for row in (*PARTS_REPLACED, *OTHER_QUESTIONS):
        again = Recipe.from_config(row.recipe.config())
        assert again == row.recipe
        assert type(again.data) is type(row.recipe.data)


def test_questions_are_asked_of_the_same_graphs(tmp_path):
    for row in OTHER_QUESTIONS[1:]:
        data = row.recipe.data
        assert isinstance(data, TrialData)
        few = TrialData(train_graphs=3, question=data.question).load(tmp_path, "train")
        assert len(few) == 3
        assert few[0].edge_attr.size(1) == (2 if data.question == "offsets" else 1)
        assert ("budget" in few[0]) == (data.question == "budget")
        assert data.weighted

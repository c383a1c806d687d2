from test_cli import run

from ghr.cli.eval import Eval
from ghr.paper import DeepSpec, MinPlusSpec, Recipe, RGGSpec
from ghr.train import TrainConfig
from tiny_rows import DATA


def test_graphs_are_looked_for_beside_the_run_then_here(tmp_path):
    assert Eval(tmp_path / "run").data_folder().name == "data"
    assert Eval(tmp_path / "run").data_folder().parent != tmp_path
    (tmp_path / "data").mkdir()
    assert Eval(tmp_path / "run").data_folder() == tmp_path / "data"
    assert Eval(tmp_path / "run", data=tmp_path / "other").data_folder() == tmp_path / "other"


def test_a_recurrent_stack_takes_more_steps_and_nothing_else(capsys, tmp_path):
    recipe = Recipe(DeepSpec(layers=2, steps=2, hidden_channels=8), DATA, TrainConfig(epochs=1))
    recipe.run(tmp_path / "run", tmp_path / "data", quiet=True)
    assert run(capsys, "eval", str(tmp_path / "run"), "--steps", "3")[0] == 0
    code, _, err = run(capsys, "eval", str(tmp_path / "run"), "--steps", "3", "--t-low", "2")
    assert (code, "a model with steps; leave out t_low" in err) == (2, True)


def test_the_extension_is_judged_with_as_many_steps_as_it_needs(capsys, tmp_path):
    data = RGGSpec(train_graphs=8, val_graphs=2, test_graphs=20)
    recipe = Recipe(MinPlusSpec(steps=1, t_low=1), data, TrainConfig(epochs=1, jitter=False))
    recipe.run(tmp_path / "run", tmp_path / "data", quiet=True)
    beyond = []
    for options in ([], ["--steps", "auto"]):
        code, printed, _ = run(capsys, "eval", str(tmp_path / "run"), *options)
        assert code == 0
        beyond.append(float(printed.splitlines()[1].split()[-1]))
    assert beyond[1] < 10 < beyond[0], "one step of one update does not reach far"
    assert "steps=auto" in printed

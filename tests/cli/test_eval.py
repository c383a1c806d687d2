from ghr.cli.eval import Eval


def test_graphs_are_looked_for_beside_the_run_then_here(tmp_path):
    assert Eval(tmp_path / "run").data_folder().name == "data"
    assert Eval(tmp_path / "run").data_folder().parent != tmp_path
    (tmp_path / "data").mkdir()
    assert Eval(tmp_path / "run").data_folder() == tmp_path / "data"
    assert Eval(tmp_path / "run", data=tmp_path / "other").data_folder() == tmp_path / "other"

import csv

import pytest
from own_graphs import SMALL, write_rings
from test_cli import run


def rows_of(path):
    with open(path, encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


@pytest.fixture
def fitted(capsys, tmp_path):
    """A folder and a function that fits it."""
    folder = write_rings(tmp_path / "rings")

    def fit(*options):
        code, _, error = run(capsys, "fit", str(folder), "--out", str(tmp_path / "run"), *options, *SMALL)
        assert (code, error) == (0, "")
        return str(tmp_path / "run")

    return fit


def test_numbers_for_nodes_without_targets(capsys, tmp_path, fitted):
    trained = fitted("--target", "far", "--ignore", "load")
    new = write_rings(tmp_path / "new", 2, size=7, seed=5, targets=False)
    code, printed, error = run(capsys, "predict", trained, str(new), "--out", str(tmp_path / "p.csv"))
    assert (code, error) == (0, "")
    assert f"14 rows in {tmp_path / 'p.csv'}" in printed
    assert "Columns that training did not have are not used: load." in printed
    rows = rows_of(tmp_path / "p.csv")
    assert list(rows[0]) == ["graph", "node", "far"]
    assert [(row["graph"], row["node"]) for row in rows[6:8]] == [("ring 0", "n6"), ("ring 1", "n0")]
    assert len({float(row["far"]) for row in rows}) > 1


def test_classes_of_graphs_by_their_names_with_probabilities(capsys, tmp_path, fitted):
    trained = fitted("--target", "kind", "--ignore", "load", "--ignore", "far")
    code, printed, _ = run(capsys, "predict", trained, str(tmp_path / "rings"), "--out", str(tmp_path / "p.csv"))
    assert code == 0
    assert "accuracy on these graphs: " in printed
    rows = rows_of(tmp_path / "p.csv")
    assert (list(rows[0]), len(rows)) == (["graph", "kind", "p(even)", "p(odd)"], 12)
    assert {row["kind"] for row in rows} <= {"even", "odd"}
    assert all(float(row["p(even)"]) + float(row["p(odd)"]) == pytest.approx(1, abs=1e-5) for row in rows)


def test_edges_and_more_steps(capsys, tmp_path, fitted):
    trained = fitted("--target", "load")
    new = str(write_rings(tmp_path / "new", 2, seed=5))
    first, more = str(tmp_path / "p.csv"), str(tmp_path / "q.csv")
    assert run(capsys, "predict", trained, new, "--out", first, "--quiet") == (0, f"10 rows in {first}\n", "")
    assert run(capsys, "predict", trained, new, "--out", more, "--quiet", "--set", "steps=3")[0] == 0
    rows = rows_of(first)
    assert (list(rows[0]), rows[9]["source"], rows[9]["target"]) == (["graph", "source", "target", "load"], "n4", "n0")
    assert [row["load"] for row in rows] != [row["load"] for row in rows_of(more)]


def test_predictions_do_not_depend_on_which_graphs_are_asked_for_together(capsys, tmp_path, fitted):
    """The numbers of training standardise, not those of the new folder."""
    trained = fitted("--target", "far", "--ignore", "load")
    for name, count in (("one", 1), ("two", 2)):
        write_rings(tmp_path / name, count, seed=5)
        run(capsys, "predict", trained, str(tmp_path / name), "--out", str(tmp_path / f"{name}.csv"))
    one, two = (rows_of(tmp_path / f"{name}.csv") for name in ("one", "two"))
    assert [float(row["far"]) for row in one] == pytest.approx([float(row["far"]) for row in two[:5]], rel=1e-5)


def test_mistakes_are_sentences(capsys, tmp_path, fitted):
    trained = fitted("--target", "far", "--ignore", "load")
    new = write_rings(tmp_path / "new", 1)
    code, _, error = run(capsys, "predict", str(tmp_path / "nothing"), str(new))
    assert (code, "is not a run directory" in error) == (2, True)
    code, _, error = run(capsys, "predict", trained, str(new), "--out", str(tmp_path))
    assert (code, "--out takes a file" in error) == (2, True)
    code, _, error = run(capsys, "predict", trained, str(new), "--out", str(tmp_path / "no" / "p.csv"))
    assert (code, "for the file of --out does not exist" in error) == (2, True)
    code, _, error = run(capsys, "predict", trained, str(new), "--set", "turns=3")
    assert (code, "turns=3" in error) == (2, True)
    (new / "nodes.csv").write_text((new / "nodes.csv").read_text().replace("red", "mauve"))
    code, _, error = run(capsys, "predict", trained, str(new), "--out", str(tmp_path / "p.csv"))
    assert (code, "'colour' has the unknown value 'mauve'; known are blue, green, red" in error) == (2, True)
    assert not (tmp_path / "p.csv").exists()


def test_a_run_on_other_data_cannot_read_folders(capsys, tmp_path, fitted):
    trained = fitted("--target", "far")
    config = tmp_path / "run" / "config.json"
    config.write_text(config.read_text().replace('"schema"', '"scheme"'))
    code, _, error = run(capsys, "predict", trained, str(tmp_path / "rings"))
    assert code == 2
    assert "cannot predict a folder. The run does not say how to read tables" in error

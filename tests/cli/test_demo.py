from test_cli import run

from ghr.threads import use_threads


def test_the_demo_prints_its_table_and_draws_its_figure_and_is_quick_the_second_time(capsys, tmp_path, monkeypatch):
    out = tmp_path / "demo"
    options = ["demo", "--out", str(out), "--graphs", "16", "--epochs", "1", "--quiet"]
    with use_threads(1):  # the graphs are tiny: threads would only wait for each other
        code, printed, _ = run(capsys, *options)
    assert code == 0
    for words in (
        "GHR",
        "deep GINE, 10 layers",
        "GHR with values, not in the paper",
        "in range (<= 5)",
        "out of range (> 5)",
        "Figure",
        f"Page     {out / 'recurrence.html'}",
        "Try next",
    ):
        assert words in printed
    assert (out / "out_of_range.png").read_bytes()[:8] == b"\x89PNG\r\n\x1a\n"
    page = (out / "recurrence.html").read_text()
    assert '"name":"GHR, 3 low-level steps"' in page
    assert '"name":"deep GINE, 10 layers"' in page
    assert (out / "ghr" / "result.json").is_file()

    def no_training(self):
        raise AssertionError("a finished demo was trained again")

    monkeypatch.setattr("ghr.train.trainer.Trainer.fit", no_training)
    code, again, _ = run(capsys, *options)
    assert code == 0
    assert again == printed

from ghr.paper.item import Place, write_report
from ghr.paper.items.start import Start
from ghr.paper.start import StartTest

TINY = {"hidden_channels": 8, "steps": 1, "t_high": 1, "t_low": 2}
FEW = {"train": 4, "val": 2, "test": 1}


def test_both_starts_of_every_conv_are_reported(tmp_path):
    tests = (
        StartTest("rgg-sssp-small", 9, TINY, FEW, batch_size=2),
        StartTest("echo-ecc", 0, TINY, FEW, batch_size=2),
    )
    item = Start(tests=tests, convs=("gated_gine", "gcn"))
    report = item.report(Place(data=tmp_path))
    measured = report.record["measured"]
    assert [(record["benchmark"], record["conv"], record["start"]) for record in measured] == [
        (test.benchmark, conv, start)
        for test in tests
        for conv in ("gated_gine", "gcn")
        for start in ("paper", "scaled")
    ]
    assert all((record["score"] is None) == (record["benchmark"] == "echo-ecc") for record in measured)
    assert "| rgg-sssp-small, gated_gine |" in report.text
    assert "on 4 of 4 rows" in report.text


def test_it_is_written(tmp_path):
    item = Start(tests=(StartTest("echo-ecc", 0, TINY, FEW, batch_size=2),), convs=("gine",))
    files = write_report(item, Place(data=tmp_path / "data"), tmp_path)
    assert [file.name for file in files] == ["table-start.md", "table-start.json"]

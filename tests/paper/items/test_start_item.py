from ghr.paper.item import Place, write_report
from ghr.paper.items.start import Start, summarise
from ghr.paper.start import Started, StartTest

TINY = {"hidden_channels": 8, "steps": 1, "t_high": 1, "t_low": 2}
FEW = {"train": 4, "val": 2, "test": 1}


def test_both_starts_of_every_conv_are_reported(tmp_path):
    tests = (
        StartTest("rgg-sssp-small", 9, TINY, FEW, batch_size=2),
        StartTest("echo-ecc", 0, TINY, FEW, batch_size=2),
    )
    item = Start(tests=tests, convs=("gated_gine", "gcn"), seeds=(3, 4))
    report = item.report(Place(data=tmp_path))
    measured = report.record["measured"]
    assert [(record["benchmark"], record["conv"], record["start"], record["seed"]) for record in measured] == [
        (test.benchmark, conv, start, seed)
        for test in tests
        for conv in ("gated_gine", "gcn")
        for start in ("paper", "scaled")
        for seed in (3, 4)
    ]
    assert all((record["score"] is None) == (record["benchmark"] == "echo-ecc") for record in measured)
    assert "| rgg-sssp-small, gated_gine |" in report.text
    assert "of 2 rows" in report.text  # what is not trained does not count
    assert "of 8 runs" in report.text


def test_seeds_are_summarised_by_medians():
    given = {"mean_target": 2.0, "largest_target": 4.0, "constant_score": 1.5, "first_loss": 1.0, "gradient": 1.0}
    seeds = [
        Started(mean_prediction=1.0, largest_prediction=9.0, passed=None, score=0.5, **given),
        Started(mean_prediction=3.0, largest_prediction=7.0, passed=10, score=0.1, **given),
        Started(mean_prediction=2.0, largest_prediction=8.0, passed=20, score=0.9, **given),
    ]
    expected = Started(mean_prediction=2.0, largest_prediction=9.0, passed=20, score=0.5, **given)
    assert summarise(seeds) == expected
    assert summarise([seeds[0], seeds[0], seeds[1]]).passed is None


def test_it_is_written(tmp_path):
    item = Start(tests=(StartTest("echo-ecc", 0, TINY, FEW, batch_size=2),), convs=("gine",), seeds=(0,))
    files = write_report(item, Place(data=tmp_path / "data"), tmp_path)
    assert [file.name for file in files] == ["table-start.md", "table-start.json"]

from ghr.bench import select
from ghr.bench.measure import Usage, measure
from ghr.paper.item import Place
from ghr.paper.items import memory
from ghr.paper.items.memory import LOOPS, Memory


def test_every_depth_is_measured_by_both_implementations(monkeypatch):
    asked = []

    def measured(workload, implementation, *, loops, **options):
        asked.append((implementation, loops))
        return Usage(0.0, [0.0], 100, 100 + (loops[2] if implementation == "ghr" else 10 * loops[2]) * 2**20)

    monkeypatch.setattr(memory, "in_fresh_process", measured)
    report = Memory().report(Place())
    assert set(asked) == {(name, loops) for name in ("ghr", "plain") for loops in LOOPS}
    assert "| 72 | 4 x 3 x 6 | 6 MB | 60 MB | 0.100 |" in report.text
    assert "| ECHO-SSSP | 128 | 72 | 1.03 GB |" in report.text


def test_it_runs(monkeypatch):
    def here(workload, implementation, *, loops, quick, count):
        return measure(select([workload])[0].quick().looped(*loops), implementation, runs=1)

    monkeypatch.setattr(memory, "in_fresh_process", here)
    report = Memory(loops=((1, 1, 2),), quick=True).report(Place())
    (measured,) = report.record["measured"]
    assert measured["depth"] == 2
    assert measured["above"]["plain"] >= 0

import json

import pytest
import torch

from ghr.bench import measure
from ghr.bench.measure import in_fresh_process, main, peak_bytes

MB = 1_000_000


class Allocates:
    """A workload that takes a known amount of memory, and took more while it was built."""

    def load(self):
        return torch.ones(400 * MB // 4).sum()

    def prepare(self, implementation, data):
        return lambda: torch.ones(200 * MB // 4)


def test_memory_above_the_start_is_that_of_the_work():
    usage = measure.measure(Allocates(), "ghr", runs=3)
    assert len(usage.seconds) == 3
    assert all(seconds > 0 for seconds in [usage.build_seconds, *usage.seconds])
    assert 180 * MB < usage.above < 300 * MB
    assert usage.peak == usage.before + usage.above


def test_systems_without_a_status_file_report_the_peak_since_the_start(monkeypatch):
    def missing(key):
        raise OSError

    monkeypatch.setattr(measure, "_status", missing)
    usage = measure.measure(Allocates(), "ghr")
    assert peak_bytes() == usage.peak >= usage.before > 400 * MB  # which includes what building took


def test_the_module_prints_json(capsys):
    main(["A", "plain", "--quick", "--threads", "1", "--runs", "1", "--nodes", "30", "--loops", "1", "1", "2"])
    usage = json.loads(capsys.readouterr().out)
    assert usage.keys() == {"build_seconds", "seconds", "before", "peak"}
    assert len(usage["seconds"]) == 1


@pytest.mark.parametrize(
    ("stderr", "reason"), [("Traceback\nValueError: No.\n", "ValueError: No."), ("", "exit code 7")]
)
def test_a_failing_process_is_reported_with_its_last_line(monkeypatch, stderr, reason):
    done = type("Done", (), {"returncode": 7, "stdout": "", "stderr": stderr})
    monkeypatch.setattr(measure.subprocess, "run", lambda command, **options: done)
    with pytest.raises(ValueError, match=rf"Measuring A \(ghr\) in its own process failed: {reason}"):
        in_fresh_process("A", "ghr", count=1)


def test_the_command_says_what_to_measure(monkeypatch):
    given = {}

    def run(command, *, env, **options):
        given.update(command=command, env=env)
        out = 'a word\n{"build_seconds": 1, "seconds": [2, 3], "before": 4, "peak": 9}\n'
        return type("Done", (), {"returncode": 0, "stdout": out})

    monkeypatch.setattr(measure.subprocess, "run", run)
    usage = in_fresh_process(
        "D", "ghr", count=3, quick=True, nodes=50, loops=(1, 2, 3), runs=4, environment={"KEY": "value"}
    )
    assert usage.above == 5
    expected = ["ghr.bench.measure", "D", "ghr", "--runs", "4", "--threads", "3", "--quick", "--nodes", "50"]
    expected += ["--loops", "1", "2", "3"]
    assert given["command"][2:] == expected
    assert given["env"]["KEY"] == "value"
    assert len(given["env"]) > 1

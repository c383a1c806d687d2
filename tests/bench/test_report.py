import pytest

from ghr.bench.report import tables, targets_met


@pytest.fixture
def record():
    usage = {"build_seconds": 0.5, "seconds": [9.0, 0.25], "before": 1, "peak": 2}
    model = {
        "name": "A",
        "title": "a training step",
        "targets": {"speedup": 5, "memory": 0.1, "seconds": None},
        "nodes": 10,
        "edges": 20,
        "clusters": 5,
        "median": {"ghr": 0.5, "plain": 2.0},
        "speedup": 4.0,
        "errors": {"output": 1e-6, "gradient": 2e-6},
        "memory": {
            "ghr": {"before": 0, "peak": 300_000_000, "above": 5_000_000},
            "plain": {"before": 0, "peak": 600_000_000, "above": 100_000_000},
            "ratio_peak": 0.5,
            "ratio_above": 0.05,
        },
        "product_flops": 10_000_000_000,
        "floor_ratio": 2.0,
    }
    coarsening = {
        "name": "F",
        "title": "coarsening",
        "targets": {"speedup": None, "memory": None, "seconds": 3},
        "nodes": 1_000_000,
        "edges": 6_000_000,
        "clusters": 150_000,
        "median": {"ghr": 1.5},
        "speedup": None,
        "errors": {},
    }
    return {
        "workloads": [model, coarsening],
        "product_speed": 4e10,
        "scaling": [{"name": "A", "seconds": {"1": [3.0, 1.0, 2.0], "2": [1.0]}, "speedup": 2.0}],
        "cold": [{"name": "A", "empty": usage, "filled": {**usage, "seconds": [0.75, 0.25]}}],
        "sizes": [{"nodes": 1000, "median": 0.002, "above": 3_000_000}],
    }


def test_targets_are_judged_by_what_was_measured(record):
    model, coarsening = record["workloads"]
    assert targets_met(model) == {"speedup": False, "memory": True}
    assert targets_met(coarsening) == {"seconds": True}
    coarsening["median"]["ghr"] = 3.0
    assert targets_met(coarsening) == {"seconds": False}
    del model["memory"]
    assert targets_met(model) == {"speedup": False}


def test_every_figure_has_its_place(record):
    time, memory, coarsening, floor, scaling, cold, sizes = (table.rows for table in tables(record))
    assert time == [["A  a training step", "0.5000", "2.00", "4.00", ">= 5", "NO", "1.0e-06", "2.0e-06"]]
    assert memory == [["A  a training step", "300.0", "600.0", "0.500", "5.0", "100.0", "0.050", "<= 0.1", "yes"]]
    assert coarsening == [["F", "1,000,000", "6,000,000", "150,000", "1.50", "250", "< 3", "yes"]]
    assert floor == [["A  a training step", "10.00", "0.2500", "0.5000", "2.00"]]
    assert scaling == [["A", "2.00", "1.00", "2.00"]]
    assert cold == [["A", "0.5000", "9.00", "0.5000", "0.7500", "0.2500"]]
    assert sizes == [["1,000", "0.0020", "2.00", "3.0", "3000"]]


def test_headers_fit_rows_and_what_was_not_measured_has_no_table(record):
    assert all(len(row) == len(table.header) for table in tables(record) for row in table.rows)
    del record["workloads"][0]
    assert [table.title[:10] for table in tables({"workloads": record["workloads"]})] == ["Coarsening"]

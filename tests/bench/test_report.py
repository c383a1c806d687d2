import pytest

from ghr.bench.report import page, tables, targets_met


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
    (model, coarsening), scaling, cold, sizes = (table.rows for table in tables(record))
    assert model[:7] == ["A  a training step", "0.5000", "2.00", "4.00", ">= 5", "5.0", "0.050"]
    assert model[7:] == ["<= 0.1", "0.2500", "NO", "1.0e-06", "2.0e-06"]
    assert coarsening == ["F  coarsening", "1.50", "-", "-", "< 3 s", "-", "-", "-", "-", "yes", "-", "-"]
    assert "40 GFLOP/s" in tables(record)[0].title
    assert scaling == [["A", "2.00", "1.00", "2.00"]]
    assert cold == [["A", "0.5000", "9.00", "0.5000", "0.7500", "0.2500"]]
    assert sizes == [["1,000", "0.0020", "2.00", "3.0", "3000"]]


def test_headers_fit_rows_and_what_was_not_measured_has_no_table(record):
    assert all(len(row) == len(table.header) for table in tables(record) for row in table.rows)
    assert [table.title[:7] for table in tables({"workloads": record["workloads"]})] == ["Medians"]


def test_the_page_has_all_tables_and_says_where_they_were_measured(record):
    for row in record["workloads"]:
        row["met"] = targets_met(row)
    text = page({**record, "threads": 2, "machine": {"cpu": "some CPU"}, "versions": {"ghr": "1.2"}})
    assert "2 threads on cpu some CPU, with ghr 1.2; 2 of 3 targets are met" in text
    assert "| A  a training step | 0.5000 | 2.00 | 4.00 | >= 5 |" in text
    assert all(f"## {table.title}" in text for table in tables(record))

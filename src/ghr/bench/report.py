"""The tables that a record of measurements is printed as."""

from collections.abc import Sequence
from statistics import median
from typing import Any, NamedTuple


class TitledTable(NamedTuple):
    """A title, column names and rows of text."""

    title: str
    header: list[str]
    rows: list[list[str]]


def tables(record: dict[str, Any]) -> list[TitledTable]:
    """Return the tables of a record, without those that have nothing to show."""
    rows = record["workloads"]
    made = [
        _time([row for row in rows if row["speedup"] is not None]),
        _memory([row for row in rows if row.get("memory")]),
        _coarsening([row for row in rows if row["name"] in ("E", "F")]),
        _floor(record.get("product_speed"), [row for row in rows if row.get("floor_ratio")]),
        _scaling(record.get("scaling", [])),
        _cold(record.get("cold", [])),
        _sizes(record.get("sizes", [])),
    ]
    return [table for table in made if table.rows]


def targets_met(row: dict[str, Any]) -> dict[str, bool]:
    """Return for every target of a measured workload whether it is met; nothing for what was not measured."""
    targets, met = row["targets"], {}
    if targets["speedup"] is not None and row["speedup"] is not None:
        met["speedup"] = row["speedup"] >= targets["speedup"]
    if targets["memory"] is not None and row.get("memory"):
        met["memory"] = row["memory"]["ratio_above"] <= targets["memory"]
    if targets["seconds"] is not None:
        met["seconds"] = row["median"]["ghr"] < targets["seconds"]
    return met


def _time(rows: Sequence[dict[str, Any]]) -> TitledTable:
    header = ["workload", "ghr [s]", "plain [s]", "times faster", "target", "met", "output error", "gradient error"]
    return TitledTable(
        "Time, median, and error of ghr relative to plain code with the same weights",
        header,
        [
            [
                _label(row),
                _seconds(row["median"]["ghr"]),
                _seconds(row["median"]["plain"]),
                f"{row['speedup']:.2f}",
                _bound(">=", row["targets"]["speedup"]),
                _met(row, "speedup"),
                _error(row["errors"].get("output")),
                _error(row["errors"].get("gradient")),
            ]
            for row in rows
        ],
    )


def _memory(rows: Sequence[dict[str, Any]]) -> TitledTable:
    header = ["workload", "ghr peak", "plain peak", "ratio", "ghr above start", "plain above start", "ratio"]
    return TitledTable(
        "Memory in MB: peak of the process, and how far that is above the start of the work",
        [*header, "target", "met"],
        [
            [
                _label(row),
                _megabytes(row["memory"]["ghr"]["peak"]),
                _megabytes(row["memory"]["plain"]["peak"]),
                f"{row['memory']['ratio_peak']:.3f}",
                _megabytes(row["memory"]["ghr"]["above"]),
                _megabytes(row["memory"]["plain"]["above"]),
                f"{row['memory']['ratio_above']:.3f}",
                _bound("<=", row["targets"]["memory"]),
                _met(row, "memory"),
            ]
            for row in rows
        ],
    )


def _coarsening(rows: Sequence[dict[str, Any]]) -> TitledTable:
    return TitledTable(
        "Coarsening: 3 rounds of Graclus with coarse edges",
        ["workload", "nodes", "edges", "clusters", "seconds", "ns per edge", "target", "met"],
        [
            [
                row["name"],
                *(f"{row[key]:,}" for key in ("nodes", "edges", "clusters")),
                _seconds(row["median"]["ghr"]),
                f"{1e9 * row['median']['ghr'] / max(row['edges'], 1):.0f}",
                _bound("<", row["targets"]["seconds"]),
                _met(row, "seconds"),
            ]
            for row in rows
        ],
    )


def _floor(speed: float | None, rows: Sequence[dict[str, Any]]) -> TitledTable:
    return TitledTable(
        f"Time against that of the matrix products alone, at {(speed or 0) / 1e9:.1f} GFLOP/s",
        ["workload", "GFLOP", "floor [s]", "ghr [s]", "times the floor"],
        [
            [
                _label(row),
                f"{row['product_flops'] / 1e9:.2f}",
                _seconds(row["median"]["ghr"] / row["floor_ratio"]),
                _seconds(row["median"]["ghr"]),
                f"{row['floor_ratio']:.2f}",
            ]
            for row in rows
        ],
    )


def _scaling(rows: Sequence[dict[str, Any]]) -> TitledTable:
    return TitledTable(
        "Threads, ghr",
        ["workload", "1 thread [s]", "2 threads [s]", "times faster"],
        [
            [row["name"], *(_seconds(median(row["seconds"][count])) for count in "12"), f"{row['speedup']:.2f}"]
            for row in rows
        ],
    )


def _cold(rows: Sequence[dict[str, Any]]) -> TitledTable:
    header = ["workload", "build, empty cache [s]", "first call [s]", "build, filled cache [s]", "first call [s]"]
    return TitledTable(
        "New process, ghr: making the graphs and the first call, without and with compiled code on disk",
        [*header, "second call [s]"],
        [
            [
                row["name"],
                *(_seconds(row[cache][key]) for cache in ("empty", "filled") for key in ("build_seconds", "first")),
                _seconds(row["filled"]["seconds"][-1]),
            ]
            for row in (_with_first(row) for row in rows)
        ],
    )


def _sizes(rows: Sequence[dict[str, Any]]) -> TitledTable:
    return TitledTable(
        "Growth of inference, ghr",
        ["nodes", "seconds", "microseconds per node", "MB above start", "bytes per node"],
        [
            [
                f"{row['nodes']:,}",
                _seconds(row["median"]),
                f"{1e6 * row['median'] / row['nodes']:.2f}",
                _megabytes(row["above"]),
                f"{row['above'] / row['nodes']:.0f}",
            ]
            for row in rows
        ],
    )


def _with_first(row: dict[str, Any]) -> dict[str, Any]:
    return {
        "name": row["name"],
        **{key: {**row[key], "first": row[key]["seconds"][0]} for key in ("empty", "filled")},
    }


def _label(row: dict[str, Any]) -> str:
    return f"{row['name']:<2} {row['title']}"


def _seconds(value: float) -> str:
    return f"{value:.4f}" if value < 1 else f"{value:.2f}"


def _megabytes(value: int) -> str:
    return f"{value / 1e6:.1f}"


def _error(value: float | None) -> str:
    return "-" if value is None else f"{value:.1e}"


def _bound(sign: str, value: float | None) -> str:
    return "-" if value is None else f"{sign} {value:g}"


def _met(row: dict[str, Any], name: str) -> str:
    met = targets_met(row).get(name)
    return "-" if met is None else "yes" if met else "NO"

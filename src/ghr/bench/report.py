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
    made = [
        _workloads(record["workloads"], record.get("product_speed")),
        _scaling(record.get("scaling", [])),
        _cold(record.get("cold", [])),
        _sizes(record.get("sizes", [])),
    ]
    return [table for table in made if table.rows]


def page(record: dict[str, Any]) -> str:
    """Return a page in Markdown with all tables of a record, and where they were measured."""
    machine, found = record["machine"], [met for row in record["workloads"] for met in row["met"].values()]
    parts = ["# Benchmark", "![Time of plain code and of ghr, with their ratio](pictures/speed.png)"]
    parts.append(
        f"What `ghr bench` measured with {record['threads']} threads on {_say(machine)}, with "
        f"{_say(record['versions'])}; {sum(found)} of {len(found)} targets are met. [Speed and memory](speed.md) tells "
        "what the workloads are."
    )
    for table in tables(record):
        lines = [table.header, ["---", *["---:"] * (len(table.header) - 1)], *table.rows]
        parts.append(f"## {table.title}")
        parts.append("\n".join("| " + " | ".join(cells) + " |" for cells in lines))
    return "\n\n".join(parts) + "\n"


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


def _workloads(rows: Sequence[dict[str, Any]], speed: float | None) -> TitledTable:
    header = ["workload", "ghr [s]", "plain [s]", "times faster", "target", "memory [MB]", "of plain", "target"]
    at = "" if speed is None else f" at {speed / 1e9:.0f} GFLOP/s"
    return TitledTable(
        f"Medians of the time, peaks of memory above the start, and the floor: matrix products alone{at}",
        [*header, "floor [s]", "met", "output error", "gradient error"],
        [
            [
                _label(row),
                _seconds(row["median"]["ghr"]),
                _seconds(row["median"].get("plain")),
                "-" if row["speedup"] is None else f"{row['speedup']:.2f}",
                _time_bound(row["targets"]),
                _megabytes(row["memory"]["ghr"]["above"]) if row.get("memory") else "-",
                f"{row['memory']['ratio_above']:.3f}" if row.get("memory") else "-",
                _bound("<=", row["targets"]["memory"]),
                _seconds(row["median"]["ghr"] / row["floor_ratio"] if row.get("floor_ratio") else None),
                _met(row),
                _error(row["errors"].get("output")),
                _error(row["errors"].get("gradient")),
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


def _seconds(value: float | None) -> str:
    return "-" if value is None else f"{value:.4f}" if value < 1 else f"{value:.2f}"


def _megabytes(value: int) -> str:
    return f"{value / 1e6:.1f}"


def _error(value: float | None) -> str:
    return "-" if value is None else f"{value:.1e}"


def _bound(sign: str, value: float | None) -> str:
    return "-" if value is None else f"{sign} {value:g}"


def _time_bound(targets: dict[str, Any]) -> str:
    if targets["seconds"] is not None:
        return f"< {targets['seconds']:g} s"
    return _bound(">=", targets["speedup"])


def _met(row: dict[str, Any]) -> str:
    met = targets_met(row).values()
    return ("yes" if all(met) else "NO") if met else "-"


def _say(facts: dict[str, Any]) -> str:
    return ", ".join(f"{name} {value}" for name, value in facts.items())

"""Tables and numbers in Markdown."""

from collections.abc import Sequence

from ghr.paper.results import Spread


def markdown_table(header: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Return a Markdown table, the first column to the left and the others to the right.

    Example:
        >>> print(markdown_table(["model", "error"], [["GHR", "0.01"]]))
        | model | error |
        |---|---:|
        | GHR | 0.01 |
    """
    lines = [header, ["---"] + ["---:"] * (len(header) - 1)]
    text = ["| " + " | ".join(lines[0]) + " |", "|" + "|".join(lines[1]) + "|"]
    return "\n".join([*text, *("| " + " | ".join(row) + " |" for row in rows)])


def number(value: float | None, digits: int = 3) -> str:
    """Return a number with so many digits after the point, or a dash for none."""
    return "-" if value is None else f"{value:.{digits}f}"


def spread(value: Spread | None, digits: int = 3) -> str:
    """Return mean and deviation, such as ``0.146 ± 0.012``, the mean alone of a single seed, or a dash for none."""
    if value is None or value.std is None:
        return number(None if value is None else value.mean, digits)
    return f"{value.mean:.{digits}f} ± {value.std:.{digits}f}"

"""Tables and numbers in Markdown."""

from collections.abc import Sequence

from ghr.paper.results import Spread

MOST = 1e6  # errors from here on are shown as powers of ten


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


def any_size(value: float | None, digits: int = 3) -> str:
    """Return a number as :func:`number` does, or as a power of ten where it is above a million or would read as zero.

    Example:
        >>> any_size(0.25), any_size(0.0), any_size(0.00000149)
        ('0.250', '0.000', '1.5e-06')
    """
    if value is not None and value != 0 and not 0.5 * 10**-digits <= abs(value) < MOST:
        return f"{value:.1e}"
    return number(value, digits)


def spread(value: Spread | None, digits: int = 3) -> str:
    """Return mean and deviation, such as ``0.146 ± 0.012``, the mean alone of a single seed, or a dash for none."""
    if value is None or value.std is None:
        return number(None if value is None else value.mean, digits)
    return f"{value.mean:.{digits}f} ± {value.std:.{digits}f}"

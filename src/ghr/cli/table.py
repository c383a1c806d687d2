"""Tables for the terminal."""

from collections.abc import Collection, Sequence


def table(header: Sequence[str], rows: Sequence[Sequence[str]], *, left: Collection[int] = (0,)) -> str:
    """Return rows under a header, the first column to the left and the others to the right.

    Args:
        header: Titles of the columns.
        rows: Cells of every row.
        left: Which columns stand to the left.

    Example:
        >>> print(table(["model", "error"], [["GHR", "0.01"], ["deep GINE", "1.60"]]))
        model      error
        GHR         0.01
        deep GINE   1.60
    """
    widths = [max(len(row[column]) for row in [header, *rows]) for column in range(len(header))]

    def line(row: Sequence[str]) -> str:
        cells = enumerate(zip(row, widths, strict=True))
        aligned = [cell.ljust(width) if place in left else cell.rjust(width) for place, (cell, width) in cells]
        return "  ".join(aligned).rstrip()

    return "\n".join(map(line, [header, *rows]))

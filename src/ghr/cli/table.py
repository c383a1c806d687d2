"""Tables for the terminal."""

from collections.abc import Sequence


def table(header: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Return rows under a header, the first column to the left and the others to the right.

    Example:
        >>> print(table(["model", "error"], [["GHR", "0.01"], ["deep GINE", "1.60"]]))
        model      error
        GHR         0.01
        deep GINE   1.60
    """
    widths = [max(len(row[column]) for row in [header, *rows]) for column in range(len(header))]

    def line(row: Sequence[str]) -> str:
        first, *rest = zip(row, widths, strict=True)
        return "  ".join([first[0].ljust(first[1]), *(cell.rjust(width) for cell, width in rest)]).rstrip()

    return "\n".join(map(line, [header, *rows]))

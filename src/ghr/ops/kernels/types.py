"""Names for the arrays that kernels take."""

from typing import Any, TypeAlias

import numpy.typing as npt

Array: TypeAlias = npt.NDArray[Any]


PART = 256  # rows that are worth being shared out


def chunk_count(num_rows: int) -> int:
    """Return into how many parts rows are cut, however many threads share them: sums do not depend on that."""
    return max(1, min(256, num_rows // PART))

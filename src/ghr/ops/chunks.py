"""How rows are shared out among threads."""

PART = 256  # rows that are worth being shared out


def chunk_count(num_rows: int) -> int:
    """Return into how many parts rows are cut, however many threads share them: sums do not depend on that."""
    return max(1, min(256, num_rows // PART))

"""How rows are shared out among threads."""

PART = 256  # rows that are worth being shared out
SMALL_PART = 32  # rows of a graph of its own that are, since several updates run on it without waiting for others
EVEN = 16  # parts by which threads end at about the same time


def chunk_count(num_rows: int) -> int:
    """Return into how many parts rows are cut, however many threads share them: sums do not depend on that."""
    return max(1, min(256, num_rows // PART))


def separate_size(num_rows: int) -> int:
    """Return how many rows a part has at least which no edge joins to others; where there are few rows, fewer."""
    return min(PART, max(SMALL_PART, num_rows // EVEN))

"""What a workload shall reach."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Targets:
    """Bounds that a measurement meets or misses; ``None`` where there is none.

    Args:
        speedup: At least so many times faster than plain code.
        memory: At most this part of the memory that plain code takes above the start of the work.
        seconds: Less than so many seconds.
    """

    speedup: float | None = None
    memory: float | None = None
    seconds: float | None = None


NO_TARGETS = Targets()

"""How much memory there is, said before it runs out."""

import os


def physical_memory() -> int | None:
    """Return the bytes of memory of this machine; ``None`` where the system does not say."""
    try:
        return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    except (AttributeError, ValueError, OSError):
        return None


def check_memory(what: str, needed: int, remedy: str) -> None:
    """Raise a ValueError if something needs more memory than the machine has.

    Args:
        what: What needs it, as the start of a sentence.
        needed: Bytes.
        remedy: What to do instead.
    """
    there = physical_memory()
    if there is not None and needed > there:
        raise ValueError(
            f"{what} needs {needed / 2**30:,.0f} GiB of memory, and the machine has {there / 2**30:,.0f}; {remedy}."
        )

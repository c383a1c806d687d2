"""Checks of options, with a sentence where one is wrong."""

import math
from collections.abc import Iterable
from numbers import Integral, Real
from typing import Any


def whole(name: str, value: Any, least: int) -> int:
    """Return a whole number of at least ``least``, or raise a ValueError."""
    if not isinstance(value, Integral) or isinstance(value, bool) or value < least:
        raise ValueError(f"{name} must be a whole number of at least {least}; got {value!r}.")
    return int(value)


def positive(name: str, value: Any) -> float:
    """Return a positive finite number, or raise a ValueError."""
    if not isinstance(value, Real) or not 0 < float(value) < math.inf:
        raise ValueError(f"{name} must be a positive number; got {value!r}.")
    return float(value)


def one_of(name: str, value: Any, known: Iterable[Any]) -> None:
    """Raise a ValueError that lists the known values if this is not one of them."""
    values = list(known)
    if value not in values:
        raise ValueError(f"Unknown {name} {value!r}; known are {', '.join(map(str, values))}.")

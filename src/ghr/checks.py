"""Checks of options, the one home of them: each returns the value it was given, or raises a sentence."""

import math
from collections.abc import Hashable, Iterable
from difflib import get_close_matches
from numbers import Integral, Real
from typing import Any, TypeVar

Value = TypeVar("Value")
LONGEST = 80  # characters of a value in a sentence
MOST = 2**63 - 1  # larger numbers fit into no tensor and into few files


def check_whole(name: str, value: Any, least: int = 1, most: int = MOST, *, also: str = "") -> int:
    """Return a whole number in ``least .. most``, or raise a ValueError.

    Args:
        name: What the number is called in the sentence.
        value: What was given; whole numbers of numpy are taken too, ``True`` and ``False`` are not.
        least: The smallest that is right.
        most: The largest that is right.
        also: What else would be right, such as ``' or "auto"'``.
    """
    if isinstance(value, bool) or not isinstance(value, Integral) or int(value) < least:
        raise ValueError(f"{name} must be a whole number of at least {least}{also}; got {show(value)}.")
    if int(value) > most:
        raise ValueError(f"{name} must be a whole number of at most {most}{also}; got {show(value)}.")
    return int(value)


def check_number(
    name: str, value: Any, *, above: float = -math.inf, least: float = -math.inf, most: float = math.inf, also: str = ""
) -> float:
    """Return a finite number in the given bounds, or raise a ValueError.

    Args:
        name: What the number is called in the sentence.
        value: What was given.
        above: It must be larger than this.
        least: It must be at least this.
        most: It must be at most this.
        also: What else would be right, such as ``" or None"``.
    """
    number = _as_float(value)
    if not (math.isfinite(number) and number > above and least <= number <= most):
        bounds = [f"above {above:g}"] if above > -math.inf else []
        bounds += [f"of at least {least:g}"] if least > -math.inf else []
        bounds += [f"of at most {most:g}"] if most < math.inf else []
        words = " and ".join(bounds)
        raise ValueError(f"{name} must be a finite number{' ' * bool(words)}{words}{also}; got {show(value)}.")
    return number


def check_choice(name: str, value: Value, known: Iterable[Any]) -> Value:
    """Return one of the known values, or raise a ValueError that lists them."""
    values = list(known)
    try:
        found = isinstance(value, Hashable) and value in values  # an array of one word is equal to that word
    except (TypeError, ValueError, RuntimeError):  # tensors compare entry by entry
        found = False
    if not found:
        listed = ", ".join(map(str, values))
        raise ValueError(f"Unknown {name} {show(value)}; known are {listed}.{suggest(value, values)}")
    return value


def check_flag(name: str, value: Any) -> bool:
    """Return true or false, or raise a ValueError: a word such as ``"no"`` would count as true."""
    if not isinstance(value, bool):
        raise ValueError(f"{name} must be True or False; got {show(value)}.")
    return value


def check_names(what: str, given: Iterable[str], known: Iterable[str]) -> None:
    """Raise a ValueError that lists the known names if one of those given is not among them.

    Args:
        what: What has these options, such as ``GHR`` or ``the training``.
        given: Names as a user gave them.
        known: Names that there are.
    """
    names = list(known)
    unknown = [name for name in given if name not in names]
    if unknown:
        options = ", ".join(sorted(names)) or "none"
        hint = "".join(suggest(name, names) for name in unknown)
        raise ValueError(f"{what} has no option {', '.join(map(show, unknown))}; known are {options}.{hint}")


def show(value: Any) -> str:
    """Return what a value looks like in one short line: an array may take pages."""
    try:
        text = " ".join(repr(value).split())
    except ValueError:  # Python does not print numbers of thousands of digits
        return f"a value of type {type(value).__name__} that is too long to print"
    return text if len(text) <= LONGEST else f"{text[: LONGEST - 20]} ... {text[-15:]}"


def suggest(value: Any, known: Iterable[Any]) -> str:
    """Return a question that names what was probably meant, where something comes close."""
    close = get_close_matches(value, [str(name) for name in known]) if isinstance(value, str) else []
    return f" Did you mean {' or '.join(close)}?" if close else ""


def _as_float(value: Any) -> float:
    """Return a number as Python has it; NaN for what is none."""
    if isinstance(value, bool) or not isinstance(value, Real):
        return math.nan
    try:
        return float(value)
    except OverflowError:
        return math.inf

"""Progress bars with the time left, for whatever takes more than two seconds."""

import logging
import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any, TypeVar, cast

from tqdm import tqdm

logger = logging.getLogger("ghr")
Item = TypeVar("Item")
DELAY = 2.0  # seconds after which a bar is worth its line
_hidden: ContextVar[bool] = ContextVar("hidden", default=False)


def track(items: Iterable[Item], description: str, *, unit: str = "it") -> Iterable[Item]:
    """Give the items one by one, with a bar if that takes long and stands in a terminal.

    There is none where bars are hidden or logging is switched off.

    Args:
        items: Anything to loop over; with a length, the bar has the time left.
        description: Title of the bar.
        unit: What the items are.
    """
    return cast(Iterable[Item], tqdm(items, desc=description, unit=unit, **_options()))


def make_bar(description: str, total: int | None, *, done: int = 0, unit: str = "it", scale: bool = False) -> Any:
    """Return a bar to be moved by hand, used as ``with make_bar(...) as bar: bar.update(1)``; else as :func:`track`.

    Args:
        description: Title of the bar.
        total: How far it goes; ``None`` where that is not known yet.
        done: Where it starts.
        unit: What is counted.
        scale: Whether to count in thousands and millions.
    """
    return tqdm(desc=description, total=total, initial=done, unit=unit, unit_scale=scale, **_options())


def say(line: str) -> None:
    """Write a line to the error output, above the bars; nothing where bars are hidden or logging is switched off."""
    if _options()["disable"] is None:
        tqdm.write(line, file=sys.stderr)


@contextmanager
def hide_bars(hidden: bool = True) -> Iterator[None]:
    """Show no bars in a block of code.

    Args:
        hidden: With false the block changes nothing: bars that somebody else hides stay hidden.
    """
    token = _hidden.set(_hidden.get() or hidden)
    try:
        yield
    finally:
        _hidden.reset(token)


def _options() -> dict[str, Any]:
    hidden = _hidden.get() or not logger.isEnabledFor(logging.WARNING)
    return {"delay": DELAY, "leave": False, "disable": True if hidden else None}  # None hides them outside terminals

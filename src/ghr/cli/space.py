"""What a search chooses from, as it is written on the command line: ``--vary lr=1e-4:1e-2:log pool=max,mean``."""

import json
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

from ghr.cli.settings import parse_value, split_settings
from ghr.search import Choice, Range, Space

HOW = "write low:high, low:high:log or values with commas between"


def parse_space(file: Path | None, vary: Iterable[Iterable[str]]) -> Space:
    """Return what a user wants to be chosen, from a file and from ``--vary``, which wins.

    Args:
        file: A JSON object: for names of settings a list of values, a text as behind ``--vary``, or an object with
            ``low``, ``high`` and ``log``.
        vary: What stood behind every ``--vary``.

    Example:
        >>> parse_space(None, [["lr=1e-4:1e-2:log", "pool=max,mean"]])
        {'lr': Range(low=0.0001, high=0.01, log=True), 'pool': Choice(values=['max', 'mean'])}
    """
    space = {} if file is None else {name: _read(value, f"{name} in {file}") for name, value in _load(file).items()}
    given = split_settings(vary, "--vary", "steps=2:6")
    return space | {name: parse_choice(text, f"--vary {name}") for name, text in given.items()}


def parse_choice(text: str, where: str) -> Range | Choice:
    """Return a range, ``low:high`` or ``low:high:log``, or values with commas between.

    Args:
        text: As the user wrote it.
        where: What it belongs to, for sentences.
    """
    if ":" not in text or text.lstrip().startswith(("[", "{", '"')):
        values = parse_value(text, where)
        if not isinstance(values, list):
            raise ValueError(f"{where} has one value, which is nothing to choose from; {HOW}. Got {text!r}.")
        return _explain(where, Choice, values)
    low, high, *scale = (part.strip() for part in text.split(":"))
    ends = [parse_value(end) if end else None for end in (low, high)]
    if scale not in ([], ["log"]) or not all(type(end) in (int, float) for end in ends):
        raise ValueError(f"{where} is no range; {HOW}. Got {text!r}.")
    return _explain(where, Range, *ends, bool(scale))


def _load(file: Path) -> dict[str, Any]:
    try:
        space = json.loads(file.read_text())
    except (ValueError, RecursionError) as error:
        raise ValueError(f"{file} is not JSON: {error}.") from error
    if not isinstance(space, dict) or not space:
        raise ValueError(f"{file} must hold a JSON object with names of settings and what to choose from.")
    return space


def _read(value: Any, where: str) -> Range | Choice:
    if isinstance(value, str):
        return parse_choice(value, where)
    if isinstance(value, list):
        return _explain(where, Choice, value)
    if isinstance(value, dict) and {"low", "high"} <= value.keys() <= {"low", "high", "log"}:
        return _explain(where, Range, value["low"], value["high"], value.get("log", False))
    raise ValueError(f"{where} must be a list, a text such as '1e-4:1e-2:log', or low, high and log; got {value!r}.")


def _explain(where: str, make: Callable[..., Range | Choice], *arguments: Any) -> Range | Choice:
    try:
        return make(*arguments)
    except ValueError as error:
        raise ValueError(f"{where}: {error}") from error

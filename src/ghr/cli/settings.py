"""Settings as they are written on the command line: ``--set steps=8 pool=max t_high=[2,1] patience=none``."""

import json
import math
import re
from collections.abc import Iterable, Mapping
from typing import Annotated, Any

import tyro

# Every --set takes one or more, and may be given again.
KeyValue = Annotated[tyro.conf.UseAppendAction[tuple[tuple[str, ...], ...]], tyro.conf.arg(metavar="KEY=VALUE ...")]
WORDS: Mapping[str, Any] = {"none": None, "true": True, "false": False}


def parse_settings(given: Iterable[Iterable[str]], option: str = "--set") -> dict[str, Any]:
    """Return the settings that a user gave, by name.

    Args:
        given: What stood behind every ``--set``, each as ``key=value``.
        option: What the option is called, for sentences.

    Example:
        >>> parse_settings([["steps=8", "edge_reduce=min,mean"], ["patience=none"]])
        {'steps': 8, 'edge_reduce': ['min', 'mean'], 'patience': None}
    """
    return {name: parse_value(value, f"{option} {name}") for name, value in split_settings(given, option).items()}


def split_settings(given: Iterable[Iterable[str]], option: str = "--set", example: str = "steps=4") -> dict[str, str]:
    """Return the text behind every name; arguments as in :func:`parse_settings`, and an example for sentences."""
    found: dict[str, str] = {}
    for group in given:
        texts = list(group)
        if not texts:
            raise ValueError(f"{option} needs a name and a value, such as {option} {example}; got nothing.")
        for text in texts:
            name, equals, value = text.partition("=")
            name = name.strip()
            if not equals:
                raise ValueError(f"{option} needs a name and a value, such as {option} {example}; got {text!r}.")
            if not name:
                raise ValueError(f"{option} needs a name before the equals sign; got {text!r}.")
            if name in found:
                raise ValueError(f"{option} gives {name} twice, as {found[name]!r} and as {value!r}; give it once.")
            found[name] = value
    return found


def parse_value(text: str, where: str = "The value") -> Any:
    """Return a value: as JSON if it is that, else a number, a word, or a list of such with commas between.

    Args:
        text: As the user wrote it.
        where: What it belongs to, for sentences.
    """
    text = text.strip()
    if not text:
        raise ValueError(f"{where} is empty; write a value, or none.")
    known = _parse_alone(text)
    if known is not _UNKNOWN:
        return known
    inner = text[1:-1] if text.startswith("[") and text.endswith("]") else text
    if inner == text and "," not in text:
        return text
    parts = [part.strip() for part in inner.split(",")]
    if not all(parts):
        raise ValueError(f"{where} is a list with an empty entry; got {text!r}.")
    values = [_parse_alone(part) for part in parts]
    return [part if value is _UNKNOWN else value for part, value in zip(parts, values, strict=True)]


def merge_settings(settings: Mapping[str, Any], **short: Any) -> dict[str, Any]:
    """Return settings with those that have an option of their own, such as ``--epochs``, unless it was not given."""
    given = {name: value for name, value in short.items() if value is not None}
    for name in given:
        if name in settings:
            raise ValueError(f"{name} is given twice, by --{name} and by --set; give it once.")
    return {**settings, **given}


def format_settings(settings: Mapping[str, Any]) -> list[str]:
    """Return settings as a user writes them, ``key=value`` each; :func:`parse_settings` reads them back.

    Example:
        >>> format_settings({"lr": 0.001, "pool": "max", "t_high": [2, 1]})
        ['lr=0.001', 'pool=max', 't_high=[2,1]']
    """
    return [f"{name}={format_value(value)}" for name, value in settings.items()]


def format_value(value: Any) -> str:
    """Return a value as a user writes it; :func:`parse_value` reads it back."""
    plain = isinstance(value, str) and re.fullmatch(r"[A-Za-z_][\w.-]*", value)
    if plain and _parse_alone(value) is _UNKNOWN:
        return str(value)
    return "none" if value is None else json.dumps(value, separators=(",", ":"))


_UNKNOWN = object()


def _parse_alone(text: str) -> Any:
    """Return what a text without a list means, or ``_UNKNOWN`` if it is a word."""
    if text.lower() in WORDS:
        return WORDS[text.lower()]
    try:
        return json.loads(text, parse_constant=_refuse)
    except (ValueError, RecursionError):
        pass
    try:
        number = float(text)  # JSON has no ".5", "5." and "+5"
    except ValueError:
        return _UNKNOWN
    if not math.isfinite(number):
        return _UNKNOWN
    return int(number) if re.fullmatch(r"[+-]?\d+", text) else number


def _refuse(constant: str) -> Any:
    raise ValueError(f"{constant} is not a number of JSON.")

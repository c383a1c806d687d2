"""What the paper says in words, held against our numbers."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from ghr.paper.markdown import markdown_table


@dataclass(frozen=True)
class Claim:
    """A sentence of the paper with a number that decides it.

    Args:
        text: The sentence, with the limit that we draw where the paper draws none.
        measured: Our numbers, by whose they are; ``None`` where a model is not run.
        holds: Whether they are within the limit; ``None`` where that cannot be said.
    """

    text: str
    measured: dict[str, float | None]
    holds: bool | None

    @classmethod
    def below(cls, text: str, limit: float, measured: dict[str, float | None]) -> "Claim":
        """Return a claim that holds if all numbers are at most ``limit``."""
        return cls(text, measured, _decide(measured.values(), lambda value: value <= limit))

    @classmethod
    def above(cls, text: str, limit: float, measured: dict[str, float | None]) -> "Claim":
        """Return a claim that holds if all numbers are at least ``limit``."""
        return cls(text, measured, _decide(measured.values(), lambda value: value >= limit))

    @classmethod
    def lowest(cls, text: str, measured: dict[str, float | None]) -> "Claim":
        """Return a claim that holds if the first number is below all others."""
        first, *others = measured.values()
        return cls(text, measured, None if first is None else _decide(others, lambda value: first < value))


def _decide(values: Iterable[float | None], fits: Callable[[float], bool]) -> bool | None:
    """One number that does not fit decides; otherwise all are needed."""
    found = [*values]
    if any(value is not None and not fits(value) for value in found):
        return False
    return None if None in found else True


def claims_table(claims: Sequence[Claim]) -> str:
    """Return the claims, our numbers and whether they hold, in Markdown."""
    words = {True: "yes", False: "**no**", None: "not known: not all is run"}
    lines = []
    for claim in claims:
        numbers = [f"{name} {'not run' if value is None else f'{value:.3f}'}" for name, value in claim.measured.items()]
        lines.append([claim.text, "; ".join(numbers), words[claim.holds]])
    return markdown_table(["the paper's claim", "measured", "holds here"], lines)

"""How wide a model may be for a given number of parameters."""

from collections.abc import Callable

from ghr.checks import check_whole
from ghr.nn.encoder import MOST_WIDTH

TOLERANCE = 0.1


class About(int):
    """A number of parameters that nobody asked for: a model comes as close to it as it can."""


def find_width(count: Callable[[int], int], budget: int, *, multiple: int = 1) -> int:
    """Return the width with which a model comes closest to a number of parameters.

    Args:
        count: How many parameters the model has with a width; more with a larger one.
        budget: The number of parameters wanted; see :class:`About`.
        multiple: What the width must be a multiple of.

    Raises:
        ValueError: If no width comes within ten percent.
    """
    strict, budget = not isinstance(budget, About), check_whole("budget", budget)
    low, high = 0, 1  # in multiples; `low` has too few parameters, or is nothing
    while count(high * multiple) < budget and high * multiple <= MOST_WIDTH // 2:
        low, high = high, 2 * high
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if count(middle * multiple) < budget else (low, middle)
    widths = [width * multiple for width in (low, high) if width > 0]
    best = min(widths, key=lambda width: abs(count(width) - budget))
    if strict and abs(count(best) - budget) > TOLERANCE * budget:
        found = " and ".join(f"{count(width):,} with a width of {width}" for width in widths)
        raise ValueError(
            f"No width brings the model within 10 % of a budget of {budget:,} parameters: it has {found}; change the "
            "number of layers, or give hidden_channels."
        )
    return best

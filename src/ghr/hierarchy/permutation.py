"""Random orders inside compiled code: the very permutations that numpy's default generator draws, without its calls."""

from functools import lru_cache
from typing import Any

import numpy as np
import numpy.typing as npt

from ghr.jit import compiled

State = npt.NDArray[np.uint64]

_MULTIPLIER = 0x2360ED051FC65DA44385DF649FCCF645  # of PCG64, a linear congruential generator of 128 bits
_HIGH, _LOW = np.uint64(_MULTIPLIER >> 64), np.uint64(_MULTIPLIER % 2**64)
_HALF, _HALF_MASK = np.uint64(32), np.uint64(2**32 - 1)


def random_state(seed: int) -> State:
    """Return the state of ``numpy.random.default_rng(seed)`` for :func:`permutation`, which moves it on.

    Its words are the two halves of the state, the two of the increment, and 32 bits left over from the last draw with
    a mark that they are there.
    """
    return np.array(_words(seed), np.uint64)


@lru_cache(maxsize=16)
def _words(seed: int) -> tuple[int, ...]:
    start: Any = np.random.PCG64(seed).state["state"]
    return (*divmod(start["state"], 2**64), *divmod(start["inc"], 2**64), 0, 0)


@compiled
def permutation(state: State, size: int) -> npt.NDArray[np.int32]:
    """Return the numbers below `size` in random order: the shuffle of Fisher and Yates."""
    order = np.arange(size).astype(np.int32)
    mask = np.uint64(1)
    while mask < np.uint64(size):
        mask = mask << np.uint64(1) | np.uint64(1)
    for last in range(size - 1, 0, -1):
        if mask >> np.uint64(1) >= np.uint64(last):
            mask = mask >> np.uint64(1)
        chosen = _draw(state) & mask
        while chosen > np.uint64(last):
            chosen = _draw(state) & mask
        order[last], order[chosen] = order[chosen], order[last]
    return order


@compiled
def _draw(state: State) -> Any:
    """Return 32 random bits: a step of the generator gives 64, the lower half first."""
    if state[5]:
        state[5] = 0
        return state[4]
    high, low = state[0], state[1]
    new_low = low * _LOW + state[3]
    carry = np.uint64(new_low < state[3])
    high = high * _LOW + low * _HIGH + _upper(low, _LOW) + state[2] + carry
    state[0], state[1] = high, new_low
    turn = high >> np.uint64(58)
    mixed = high ^ new_low
    word = (mixed >> turn) | (mixed << (np.uint64(64) - turn & np.uint64(63)))
    state[4], state[5] = word >> _HALF, 1
    return word & _HALF_MASK


@compiled
def _upper(a: Any, b: Any) -> Any:
    """Return the upper 64 bits of the product of two words."""
    a_high, a_low, b_high, b_low = a >> _HALF, a & _HALF_MASK, b >> _HALF, b & _HALF_MASK
    middle = a_high * b_low + (a_low * b_low >> _HALF)
    return a_high * b_high + (middle >> _HALF) + ((a_low * b_high + (middle & _HALF_MASK)) >> _HALF)

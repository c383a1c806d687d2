"""Which graphs form a batch, which process takes which, and how many steps they run.

Everything is a function of the seed and the epoch alone, so that a resumed run needs no saved random state and every
process knows the batches of all others.
"""

import random

import numpy as np
import torch

_ORDER, _JITTER, _MODEL = range(3)


def epoch_batches(size: int, batch_size: int, *, seed: int, epoch: int) -> list[list[int]]:
    """The indices ``0 .. size-1`` in the order of this epoch, cut into batches; the last one may be smaller."""
    order: list[int] = torch.randperm(size, generator=_generator(seed, epoch, _ORDER)).tolist()
    return [order[start : start + batch_size] for start in range(0, size, batch_size)]


def local_share(batch: list[int], *, rank: int, world: int) -> tuple[list[int], bool]:
    """The part of a global batch that process ``rank`` of ``world`` takes, and whether it counts.

    A process left without a graph takes one that does not count: it has to take part in every step, since the others
    wait for its gradient.
    """
    share = batch[rank::world]
    return (share, True) if share else (batch[:1], False)


def jittered_steps(steps: int, count: int, *, seed: int, epoch: int) -> list[int]:
    """For each of ``count`` batches, one step fewer, the same or one more than ``steps``, but at least one."""
    offsets: list[int] = torch.randint(-1, 2, (count,), generator=_generator(seed, epoch, _JITTER)).tolist()
    return [max(1, steps + offset) for offset in offsets]


def seed_everything(seed: int, epoch: int, rank: int) -> None:
    """Seed torch, numpy and random for one epoch of one process (dropout and the like)."""
    number = _number(seed, epoch, _MODEL, rank)
    torch.manual_seed(number)
    np.random.seed(number % 2**32)
    random.seed(number)


def _generator(*key: int) -> torch.Generator:
    return torch.Generator().manual_seed(_number(*key))


def _number(*key: int) -> int:
    # Adding or multiplying the parts would give (seed 0, epoch 1) and (seed 1, epoch 0) the same stream.
    return int(np.random.SeedSequence(key).generate_state(1, np.uint64)[0])

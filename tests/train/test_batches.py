import random

import numpy as np
import torch
from hypothesis import given
from hypothesis import strategies as st

from ghr.train.batches import epoch_batches, jittered_steps, local_share, seed_everything


@given(size=st.integers(1, 60), batch_size=st.integers(1, 20), seed=st.integers(0, 2**40), epoch=st.integers(0, 999))
def test_batches_partition_the_set(size: int, batch_size: int, seed: int, epoch: int) -> None:
    batches = epoch_batches(size, batch_size, seed=seed, epoch=epoch)
    assert sorted(index for batch in batches for index in batch) == list(range(size))
    assert all(len(batch) == batch_size for batch in batches[:-1])
    assert 1 <= len(batches[-1]) <= batch_size
    assert batches == epoch_batches(size, batch_size, seed=seed, epoch=epoch)


def test_order_changes_with_seed_and_epoch() -> None:
    orders = {tuple(epoch_batches(50, 50, seed=seed, epoch=epoch)[0]) for seed in range(5) for epoch in range(5)}
    assert len(orders) == 25


@given(batch=st.lists(st.integers(0, 99), min_size=1, max_size=20, unique=True), world=st.integers(1, 25))
def test_shares_partition_the_batch(batch: list[int], world: int) -> None:
    shares = [local_share(batch, rank=rank, world=world) for rank in range(world)]
    assert sorted(index for share, counts in shares if counts for index in share) == sorted(batch)
    assert all(share == [batch[0]] for share, counts in shares if not counts)
    assert sum(not counts for _, counts in shares) == max(0, world - len(batch))


def test_jitter_draws_one_fewer_the_same_or_one_more() -> None:
    for epoch in range(3):
        drawn = jittered_steps(4, 300, seed=0, epoch=epoch)
        assert set(drawn) == {3, 4, 5}
        assert all(60 < drawn.count(steps) < 140 for steps in (3, 4, 5))
        assert drawn == jittered_steps(4, 300, seed=0, epoch=epoch)
    assert jittered_steps(4, 300, seed=0, epoch=0) != jittered_steps(4, 300, seed=0, epoch=1)


def test_jitter_leaves_at_least_one_step() -> None:
    assert set(jittered_steps(1, 100, seed=0, epoch=0)) == {1, 2}


def test_seeds_every_generator_by_seed_epoch_and_rank() -> None:
    def draw(seed: int, epoch: int, rank: int) -> tuple[float, float, float]:
        seed_everything(seed, epoch, rank)
        return torch.rand(()).item(), float(np.random.rand()), random.random()

    first = draw(0, 1, 0)
    others = [draw(1, 0, 0), draw(0, 0, 1), draw(0, 2, 0)]
    assert draw(0, 1, 0) == first
    for other in others:
        assert all(a != b for a, b in zip(first, other, strict=True))

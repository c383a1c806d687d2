import math
import random

import pytest
import torch
from torch.optim.lr_scheduler import CosineAnnealingLR, ReduceLROnPlateau

from ghr.train.config import TrainConfig
from ghr.train.schedule import Schedule


def schedule(config: TrainConfig) -> Schedule:
    return Schedule(torch.optim.SGD([torch.nn.Parameter(torch.zeros(1))], lr=config.lr), config)


def rates(moving: Schedule, vals: list[float]) -> list[float]:
    found = []
    for val in vals:
        found.append(moving.lr)
        moving.optimizer.step()
        moving.step(val)
    return found


def test_constant_stays() -> None:
    assert rates(schedule(TrainConfig(lr=0.1)), [1.0] * 5) == [0.1] * 5


def test_cosine_falls_to_min_lr() -> None:
    found = rates(schedule(TrainConfig(lr=0.1, min_lr=0.02, schedule="cosine", epochs=4)), [1.0] * 5)
    expected = [0.02 + 0.08 * (1 + math.cos(math.pi * epoch / 4)) / 2 for epoch in range(5)]
    assert found == pytest.approx(expected)


def test_exponential_falls_to_min_lr_by_the_same_part_every_epoch() -> None:
    found = rates(schedule(TrainConfig(lr=0.1, min_lr=1e-5, schedule="exponential", epochs=4)), [1.0] * 6)
    assert found == pytest.approx([1e-1, 1e-2, 1e-3, 1e-4, 1e-5, 1e-5])


def test_plateau_waits_and_stops_at_min_lr() -> None:
    config = TrainConfig(lr=0.1, min_lr=0.04, schedule="plateau", plateau_patience=1, plateau_factor=0.5)
    assert rates(schedule(config), [1.0] * 7) == pytest.approx([0.1, 0.1, 0.1, 0.05, 0.05, 0.04, 0.04])


@pytest.mark.parametrize("name", ["constant", "cosine", "exponential", "plateau"])
def test_goes_on_where_it_was(name: str) -> None:
    config = TrainConfig(lr=0.1, schedule=name, epochs=10, plateau_patience=1)  # type: ignore[arg-type]
    vals = [1.0, 0.5, 0.6, 0.7, 0.8, 0.9, 0.4, 0.5]
    whole = rates(schedule(config), vals)
    first = schedule(config)
    assert rates(first, vals[:4]) == whole[:4]
    second = schedule(config)
    second.optimizer.load_state_dict(first.optimizer.state_dict())
    second.load_state_dict(first.state_dict())
    assert rates(second, vals[4:]) == whole[4:]


@pytest.mark.parametrize("name", ["cosine", "exponential"])
def test_a_longer_fall_goes_on_as_if_it_had_always_been_longer(name: str) -> None:
    short, long = (TrainConfig(lr=0.1, schedule=name, epochs=epochs) for epochs in (3, 6))  # type: ignore[arg-type]
    first, second = schedule(short), schedule(long)
    rates(first, [1.0] * 3)
    second.optimizer.load_state_dict(first.optimizer.state_dict())
    second.load_state_dict(first.state_dict())
    assert rates(second, [1.0] * 3) == rates(schedule(long), [1.0] * 6)[3:]


def torch_rates(kind: str, config: TrainConfig, vals: list[float]) -> list[float]:
    optimizer = torch.optim.SGD([torch.nn.Parameter(torch.zeros(1))], lr=config.lr)
    plateau = ReduceLROnPlateau(
        optimizer, factor=config.plateau_factor, patience=config.plateau_patience, min_lr=config.min_lr
    )
    cosine = CosineAnnealingLR(optimizer, config.epochs, config.min_lr)
    found = []
    for val in vals:
        found.append(optimizer.param_groups[0]["lr"])
        optimizer.step()
        plateau.step(val) if kind == "plateau" else cosine.step()
    return found


@pytest.mark.parametrize("kind", ["plateau", "cosine"])
def test_equals_the_schedule_of_pytorch(kind: str) -> None:
    chance = random.Random(0)
    vals = [1 / epoch + chance.uniform(0, 0.3) for epoch in range(1, 61)]
    vals[20:22] = [vals[0] * 1e-3, vals[0] * 1e-3 * (1 - 5e-5)]  # too little to count
    config = TrainConfig(lr=0.1, min_lr=1e-3, schedule=kind, epochs=60, plateau_patience=2)  # type: ignore[arg-type]
    assert rates(schedule(config), vals) == pytest.approx(torch_rates(kind, config, vals), rel=1e-9)


@pytest.mark.parametrize("error", [-0.8, -5.0, 0.0, -math.inf])
def test_an_error_that_stays_below_zero_is_a_plateau_too(error: float) -> None:
    config = TrainConfig(lr=0.1, schedule="plateau", plateau_patience=1, plateau_factor=0.5)
    assert rates(schedule(config), [error] * 5) == pytest.approx([0.1, 0.1, 0.1, 0.05, 0.05])


def test_an_error_that_falls_below_zero_is_none() -> None:
    config = TrainConfig(lr=0.1, schedule="plateau", plateau_patience=0)
    assert rates(schedule(config), [1.0, 0.0, -1.0, -2.0, -math.inf]) == [0.1] * 5

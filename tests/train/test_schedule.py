import math

import pytest
import torch

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


def test_plateau_waits_and_stops_at_min_lr() -> None:
    config = TrainConfig(lr=0.1, min_lr=0.04, schedule="plateau", plateau_patience=1, plateau_factor=0.5)
    assert rates(schedule(config), [1.0] * 7) == pytest.approx([0.1, 0.1, 0.1, 0.05, 0.05, 0.04, 0.04])


@pytest.mark.parametrize("name", ["constant", "cosine", "plateau"])
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

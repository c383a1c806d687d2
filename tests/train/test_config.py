import json
import math
from dataclasses import FrozenInstanceError, replace

import numpy as np
import pytest

from ghr.train.config import TrainConfig


def test_defaults_are_valid_and_frozen() -> None:
    config = TrainConfig()
    with pytest.raises(FrozenInstanceError):
        config.lr = 1.0  # type: ignore[misc]
    assert replace(config, clip=None, patience=None, epochs=1).epochs == 1


@pytest.mark.parametrize(
    ("field", "value", "right"),
    [
        ("epochs", 0, "at least 1"),
        ("epochs", 2.5, "a whole number"),
        ("epochs", True, "a whole number"),
        ("batch_size", -1, "at least 1"),
        ("lr", 0.0, "above 0"),
        ("lr", math.nan, "finite"),
        ("lr", "0.1", "number"),
        ("optimizer", "sgd", "known are adam, adamw"),
        ("weight_decay", -0.1, "at least 0"),
        ("clip", 0.0, "or None"),
        ("schedule", "step", "known are constant, cosine, exponential, plateau"),
        ("plateau_factor", 1.0, r"\(0, 1\)"),
        ("plateau_patience", -1, "at least 0"),
        ("min_lr", -1e-6, "at least 0"),
        ("patience", 0, "or None"),
        ("gamma", 0.0, "above 0 and of at most 1"),
        ("gamma", 1.5, "above 0 and of at most 1"),
        ("log10", 1, "True or False"),
        ("jitter", "yes", "True or False"),
        ("seed", -3, "at least 0"),
        ("seed", 2**63, f"at most {2**63 - 1}"),
    ],
)
def test_refuses_with_a_sentence(field: str, value: object, right: str) -> None:
    with pytest.raises(ValueError, match=right) as caught:
        TrainConfig(**{field: value})  # type: ignore[arg-type]
    sentence = str(caught.value)
    assert sentence.startswith((field, f"Unknown {field} "))
    assert repr(value) in sentence
    assert sentence.endswith(".")


def test_a_schedule_cannot_end_above_its_start() -> None:
    with pytest.raises(ValueError, match="min_lr must not exceed lr"):
        TrainConfig(lr=1e-7, schedule="cosine")
    assert TrainConfig(lr=1e-7).schedule == "constant"


def test_the_loss_is_no_part_of_it() -> None:
    with pytest.raises(TypeError, match="criterion"):
        TrainConfig(criterion="mse")  # type: ignore[call-arg]


def test_numbers_of_numpy_are_kept_as_json_holds_them() -> None:
    numbers = {"epochs": np.int64(3), "lr": np.float32(0.5), "clip": np.float64(1), "patience": np.uint8(2)}
    config = TrainConfig(**numbers)  # type: ignore[arg-type]
    assert json.loads(json.dumps(vars(config)))["lr"] == 0.5
    assert config == TrainConfig(epochs=3, lr=0.5, clip=1.0, patience=2)

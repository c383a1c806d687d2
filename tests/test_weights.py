from pathlib import Path

import pytest
import torch
from torch import nn

from ghr.weights import load_weights, weights_to_bytes


class Tiny(nn.Module):
    def __init__(self, hidden: int = 8, seed: int = 0) -> None:
        super().__init__()
        torch.manual_seed(seed)
        self.encode = nn.Linear(1, hidden)
        self.decode = nn.Linear(hidden, 1)
        self.other = nn.Linear(1, 1)


def test_round_trip() -> None:
    model = Tiny(seed=2)
    load_weights(model, weights_to_bytes(Tiny(seed=1)), Path("here"))
    for name, tensor in Tiny(seed=1).state_dict().items():
        assert torch.equal(model.state_dict()[name], tensor)


def test_shared_modules_are_written() -> None:
    shared = nn.Linear(2, 2)
    model = nn.ModuleList([shared, shared])
    load_weights(model, weights_to_bytes(model), Path("here"))


@pytest.mark.parametrize("length", [0, 5, 40, -1])
def test_weights_cut_short_are_a_sentence(length: int) -> None:
    model = Tiny()
    before = {name: value.clone() for name, value in model.state_dict().items()}
    with pytest.raises(ValueError, match=r"weights in some/file are damaged or cut short"):
        load_weights(model, weights_to_bytes(Tiny(seed=1))[:length], Path("some/file"))
    for name, value in before.items():
        assert torch.equal(model.state_dict()[name], value), "the model stays as it was"


def test_weights_of_another_model_are_a_sentence() -> None:
    with pytest.raises(
        ValueError, match=r"do not fit Tiny: .*encode.bias is \(4,\) in the file but \(8,\) in the model"
    ):
        load_weights(Tiny(), weights_to_bytes(Tiny(hidden=4)), Path("here"))
    with pytest.raises(ValueError, match=r"encode\.bias is missing; .*and 3 more"):
        load_weights(Tiny(), weights_to_bytes(nn.Linear(1, 1)), Path("here"))

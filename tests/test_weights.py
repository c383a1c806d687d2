from pathlib import Path

import pytest
import torch
from torch import nn

from ghr.train.run import BEST, load_best
from ghr.weights import load_weights, weights_to_bytes


class Tiny(nn.Module):
    def __init__(self, hidden: int = 8, seed: int = 0) -> None:
        super().__init__()
        torch.manual_seed(seed)
        self.encode = nn.Linear(1, hidden)
        self.decode = nn.Linear(hidden, 1)
        self.other = nn.Linear(1, 1)


def test_round_trip(tmp_path: Path) -> None:
    (tmp_path / BEST).write_bytes(weights_to_bytes(Tiny(seed=1)))
    model = Tiny(seed=2)
    load_best(model, tmp_path)
    for name, tensor in Tiny(seed=1).state_dict().items():
        assert torch.equal(model.state_dict()[name], tensor)


def test_shared_modules_are_written() -> None:
    shared = nn.Linear(2, 2)
    model = nn.ModuleList([shared, shared])
    load_weights(model, weights_to_bytes(model), Path("here"))


def test_missing_truncated_or_foreign_weights_are_sentences(tmp_path: Path) -> None:
    model = Tiny()
    with pytest.raises(FileNotFoundError, match=r"There are no best weights at .*best.safetensors"):
        load_best(model, tmp_path)
    data = weights_to_bytes(model)
    for length in (0, 5, 40, len(data) - 1):
        (tmp_path / BEST).write_bytes(data[:length])
        with pytest.raises(ValueError, match=r"best.safetensors are damaged or cut short"):
            load_best(model, tmp_path)
    (tmp_path / BEST).write_bytes(weights_to_bytes(Tiny(hidden=4)))
    with pytest.raises(ValueError, match=r"encode.bias is \(4,\) in the file but \(8,\) in the model"):
        load_best(model, tmp_path)
    (tmp_path / BEST).write_bytes(weights_to_bytes(nn.Linear(1, 1)))
    with pytest.raises(ValueError, match=r"encode\.bias is missing; .*and 3 more"):
        load_best(model, tmp_path)

"""A small model and small data for the tests of training, importable by the processes they start."""

import json
import os
import time
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn
from torch_geometric.data import Data

from ghr import Metric, Task
from ghr.train import TrainConfig, train


class Graphs(list):
    """Rings whose nodes regress the sum of the inputs of their neighbours."""

    task = Task("node")


def rings(count: int, *, seed: int = 0, masked: bool = False, dtype: torch.dtype = torch.float32) -> Graphs:
    generator = torch.Generator().manual_seed(seed)
    graphs = Graphs()
    for number in range(count):
        size = 4 + number % 5
        node = torch.arange(size)
        edge_index = torch.stack([torch.cat([node, node]), torch.cat([node.roll(1), node.roll(-1)])])
        x = torch.randn(size, 1, generator=generator, dtype=dtype)
        data = Data(x=x, edge_index=edge_index, y=x.roll(1, 0) + x.roll(-1, 0), num_nodes=size)
        if masked:
            # Uneven on purpose: the first graph counts fully, the others with fewer and fewer nodes, some with none.
            data.mask = node < size - number % (size + 1)
        graphs.append(data)
    return graphs


class Recurrent(nn.Module):
    """Message passing with shared weights, read out after every step."""

    def __init__(self, hidden: int = 8, steps: int = 3, dropout: float = 0.0) -> None:
        super().__init__()
        self.steps = steps
        self.encode = nn.Linear(1, hidden)
        self.message = nn.Linear(2 * hidden, hidden)
        self.read = nn.Linear(hidden, 1)
        self.dropout = nn.Dropout(dropout)

    def rollout(self, data: Data, steps: int | None = None) -> list[Tensor]:
        source, target = data.edge_index
        state = self.encode(data.x)
        predictions = []
        for _ in range(self.steps if steps is None else steps):
            pooled = torch.zeros_like(state).index_add(0, target, state.index_select(0, source))
            state = torch.tanh(self.message(self.dropout(torch.cat([state, pooled], dim=1))))
            predictions.append(self.read(state))
        return predictions

    def forward(self, data: Data, steps: int | None = None) -> Tensor:
        return self.rollout(data, steps)[-1]


class FeedForward(nn.Module):
    """No steps: a rollout of one prediction."""

    def __init__(self, in_channels: int = 1, out_channels: int = 1) -> None:
        super().__init__()
        self.read = nn.Linear(in_channels, out_channels)

    def rollout(self, data: Data, steps: None = None) -> list[Tensor]:
        return [self(data)]

    def forward(self, data: Data) -> Tensor:
        return self.read(data.x)


def recurrent(*, seed: int = 0, dtype: torch.dtype = torch.float32, **options: float) -> Recurrent:
    torch.manual_seed(seed)
    return Recurrent(**options).to(dtype)


def run(path: Path, config: TrainConfig, model: nn.Module | None = None, **options: Any) -> dict[str, Any]:
    """A training on eight rings."""
    return train(
        recurrent() if model is None else model, rings(8), rings(3, seed=1), config, path, quiet=True, **options
    )


def read_lines(path: Path) -> list[dict[str, Any]]:
    """The lines of ``metrics.jsonl``."""
    return [json.loads(line) for line in (path / "metrics.jsonl").read_text().splitlines()]


def scripted(values: Iterable[float], *, higher_is_better: bool = False) -> Task:
    """A task whose metric follows a script, whatever the model predicts."""
    script = iter(values)
    return Task("node", metric=Metric("scripted", lambda *_: next(script), higher_is_better=higher_is_better))


def slow_run(path: Path, started: Path, end: Path) -> None:
    """A run that says when its first epoch is over and goes on when it may."""
    torch.set_num_threads(1)

    def wait(line: dict[str, Any]) -> None:
        started.touch()
        while not end.exists():
            time.sleep(0.02)

    run(path, TrainConfig(epochs=2, batch_size=4), callback=wait)


def long_run(path: Path) -> None:
    """A run long enough to be killed in; with dropout, jitter and a schedule, so that all state matters."""
    torch.set_num_threads(1)
    config = TrainConfig(epochs=60, batch_size=4, lr=3e-3, schedule="plateau", plateau_patience=2, optimizer="adamw")
    train(recurrent(hidden=16, dropout=0.1), rings(24), rings(8, seed=1), config, path, quiet=True)


SPREAD = {
    "mean": TrainConfig(epochs=2, batch_size=4, lr=1e-2),
    "log10": TrainConfig(epochs=2, batch_size=4, lr=1e-2, log10=True, clip=None),
}


def spread_run(path: Path, config: TrainConfig) -> Recurrent:
    """Nine masked graphs in batches of four: the last batch is smaller than two processes."""
    model = recurrent(dtype=torch.float64)
    graphs = rings(9, masked=True, dtype=torch.float64)
    task = Task("node", loss="l1" if config.log10 else "mse")
    train(model, graphs, rings(3, seed=1, dtype=torch.float64), config, path, task=task, quiet=True)
    return model


def spread_process(rank: int, world: int, port: int, path: Path) -> None:
    """What torchrun would start as process ``rank`` of ``world``."""
    torch.set_num_threads(1)
    os.environ.update(
        TORCHELASTIC_RUN_ID="test",
        MASTER_ADDR="127.0.0.1",
        MASTER_PORT=str(port),
        RANK=str(rank),
        LOCAL_RANK=str(rank),
        WORLD_SIZE=str(world),
        LOCAL_WORLD_SIZE=str(world),
    )
    for name, config in {**SPREAD, "resumed": SPREAD["mean"]}.items():
        model = spread_run(path / name, config)
        torch.save(model.state_dict(), path / f"{name}-{rank}.pt")
    try:
        spread_run(path / "mean", SPREAD["log10"])
    except ValueError as error:
        (path / f"error-{rank}.txt").write_text(str(error))


def full_disk(path: Path, limit: int) -> None:
    """A run in a process that may not write files above ``limit`` bytes."""
    import resource
    import signal

    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))
    torch.set_num_threads(1)
    config = TrainConfig(epochs=120, batch_size=8)
    try:
        train(recurrent(), rings(8), rings(2, seed=1), config, path / "run", quiet=True)
    except OSError as error:
        (path / "error.txt").write_text(f"{error.errno} {error}")

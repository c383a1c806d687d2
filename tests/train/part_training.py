"""A small graph in parts for the tests of training, importable by the processes they start."""

import os
from pathlib import Path

import torch

from ghr import GHR, Coarsen, Graclus, HierarchicalData, Task
from ghr.bench.graphs import geometric_graph
from ghr.ops import use
from ghr.train import TrainConfig, train

SPREAD = {
    "mean": TrainConfig(epochs=2, batch_size=3, lr=1e-2, parts=5, halo=1),
    "log10": TrainConfig(epochs=2, batch_size=2, lr=1e-2, parts=5, halo=1, log10=True, clip=None),
}
TASK = Task("node")


def large_graph(size: int = 60) -> HierarchicalData:
    """A graph with masks for training and validation, of which some nodes have neither."""
    data = geometric_graph(size, mean_degree=5)
    generator = torch.Generator().manual_seed(0)
    data.x = torch.randn(size, 2, generator=generator, dtype=torch.double)
    data.edge_attr = torch.rand(data.num_edges, 1, generator=generator, dtype=torch.double)
    data.y = data.x.sum(dim=1, keepdim=True)
    number = torch.arange(size) % 5
    data.train_mask, data.val_mask = number < 3, number == 3
    return Coarsen(Graclus(rounds=2))(data)


def small_model() -> GHR:
    torch.manual_seed(0)
    return GHR(2, 4, 1, edge_dim=1, steps=2, t_high=1, t_low=1).double()


def train_parts(path: Path, config: TrainConfig) -> GHR:
    model, graph = small_model(), large_graph()
    train(model, [graph], [graph], config, path, task=TASK, quiet=True)
    return model


def part_process(rank: int, world: int, port: int, path: Path) -> None:
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
    use("torch")  # nothing shall wait for kernels
    for name, config in SPREAD.items():
        torch.save(train_parts(path / name, config).state_dict(), path / f"{name}-{rank}.pt")

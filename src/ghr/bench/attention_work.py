"""The workload that attends: ours against the padded attention of PyTorch Geometric's GPS."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import torch
from torch import Tensor, nn
from torch_geometric.data import Batch, Data
from torch_geometric.utils import to_dense_batch

from ghr.bench.graphs import geometric_graph
from ghr.bench.model_work import relative
from ghr.bench.targets import NO_TARGETS, Targets
from ghr.nn.attention import GraphAttention, graph_starts


@dataclass(frozen=True)
class AttentionWork:
    """Attention of a layer of :class:`~ghr.GPS` over a batch of graphs of unequal size, forward and backward.

    Plain is ``torch.nn.MultiheadAttention`` on graphs that are padded to the largest, as in ``GPSConv``.

    Args:
        name: What selects it.
        title: What it is, for the table.
        graphs: Number of graphs in the batch.
        nodes: Fewest and most nodes of a graph; the others lie evenly between.
        targets: What it shall reach.
        channels: Width of the states.
        heads: Heads of the attention.
        calls: Times the attention is called for one measurement, as in so many layers.
    """

    name: str
    title: str
    graphs: int
    nodes: tuple[int, int]
    targets: Targets = NO_TARGETS
    channels: int = 32
    heads: int = 4
    calls: int = 10
    implementations: tuple[str, ...] = ("ghr", "plain")
    max_repeats: int | None = None

    def quick(self) -> "AttentionWork":
        """Return the same on a few tiny graphs, where the targets mean nothing."""
        return replace(self, title=f"{self.title}, shrunk", graphs=3, nodes=(10, 20), calls=1, targets=NO_TARGETS)

    def load(self) -> Data:
        """Return the batch, with states as node features."""
        sizes = torch.linspace(*self.nodes, self.graphs).long().tolist()
        batch: Any = Batch.from_data_list([geometric_graph(size, seed=seed) for seed, size in enumerate(sizes)])
        batch.x = torch.randn(sum(sizes), self.channels, generator=torch.Generator().manual_seed(0))
        return batch  # type: ignore[no-any-return]

    def facts(self, data: Data, result: Any) -> dict[str, int]:
        """Return the sizes that matter."""
        return {"nodes": int(data.num_nodes or 0), "edges": data.num_edges}

    def prepare(self, implementation: str, data: Data) -> "Attending":
        """Return the work of one implementation; both have the same weights."""
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(0)
            ours = GraphAttention(self.channels, self.heads)
        if implementation == "ghr":
            return Attending(ours, data, self.calls)
        padded = nn.MultiheadAttention(self.channels, self.heads, batch_first=True)
        padded.load_state_dict(ours.state_dict())
        return Attending(padded, data, self.calls)

    def errors(self, works: dict[str, Callable[[], Any]], results: dict[str, Any]) -> dict[str, float]:
        """Return how far our states and their gradients are from the plain ones, relative to the latter."""
        names = ("output", "gradient")
        return {name: relative(*pair) for name, *pair in zip(names, results["ghr"], results["plain"], strict=True)}


class Attending:
    """One implementation and its data, ready to run."""

    def __init__(self, module: GraphAttention | nn.MultiheadAttention, data: Data, calls: int) -> None:
        if data.x is None or data.batch is None:
            raise ValueError("Attention is measured on a batch of graphs with node features x.")
        self.module, self.x, self.batch, self.calls = module, data.x, data.batch, calls
        self.num_graphs = int(data.batch.max()) + 1

    def __call__(self) -> tuple[Tensor, Tensor]:
        """Run once; return what the nodes read, and the gradient of its squares for the states."""
        x = self.x.clone().requires_grad_()
        start = graph_starts(self.batch, self.num_graphs, "The workload")
        for _ in range(self.calls):
            self.module.zero_grad(set_to_none=True)
            x.grad = None
            out = self.attend(x, start)
            loss: Any = out.square().sum()
            loss.backward()
        if x.grad is None:
            raise ValueError("The states got no gradient to compare.")
        return out.detach(), x.grad

    def attend(self, x: Tensor, start: Tensor) -> Tensor:
        """Return what the nodes read."""
        if isinstance(self.module, GraphAttention):
            return self.module(x, start)  # type: ignore[no-any-return]
        dense, mask = to_dense_batch(x, self.batch)
        out: Tensor = self.module(dense, dense, dense, key_padding_mask=~mask, need_weights=False)[0]
        return out[mask]

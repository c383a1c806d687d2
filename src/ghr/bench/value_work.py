"""Workloads of models whose states keep their size: training steps."""

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any

import torch
from torch import nn
from torch_geometric.data import Batch, Data

from ghr.bench.graphs import geometric_graph, periodic_lattice
from ghr.bench.model_work import ModelWork, Work
from ghr.bench.targets import NO_TARGETS, Targets
from ghr.hierarchy.data import levels_of
from ghr.hierarchy.lattice import lattice_edges
from ghr.models import GHR, GraphModel
from ghr.testing.plain_values import PlainValues


@dataclass(frozen=True)
class ValueWork:
    """A training step (forward rollout, loss and backward pass, no optimiser) of a model whose states keep their size.

    Args:
        name: What selects it.
        title: What it is, for the table.
        count: Number of graphs.
        size: Nodes of each random geometric graph of mean degree 4, or along the side of each lattice.
        options: Arguments of the model.
        targets: What it shall reach.
        model: Its class.
        plain: What computes the same with a copy of its weights.
    """

    name: str
    title: str
    count: int
    size: int
    options: dict[str, Any] = field(repr=False)
    targets: Targets = NO_TARGETS
    model: Callable[..., GraphModel] = field(default=GHR, repr=False)
    plain: Callable[[Any], nn.Module] = field(default=PlainValues, repr=False)
    max_repeats: int | None = None
    implementations: tuple[str, ...] = ("ghr", "plain")
    train: bool = True

    def quick(self) -> "ValueWork":
        """Return the same on tiny graphs, where the targets mean nothing."""
        title = f"{self.title}, shrunk"
        return replace(self, title=title, count=2, size=min(self.size, 24) // 8 * 8, targets=NO_TARGETS)

    def load(self) -> Data:
        """Return the batch."""
        prepare = self._model().prepare
        graphs: list[Any] = []
        for seed in range(self.count):
            if self.options.get("values") == "sum":
                graph = Data(x=periodic_lattice(self.size, seed).x, edge_index=lattice_edges(self.size))
            else:
                graph = geometric_graph(self.size, mean_degree=4, seed=seed)
            graphs.append(prepare(graph))
        data: Any = Batch.from_data_list(graphs)
        data.y = torch.randn(data.num_nodes, 1, generator=torch.Generator().manual_seed(0))
        return data  # type: ignore[no-any-return]

    def facts(self, data: Data, result: Any) -> dict[str, int]:
        """Return the sizes that matter."""
        fine = levels_of(data)[0]
        return {"nodes": fine.num_nodes, "edges": fine.edge_index.size(1)}

    def prepare(self, implementation: str, data: Data) -> Work:
        """Return the work of one implementation; both have the same weights."""
        model = self._model()
        return Work(model if implementation == "ghr" else self.plain(model), data, True)

    def errors(self, works: dict[str, Callable[[], Any]], results: dict[str, Any]) -> dict[str, float]:
        """Return how far our predictions and gradients are from the plain ones, relative to the latter."""
        return ModelWork.errors(self, works, results)  # type: ignore[arg-type]

    def _model(self) -> GraphModel:
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(0)
            return self.model(**self.options)

"""What may be done to a graph before a trained model sees it: its features shifted or noisy, its edges fewer."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

import numpy as np
import torch
from torch_geometric.data import Data


class Change(Protocol):
    """What is done to a graph."""

    @property
    def name(self) -> str:
        """What it does, in words that say all of it."""
        ...

    def __call__(self, graph: Data, rng: np.random.Generator) -> Data:
        """Return the changed graph; the given one is left as it is."""
        ...


@dataclass(frozen=True)
class Shift:
    """Add a number to all node features.

    Args:
        by: The number.
    """

    by: float

    @property
    def name(self) -> str:
        """Such as ``features + 0.1``."""
        return f"features + {self.by:g}"

    def __call__(self, graph: Data, rng: np.random.Generator) -> Data:
        """Return the graph with features shifted."""
        changed: Data = graph.clone()
        changed.x = graph["x"] + self.by
        return changed


@dataclass(frozen=True)
class Noise:
    """Add normal noise to all node features.

    Args:
        deviation: Its deviation.
    """

    deviation: float

    @property
    def name(self) -> str:
        """Such as ``noise of 0.1``."""
        return f"noise of {self.deviation:g}"

    def __call__(self, graph: Data, rng: np.random.Generator) -> Data:
        """Return the graph with noise on its features."""
        changed: Data = graph.clone()
        x = graph["x"]
        changed.x = x + self.deviation * torch.from_numpy(rng.standard_normal(tuple(x.shape))).to(x)
        return changed


@dataclass(frozen=True)
class Drop:
    """Drop edges at random, each in both directions.

    Args:
        share: How many of them, as a part of one.
        relabel: Gives the graph the targets that it then has; ``None`` where they do not depend on edges.
    """

    share: float
    relabel: Callable[[Data], Data] | None = None

    @property
    def name(self) -> str:
        """Such as ``5 % of the edges dropped``."""
        return f"{100 * self.share:g} % of the edges dropped"

    def __call__(self, graph: Data, rng: np.random.Generator) -> Data:
        """Return the graph with fewer edges; those without an opposite are dropped by themselves."""
        changed: Data = graph.clone()
        edge_index = graph["edge_index"]
        ends = np.sort(edge_index.numpy(), axis=0)
        _, pair = np.unique(ends, axis=1, return_inverse=True)
        pair = pair.reshape(-1)
        count = int(pair.max()) + 1 if len(pair) else 0
        dropped = rng.permutation(count)[: round(self.share * count)]
        kept = torch.from_numpy(~np.isin(pair, dropped))
        changed.edge_index = edge_index[:, kept]
        if graph.edge_attr is not None:
            changed.edge_attr = graph.edge_attr[kept]
        return changed if self.relabel is None else self.relabel(changed)

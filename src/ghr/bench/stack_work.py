"""The workloads of plain stacks: ours against the same stack of PyTorch Geometric's layers."""

import copy
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, cast

import torch
from torch import nn
from torch_geometric.data import Data
from torch_geometric.nn import GCNConv, GINEConv

from ghr.bench.graphs import GeometricGraphs
from ghr.bench.model_work import Work, relative
from ghr.bench.targets import NO_TARGETS, Targets
from ghr.models import Stack
from ghr.nn.conv.bare import BareGCN, BareGINE, Builder, PyGConv
from ghr.nn.layer import Layer


@dataclass(frozen=True)
class StackWork:
    """A training step of a :class:`~ghr.Stack` whose layers are our own code; other convs are PyG's layers anyway.

    Args:
        name: What selects it.
        title: What it is, for the table.
        conv: ``"gcn"`` or ``"gine"``.
        graphs: What the model runs on.
        targets: What it shall reach.
        channels: Width of the states.
        layers: Number of layers.
    """

    name: str
    title: str
    conv: str
    graphs: GeometricGraphs
    targets: Targets = NO_TARGETS
    channels: int = 64
    layers: int = 5
    implementations: tuple[str, ...] = ("ghr", "plain")
    max_repeats: int | None = None

    def quick(self) -> "StackWork":
        """Return the same on tiny graphs, where the targets mean nothing."""
        return replace(self, title=f"{self.title}, shrunk", graphs=self.graphs.quick(), channels=8, targets=NO_TARGETS)

    def load(self) -> Data:
        """Return the batch."""
        return self.graphs.load()

    def facts(self, data: Data, result: Any) -> dict[str, int]:
        """Return the sizes that matter."""
        return {"nodes": int(data.num_nodes or 0), "edges": data.num_edges}

    def prepare(self, implementation: str, data: Data) -> Work:
        """Return the work of one implementation; both have the same weights."""
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(0)
            edge_dim = None if self.conv == "gcn" else 1  # PyG's GCN takes weights, not features
            model = Stack(1, self.channels, 1, conv=self.conv, layers=self.layers, edge_dim=edge_dim)
        return Work(model if implementation == "ghr" else with_pyg_layers(model), data, train=True)

    def errors(self, works: dict[str, Callable[[], Any]], results: dict[str, Any]) -> dict[str, float]:
        """Return how far our predictions and gradients are from the plain ones, relative to the latter."""
        errors = {"output": relative(results["ghr"], results["plain"])}
        own, other = (_input_gradient(cast(Work, works[name]).model) for name in ("ghr", "plain"))
        errors["gradient"] = relative(own, other)
        return errors


def with_pyg_layers(model: Stack) -> Stack:
    """Return a copy of a stack with PyTorch Geometric's layers of the same weights in place of ours."""
    plain = copy.deepcopy(model)
    for layer in cast(list[Layer], plain.layers):
        layer.conv = PyGConv(_like(layer.conv), layer.conv.channels, layer.conv.edge_dim)
    return plain


def _like(conv: nn.Module) -> nn.Module:
    if isinstance(conv, BareGCN):
        gcn: Any = cast(Builder, GCNConv)(conv.channels, conv.channels)
        gcn.lin.weight, gcn.bias = conv.linear.weight, conv.linear.bias
        return cast(nn.Module, gcn)
    if isinstance(conv, BareGINE):
        # Its constructor draws the weights of the update anew, so that ours come afterwards.
        gine: Any = cast(Builder, GINEConv)(copy.deepcopy(conv.update), train_eps=True, edge_dim=conv.edge_dim)
        gine.nn, gine.lin = conv.update, conv.edge
        nn.init.constant_(gine.eps, float(conv.epsilon.detach()))
        return cast(nn.Module, gine)
    raise ValueError(f"{type(conv).__name__} is no layer of ours that PyTorch Geometric has too.")


def _input_gradient(model: nn.Module) -> torch.Tensor:
    """Return the gradient of the first map, which everything behind it enters."""
    gradient = next(model.parameters()).grad
    if gradient is None:
        raise ValueError("The first map got no gradient to compare.")
    return gradient

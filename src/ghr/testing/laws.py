"""Laws that hold for every hierarchy and every model, as assertions for anybody's tests."""

import copy
from collections.abc import Callable, Sequence
from typing import Any

import torch
from torch import Tensor, nn
from torch_geometric.data import Batch, Data

from ghr.hierarchy import HierarchicalData
from ghr.hierarchy.data import levels_of


def assert_quotient(data: HierarchicalData) -> None:
    """Assert that every level is the quotient graph of the level below it.

    Clusters are numbered without gaps, two of them are joined exactly if an edge below joins their members, and coarse
    edges are sorted, without repeats and without self loops.
    """
    levels = data.levels
    for k in range(1, len(levels)):
        fine, coarse = levels[k - 1], levels[k]
        label = coarse.clusters
        assert label.shape == (fine.num_nodes,), f"level {k}: one cluster per node of the level below"
        assert torch.equal(torch.unique(label), torch.arange(coarse.num_nodes)), f"level {k}: labels have gaps"
        expected = {(int(u), int(v)) for u, v in label[fine.edge_index].T if int(u) != int(v)}
        given = [(int(u), int(v)) for u, v in coarse.edge_index.T]
        assert given == sorted(expected), f"level {k}: edges are not those of the quotient graph"


def permute(data: Data, order: Sequence[Tensor], edge_order: Tensor) -> Data:
    """Return the same graph with its nodes renumbered on every level and its finest edges listed in another order.

    Args:
        data: A graph.
        order: For every level, the old node that becomes node 0, 1, 2, ...
        edge_order: For the finest level, the old edge that becomes edge 0, 1, 2, ...
    """
    new = [torch.empty_like(old).scatter(0, old, torch.arange(old.numel())) for old in order]
    result: Data = copy.copy(data)
    for key, value in data.to_dict().items():
        if isinstance(value, Tensor) and data.is_node_attr(key) and not key.startswith("level"):
            result[key] = value[order[0]]
    result.edge_index = new[0][data.edge_index][:, edge_order]
    if data.edge_attr is not None:
        result.edge_attr = data.edge_attr[edge_order]
    for k in range(1, len(order)):
        result[f"level{k}_edge_index"] = new[k][data[f"level{k}_edge_index"]]
        result[f"level{k}_assignment"] = new[k][data[f"level{k}_assignment"]][order[k - 1]]
        if f"level{k}_centre_distance" in data:
            result[f"level{k}_centre_distance"] = data[f"level{k}_centre_distance"][order[k - 1]]
    if isinstance(result, HierarchicalData):
        result.sign()
    return result


def assert_permutation_equivariant(
    model: Callable[[Any], Tensor], data: Data, *, level: str = "node", seed: int = 0, rtol: float = 1e-4
) -> None:
    """Assert that renumbering nodes and edges renumbers the predictions and changes nothing else.

    Args:
        model: A model.
        data: One graph.
        level: ``"node"``, ``"graph"`` or ``"edge"``: how predictions go along with the numbering.
        seed: Seed of the renumbering.
        rtol: Error allowed, relative to the largest prediction.
    """
    generator = torch.Generator().manual_seed(seed)
    order = [torch.randperm(level.num_nodes, generator=generator) for level in levels_of(data)]
    edge_order = torch.randperm(data.num_edges, generator=generator)
    with torch.no_grad():
        before, after = model(data), model(permute(data, order, edge_order))
    rows = {"node": order[0], "edge": edge_order, "graph": torch.arange(before.size(0))}[level]
    _assert_close(after, before[rows], rtol, "predictions do not follow a renumbering of nodes and edges")


def assert_batch_equals_loop(model: Callable[[Any], Tensor], graphs: Sequence[Data], *, rtol: float = 1e-4) -> None:
    """Assert that a batch of graphs gives what the graphs give one by one."""
    with torch.no_grad():
        batched = model(Batch.from_data_list(list(graphs)))
        looped = torch.cat([model(graph) for graph in graphs])
    _assert_close(batched, looped, rtol, "a batch differs from its graphs one by one")


def assert_gradients_reach_all_parameters(model: nn.Module, data: Data) -> None:
    """Assert that every parameter gets a gradient that is finite and not zero everywhere."""
    model.zero_grad()
    prediction = model(data)
    weight = torch.randn(prediction.shape, generator=torch.Generator().manual_seed(0)).to(prediction)
    (prediction * weight).sum().backward()
    for name, parameter in model.named_parameters():
        assert parameter.grad is not None, f"{name} gets no gradient"
        assert torch.isfinite(parameter.grad).all(), f"the gradient of {name} is not finite"
        assert parameter.grad.abs().max() > 0, f"the gradient of {name} is zero everywhere"


def _assert_close(actual: Tensor, expected: Tensor, rtol: float, law: str) -> None:
    assert actual.shape == expected.shape, f"{law}: shape {tuple(actual.shape)} instead of {tuple(expected.shape)}"
    scale = float(expected.abs().max()) if expected.numel() else 0.0
    error = float((actual - expected).abs().max()) if expected.numel() else 0.0
    assert error <= rtol * max(scale, 1e-6), f"{law}: off by {error:.3g} at a scale of {scale:.3g}"

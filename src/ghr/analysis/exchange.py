"""How far a model looks where derivatives say nothing: predictions with the features of one node exchanged."""

import copy
from collections.abc import Mapping
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor
from torch_geometric.data import Data

from ghr.analysis.profile import Profile
from ghr.analysis.samples import count_row_hops, draw_graphs, draw_rows, join, prepare
from ghr.checks import check_flag, check_whole
from ghr.datasets.splits import Examples
from ghr.datasets.task import Task
from ghr.models.base import GraphModel
from ghr.progress import track


@torch.no_grad()
def measure_exchange(
    model: GraphModel,
    graphs: Examples,
    task: Task,
    *,
    sample: int = 16,
    nodes: int = 16,
    seed: int = 0,
    double: bool = False,
    batch_size: int = 32,
    **loops: Any,
) -> Profile:
    r"""Measure how much predictions change, at every distance, where a node is given the features of another.

    .. math::
        J_{uv} = \sum_c \big| \hat y_{uc}(x) - \hat y_{uc}(x_1, \dots, x_{v-1}, x_{w(v)}, x_{v+1}, \dots) \big|,

    with :math:`w(v)` the node of the same graph whose features differ most from those of :math:`v`, the first of them
    where several do. So on shortest paths a node becomes a second source, and on a lattice a spin is turned. Unlike a
    derivative (:func:`measure_range`) this sees sharp choices and integer codes. It takes a prediction for every node
    of a graph, so it is for graphs of some hundred nodes. Where all nodes are alike, nothing can be exchanged, and
    predictions count as silent.

    Args:
        model: The model.
        graphs: The graphs, prepared for the model or not.
        task: What is asked of them, on nodes or edges. A prediction for a whole graph has no place.
        sample: At most so many graphs are looked at, drawn at random.
        nodes: At most so many predictions of each, drawn at random among those whose targets count.
        seed: Seed of what is drawn. The result does not depend on `batch_size`.
        double: Whether to compute in double precision.
        batch_size: Copies of a graph that are predicted at once, each with another node exchanged.
        **loops: Numbers for the loops of the model.

    Raises:
        ValueError: Where there is no graph, graphs have no features, or the task is on whole graphs.
    """
    sample, nodes, batch_size = (
        check_whole(name, value) for name, value in (("sample", sample), ("nodes", nodes), ("batch_size", batch_size))
    )
    seed, double = check_whole("seed", seed, 0), check_flag("double", double)
    model.check_loops(loops)
    if task.level == "graph":
        raise ValueError(
            "A prediction for a whole graph has no place, so that nothing is near or far from it; measure_range() "
            "follows it through the states of nodes."
        )
    chosen = draw_graphs(graphs, sample, seed)
    if double:
        model = copy.deepcopy(model).double()
    training = model.training
    model.eval()
    influence: list[NDArray[Any]] = []
    hops: list[NDArray[np.int64]] = []
    try:
        for index in track(chosen, "range", unit="graph"):
            graph = prepare(model, graphs[index], double=double)
            picked = draw_rows(graph, task, nodes, (seed, index))
            influence += [*exchange_all(model, graph, task, picked, batch_size, loops)]
            hops += [*count_row_hops(graph, task, picked)]
    finally:
        model.train(training)
    return Profile.of(influence, hops)


def exchange_all(
    model: GraphModel, graph: Data, task: Task, picked: list[int], batch_size: int, loops: Mapping[str, Any]
) -> NDArray[Any]:
    """Return by how much some predictions of a graph change with every node.

    Args:
        model: The model.
        graph: The graph, prepared for it.
        task: What is asked.
        picked: Rows of the prediction.
        batch_size: Copies of the graph that are predicted at once.
        loops: Numbers for the loops of the model.

    Shapes:
        - **output:** :math:`(U, N)`, for every picked row and every node
    """
    x, size = graph.x, int(graph.num_nodes or 0)
    if not isinstance(x, Tensor):
        raise ValueError(f"Features of nodes are exchanged, but the graph has no node features x; it has {graph}.")
    copies, rows = min(batch_size, size), task.rows(graph)
    device = next((parameter.device for parameter in model.parameters()), torch.device("cpu"))
    batch = join([graph] * copies).to(device)
    given, other = x.to(device), find_most_different(x).to(device)
    # Batches differ in nothing but exchanged features, so that where these do not reach, not even rounding differs.
    before = _predict(model, batch, given.repeat(copies, *[1] * (x.dim() - 1)), loops)
    task.check_prediction(before, batch)
    found = torch.zeros(len(picked), size, dtype=before.dtype)
    for start in range(0, size, copies):
        nodes = torch.arange(start, min(start + copies, size), device=device)
        changed = given.repeat(copies, *[1] * (x.dim() - 1))
        changed[(nodes - start) * size + nodes] = given[other[nodes]]
        change = (_predict(model, batch, changed, loops) - before).abs().sum(dim=1).view(copies, rows)
        found[:, start : start + len(nodes)] = change[: len(nodes), picked].t().cpu()
    return found.numpy()


def _predict(model: GraphModel, batch: Data, x: Tensor, loops: Mapping[str, Any]) -> Tensor:
    data = copy.copy(batch)
    data["x"] = x
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(0)  # of models that start from random states
        prediction: Tensor = model(data, **loops)
    return prediction


def find_most_different(x: Tensor) -> Tensor:
    """Return for every node the first of those whose features differ most from its own.

    Numbers differ by the sum of their differences, integer codes by how many of them are others.

    Shapes:
        - **x:** :math:`(N, D)`
        - **output:** :math:`(N)`
    """
    rows = x.reshape(len(x), -1)
    if rows.is_floating_point():
        return torch.cdist(rows, rows, p=1).argmax(dim=1)
    distance = torch.zeros(len(rows), len(rows), dtype=torch.long, device=rows.device)
    for column in rows.unbind(dim=1):
        distance += column.unsqueeze(1) != column
    return distance.argmax(dim=1)

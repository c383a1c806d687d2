"""How far a model looks: the range of its predictions, from products of vectors with its Jacobian."""

import copy
from collections.abc import Sequence
from contextlib import ExitStack
from typing import Any, Literal, Protocol, get_args

import numpy as np
import torch
from numpy.typing import NDArray
from torch.nn.attention import SDPBackend, sdpa_kernel
from torch_geometric.data import Data

from ghr.analysis.follow import follow
from ghr.analysis.measures import make_measure
from ghr.analysis.profile import Profile
from ghr.analysis.samples import count_row_hops, draw_graphs, draw_rows, join, prepare
from ghr.checks import check_choice, check_flag, check_whole
from ghr.datasets.splits import Examples
from ghr.datasets.task import Task
from ghr.models.base import GraphModel
from ghr.ops.backend import using
from ghr.progress import track

Through = Literal["readout", "hessian"]


class Trained(Protocol):
    """A trained model with its task, such as a :class:`~ghr.Run`."""

    @property
    def model(self) -> GraphModel:
        """The model."""
        ...

    @property
    def task(self) -> Task:
        """What was asked of the data."""
        ...


def range_of(
    run: Trained,
    graphs: Data | Examples,
    *,
    sample: int = 16,
    nodes: int = 16,
    seed: int = 0,
    double: bool = False,
    through: Through = "readout",
    batch_size: int = 8,
    **loops: Any,
) -> float | None:
    """Return how far a trained model looks on graphs, in hops; ``None`` where its predictions depend on no input.

    Args:
        run: A run, or anything else with a ``model`` and a ``task``.
        graphs: A graph, or many, prepared for the model or not.
        sample: As in :func:`measure_range`; so are the other arguments.
        nodes: Predictions looked at in each graph.
        seed: Seed of what is looked at.
        double: Whether to compute in double precision.
        through: What is taken for the Jacobian of a prediction of a whole graph.
        batch_size: Graphs differentiated at once.
        **loops: Numbers for the loops of the model.
    """
    many: Examples = [graphs] if isinstance(graphs, Data) else graphs
    found = measure_range(
        run.model,
        many,
        run.task,
        sample=sample,
        nodes=nodes,
        seed=seed,
        double=double,
        through=through,
        batch_size=batch_size,
        **loops,
    )
    return found.range


def measure_range(
    model: GraphModel,
    graphs: Examples,
    task: Task,
    *,
    sample: int = 16,
    nodes: int = 16,
    seed: int = 0,
    double: bool = False,
    through: Through = "readout",
    batch_size: int = 8,
    **loops: Any,
) -> Profile:
    r"""Measure how much predictions depend on the input at every distance, on samples and without any dense Jacobian.

    On nodes, :math:`J_{uv} = \sum_{c, i} |\partial \hat y_{uc} / \partial x_{vi}|`. So it is on edges, where a node is
    as far as it is from the nearer end. A prediction for a whole graph has no place of its own. Through its
    ``"readout"`` it gets one,

    .. math::
        J_{uv} = \sum_{c, i} \Big| \sum_k \frac{\partial \hat y_c}{\partial h_{uk}}
        \frac{\partial h_{uk}}{\partial x_{vi}} \Big|,

    the part of :math:`\partial \hat y_c / \partial x_{vi}` that passes through the state :math:`h_u` that the readout
    takes from node :math:`u`. The ``"hessian"``
    :math:`J_{uv} = \sum_{c, i, j} |\partial^2 \hat y_c / \partial x_{ui} \partial x_{vj}|`, which Bamberger et al. use,
    says which inputs act together. It costs a product for every feature, and sees nothing of a maximum or a ReLU.

    One product serves all graphs of a batch, since graphs do not see each other.

    Args:
        model: The model.
        graphs: The graphs, prepared for the model or not.
        task: What is asked of them.
        sample: At most so many graphs are looked at, drawn at random.
        nodes: At most so many nodes of each, drawn at random among those whose targets count; on edges so many edges.
        seed: Seed of what is drawn. The result does not depend on `batch_size`.
        double: Whether to compute in double precision.
        through: For predictions of whole graphs, what is taken for :math:`J`: ``"readout"`` or ``"hessian"``.
        batch_size: Graphs differentiated at once.
        **loops: Numbers for the loops of the model.

    Raises:
        ValueError: Where there is no graph, or the readout of a model for whole graphs does not read nodes.
    """
    sample, nodes, batch_size = (
        check_whole(name, value) for name, value in (("sample", sample), ("nodes", nodes), ("batch_size", batch_size))
    )
    seed, double = check_whole("seed", seed, 0), check_flag("double", double)
    through = check_choice("through", through, get_args(Through))
    model.check_loops(loops)
    if double:
        model = copy.deepcopy(model).double()
    chosen = draw_graphs(graphs, sample, seed)
    device = next((parameter.device for parameter in model.parameters()), torch.device("cpu"))
    influence: list[NDArray[Any]] = []
    hops: list[NDArray[np.int64]] = []
    for start in track(range(0, len(chosen), batch_size), "range", unit="batch"):
        part = chosen[start : start + batch_size]
        prepared = [prepare(model, graphs[index], double=double) for index in part]
        picks = [draw_rows(graph, task, nodes, (seed, index)) for graph, index in zip(prepared, part, strict=True)]
        influence += _measure_batch(model, prepared, task, picks, through, device, loops)
        for graph, picked in zip(prepared, picks, strict=True):
            hops += [*count_row_hops(graph, task, picked)]
    return Profile.of(influence, hops)


def _measure_batch(
    model: GraphModel,
    graphs: Sequence[Data],
    task: Task,
    picks: Sequence[Sequence[int]],
    through: Through,
    device: torch.device,
    loops: dict[str, Any],
) -> list[NDArray[Any]]:
    """Return the influence of all nodes of a graph on each of its picked rows, graph by graph."""
    data = join(graphs).to(device)
    sizes = [int(graph.num_nodes or 0) for graph in graphs]
    rows = sizes if task.level != "edge" else [task.rows(graph) for graph in graphs]
    first = np.cumsum([0, *rows[:-1]])
    found: list[list[NDArray[Any]]] = [[] for _ in graphs]
    second = task.level == "graph" and through == "hessian"
    with ExitStack() as stack:
        if second:  # kernels can be differentiated once
            stack.enter_context(using("torch"))
            stack.enter_context(sdpa_kernel(SDPBackend.MATH))
        done = stack.enter_context(follow(model, data, loops))
        task.check_prediction(done.prediction, data)
        measure = make_measure(done, sum(sizes), "jacobian" if task.level != "graph" else through)
        for number in range(max(map(len, picks))):
            taken = [graph for graph, picked in enumerate(picks) if number < len(picked)]
            index = torch.tensor([int(first[graph]) + picks[graph][number] for graph in taken], device=device)
            influence = torch.split(measure(index).cpu(), sizes)
            for graph in taken:
                found[graph].append(influence[graph].numpy())
    return [row for rows_of_graph in found for row in rows_of_graph]

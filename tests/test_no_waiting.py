"""On a GPU nothing of a forward or backward pass waits for the device: no value is looked at on the host.

There is no GPU here. Fake tensors on another device than the CPU stand for it: they have no values, so whatever asks
for one raises an error, and everything computes as it would there.
"""

from unittest.mock import patch

import pytest
import torch
from torch import nn
from torch._subclasses import FakeTensorMode
from torch_geometric.data import Batch

from ghr import GHR, CentrePaths, Coarsen, DiscountedLoss, Graclus, GridBlocks, MinPlusGHR
from ghr.bench.graphs import periodic_lattice
from ghr.nn.conv import CONVS
from ghr.nn.conv.base import Conv
from ghr.ops import using
from ghr.testing import random_graph

ELSEWHERE = "meta"


def graphs(levels=1):
    listed = [random_graph(9, 12, in_channels=2, edge_dim=3, seed=seed) for seed in range(2)]
    listed[0].edge_index[1, 0] = listed[0].edge_index[0, 0]  # a self loop
    return Batch.from_data_list([Coarsen(Graclus(rounds=1), levels=levels)(graph) for graph in listed])


def lattices():
    return Batch.from_data_list([Coarsen(GridBlocks(2))(periodic_lattice(8, seed)) for seed in range(2)])


def lengths():
    listed = [random_graph(9, 12, in_channels=1, edge_dim=1, seed=seed) for seed in range(2)]
    for graph in listed:
        graph.edge_attr = graph.edge_attr.abs()
    return Batch.from_data_list([Coarsen(Graclus(rounds=1), CentrePaths())(graph) for graph in listed])


def ghr(**options):
    return lambda: GHR(2, 8, 1, **{"edge_dim": 3, "steps": 2, "t_low": 2, **options})


CASES = {
    **{conv: (ghr(conv=conv), graphs) for conv in CONVS},
    **{f"{conv}, no edge features": (ghr(conv=conv, edge_dim=None), graphs) for conv in CONVS},
    **{f"pool {pool}": (ghr(pool=pool), graphs) for pool in ("sum", "mean")},
    **{readout: (ghr(readout=readout), graphs) for readout in ("graph", "edge-mlp")},
    "time": (ghr(time_informed=True), graphs),
    "checkpoint": (ghr(checkpoint=True), graphs),
    "random states": (ghr(initial_state="random"), graphs),
    "three levels": (ghr(levels=3), lambda: graphs(2)),
    **{
        f"{values}, {readout}, {conv}": (ghr(values=values, readout=readout, conv=conv), graphs)
        for values in ("select", "sum")
        for readout in ("node", "graph", "edge", "node-mlp")
        for conv in (None, "gated_gine")
    },
    "select, gate of the graph": (ghr(values="select", value_gate="graph", conv=None), graphs),
    "directions": (lambda: GHR(1, 8, 1, values="sum", directions=True, conv=None), lattices),
    "min-plus": (lambda: MinPlusGHR(1), lengths),
}


def move(model, data):
    """Put weights and data on the other device, as fake tensors."""

    def fake(value):
        return torch.empty_strided(value.shape, value.stride(), dtype=value.dtype, device=ELSEWHERE)

    for module in model.modules():
        for name, value in module._parameters.items():
            module._parameters[name] = None if value is None else nn.Parameter(fake(value))
        for name, value in module._buffers.items():
            module._buffers[name] = None if value is None else fake(value)
    return model, data.apply(fake)


@pytest.mark.parametrize("name", CASES)
def test_no_value_is_looked_at_in_a_training_step(name):
    build, load = CASES[name]
    model, data = build(), load()
    with FakeTensorMode():
        model, data = move(model, data)
        predictions = model.rollout(data)
        loss = DiscountedLoss(nn.MSELoss(), gamma=0.8, log10=True)(predictions, torch.zeros_like(predictions[0]))
        loss.backward()
        assert loss.device.type == ELSEWHERE
        assert any(value.grad is not None for value in model.parameters())


def test_looking_at_a_value_is_found():
    with FakeTensorMode(), pytest.raises(Exception, match="_local_scalar_dense"):
        bool(torch.empty(3, device=ELSEWHERE).sum() > 0)


@pytest.mark.parametrize("conv", CONVS)
def test_edges_are_prepared_once_for_all_steps(conv):
    model, data, calls = ghr(conv=conv, steps=3, t_high=2)(), graphs(), []
    kind = type(model.cells[0].conv)
    assert issubclass(kind, Conv)
    prepare = kind.prepare

    def count(self, *arguments):
        calls.append(self)
        return prepare(self, *arguments)

    with patch.object(kind, "prepare", count), using("torch"):
        model.rollout(data)
    assert calls == [cell.conv for cell in model.cells]


@pytest.mark.parametrize("name", ["gated_gine", "gat", "select, node, gated_gine"])
def test_a_training_step_compiles_in_one_piece(name):
    build, load = CASES[name]
    model, data, loss = build(), load(), DiscountedLoss(nn.MSELoss())
    target = torch.zeros(data.num_nodes, 1)

    def step(data):
        return loss(model.rollout(data, steps=1), target)

    torch.compiler.reset()
    compiled = torch.compile(step, fullgraph=True, backend="eager")
    assert compiled(data).item() == pytest.approx(step(data).item(), rel=1e-4)
    torch.compiler.reset()

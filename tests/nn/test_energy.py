import math

import pytest
import torch

from cases import hierarchy, randomise
from dynamics_cases import check_reset
from ghr.nn.aggregation import make_aggregation
from ghr.nn.energy import GraphEnergy


def test_energy_node_by_node():
    graph, energy = hierarchy(levels=1), randomise(GraphEnergy(4, edge_dim=3))
    aggregation = make_aggregation("naive", graph.edge_index, 9, torch.double, undirected=True)
    y = torch.randn(9, 4, generator=torch.Generator().manual_seed(0)).double()
    expected = 0.0
    for i in range(9):
        argument = energy.own(y[i])
        for (j, k), feature in zip(graph.edge_index.T.tolist(), graph.edge_attr, strict=True):
            if k == i:
                argument = argument + energy.neighbour @ y[j] + energy.edge(feature)
        expected += sum(math.log(math.cosh(float(value))) for value in argument.detach())
    found = energy(y, aggregation, aggregation.sum_features(graph.edge_attr))
    assert float(found.detach()) == pytest.approx(expected, rel=1e-12)


def test_large_states_have_a_finite_energy():
    energy = GraphEnergy(4)
    alone = make_aggregation("naive", torch.zeros(2, 0).long(), 1, torch.float)
    assert torch.isfinite(energy(torch.full((1, 4), 1e6), alone))
    assert energy(torch.zeros(1, 4), alone) >= 0


def test_reset_and_repr():
    check_reset(lambda: GraphEnergy(4, edge_dim=2))
    assert repr(GraphEnergy(4, edge_dim=2)) == "GraphEnergy(4, edge_dim=2)"
    assert repr(GraphEnergy(4)) == "GraphEnergy(4, edge_dim=None)"

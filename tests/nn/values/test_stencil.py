import pytest
import torch
from torch_geometric.data import Batch, Data

from ghr.hierarchy.data import levels_of
from ghr.hierarchy.lattice import Lattice, lattice_edges, square_offsets
from ghr.nn.values.stencil import Hops, Stencil, Way, edge_rates


def ways(side: int, radius: int, count: int = 2) -> tuple[Way, Way]:
    graphs = [Data(x=torch.zeros(side * side, 1), edge_index=lattice_edges(side)) for _ in range(count)]
    lattice = Lattice(levels_of(Batch.from_data_list(graphs))[0])
    table = lattice.look(square_offsets(radius))
    return Way(table), Way(None, lattice.shape)


@pytest.mark.parametrize(("side", "radius"), [(6, 1), (6, 2), (4, 3), (3, 3)])
def test_gathering_convolving_and_loops_agree(side, radius):
    stencil = Stencil((2 * radius + 1) ** 2, 3, 2).double()
    values = torch.randn(2 * side * side, 3, dtype=torch.double)
    by_table, by_image = ways(side, radius)
    weight = stencil.weight.view(-1, 3, 2)
    expected = torch.zeros(len(values), 2, dtype=torch.double)
    for node, row in enumerate(by_table.table.tolist()):
        for offset, other in enumerate(row):
            expected[node] += values[other] @ weight[offset]
    torch.testing.assert_close(stencil(values, by_table), expected)
    torch.testing.assert_close(stencil(values, by_image), expected)


@pytest.mark.parametrize("kind", [0, 1])
def test_gradients(kind):
    stencil = Stencil(9, 2, 2).double()
    way = ways(3, 1, count=1)[kind]
    values = torch.randn(9, 2, dtype=torch.double, requires_grad=True)
    assert torch.autograd.gradcheck(lambda v: stencil(v, way), (values,))


def test_hops_are_powers_of_the_scaled_adjacency_matrix():
    edges = torch.tensor([[0, 1, 1, 2, 2, 3, 0, 2], [1, 0, 2, 1, 3, 2, 2, 0]])
    hops = Hops(3, 2).double()
    adjacency = torch.zeros(5, 5, dtype=torch.double)
    degree = [sum(int(end) == node for end in edges[1]) for node in range(5)]
    for source, target in edges.T.tolist():
        adjacency[target, source] += 1 / (degree[source] * degree[target]) ** 0.5
    values = torch.randn(5, 2, dtype=torch.double)
    expected = sum(torch.linalg.matrix_power(adjacency, h) @ values @ hops.weight[h] for h in range(4))
    torch.testing.assert_close(hops(values, (edges, edge_rates(edges, 5, torch.double))), expected)

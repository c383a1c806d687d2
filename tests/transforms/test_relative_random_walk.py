import pytest
import torch
from torch_geometric.data import Batch, Data

from cases import AWKWARD
from ghr import memory
from ghr.testing import path_graph, random_graph
from ghr.transforms import RandomWalkEncoding, RelativeRandomWalk


def awkward_graph(name):
    num_nodes, edges = AWKWARD[name]
    return Data(edge_index=torch.tensor(edges, dtype=torch.long).reshape(-1, 2).T, num_nodes=num_nodes)


@pytest.mark.parametrize("name", AWKWARD)
def test_matrix_powers(name):
    data = RelativeRandomWalk(5)(awkward_graph(name))
    size = data.num_nodes
    walk = torch.zeros(size, size, dtype=torch.double)
    for u, v in data.edge_index.T.tolist():
        walk[u, v] += 1
    walk /= walk.sum(dim=1, keepdim=True).clamp(min=1)
    seen = set()
    for (j, i), row in zip(data.pair_index.T.tolist(), data.rrwp, strict=True):
        seen.add((i, j))
        expected = [float(torch.linalg.matrix_power(walk, k)[i, j]) for k in range(5)]
        torch.testing.assert_close(row, torch.tensor(expected))
    assert len(seen) == size**2


def test_rows_add_up_to_one_and_the_diagonal_is_that_of_the_walks_that_return():
    data = RandomWalkEncoding(6)(RelativeRandomWalk(7)(random_graph(12, 40, seed=1)))
    assert (torch.bincount(data.edge_index[0], minlength=12) > 0).all()
    powers = data.rrwp.view(12, 12, 7)
    torch.testing.assert_close(powers.sum(dim=1), torch.ones(12, 7))
    assert torch.equal(powers[:, :, 0], torch.eye(12))
    torch.testing.assert_close(powers.diagonal().T[:, 1:], data.rwse)


def test_nothing_arrives_before_it_can():
    powers = RelativeRandomWalk(9)(path_graph(8)).rrwp.view(8, 8, 9)
    here = torch.arange(8)
    distance = (here[:, None] - here[None, :]).abs().unsqueeze(2)
    reached = powers > 0
    assert not reached[(distance > torch.arange(9)).expand_as(reached)].any()
    assert reached[(distance == torch.arange(9)).expand_as(reached)].all()


def test_a_batch_shifts_the_pairs():
    graphs = [RelativeRandomWalk(3)(path_graph(size)) for size in (2, 1, 3)]
    batch = Batch.from_data_list(graphs)
    assert torch.equal(batch.rrwp, torch.cat([graph.rrwp for graph in graphs]))
    expected = [graph.pair_index + first for graph, first in zip(graphs, (0, 2, 3), strict=True)]
    assert torch.equal(batch.pair_index, torch.cat(expected, dim=1))


def test_it_says_its_memory_before_it_fails(monkeypatch):
    monkeypatch.setattr(memory, "physical_memory", lambda: 10**6)
    with pytest.raises(ValueError, match=r"of all pairs of 65,536 nodes needs [\d,]+ GiB of memory"):
        RelativeRandomWalk(8)(Data(edge_index=torch.zeros(2, 0, dtype=torch.long), num_nodes=65_536))


def test_the_name_and_wrong_arguments():
    assert repr(RelativeRandomWalk(8)) == "RelativeRandomWalk(8, name='rrwp')"
    with pytest.raises(ValueError, match="steps must be a whole number of at least 1; got 0"):
        RelativeRandomWalk(0)

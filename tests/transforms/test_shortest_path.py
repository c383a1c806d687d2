import pytest
import torch
from torch_geometric.data import Batch, Data

from cases import AWKWARD
from ghr import memory
from ghr.testing import path_graph
from ghr.transforms import ShortestPathDistance


@pytest.mark.parametrize("name", AWKWARD)
@pytest.mark.parametrize("cap", [1, 2, 9])
def test_by_powers_of_the_adjacency(name, cap):
    num_nodes, edges = AWKWARD[name]
    index = torch.tensor(edges, dtype=torch.long).reshape(-1, 2).T
    data = ShortestPathDistance(cap)(Data(edge_index=index, num_nodes=num_nodes))
    step = torch.zeros(num_nodes, num_nodes)
    step[index[0], index[1]] = 1
    walks = [torch.linalg.matrix_power(step, k) for k in range(cap + 1)]
    for (source, target), found in zip(data.pair_index.T.tolist(), data.spd.tolist(), strict=True):
        assert found == next((k for k in range(cap + 1) if walks[k][source, target] > 0), cap + 1)
    assert data.spd.numel() == num_nodes**2


def test_a_batch_shifts_the_pairs():
    graphs = [ShortestPathDistance(5)(path_graph(size)) for size in (3, 1, 2)]
    batch = Batch.from_data_list(graphs)
    source, target = batch.pair_index
    assert torch.equal(batch.spd.long(), (source - target).abs())
    assert torch.equal(batch.batch[source], batch.batch[target])


def test_it_says_its_memory_before_it_fails(monkeypatch):
    monkeypatch.setattr(memory, "physical_memory", lambda: 10**6)
    with pytest.raises(ValueError, match=r"The shortest paths of all pairs of 65,536 nodes needs [\d,]+ GiB"):
        ShortestPathDistance(8)(Data(edge_index=torch.zeros(2, 0, dtype=torch.long), num_nodes=65_536))


def test_the_name_and_wrong_arguments():
    assert repr(ShortestPathDistance(8)) == "ShortestPathDistance(8, name='spd')"
    with pytest.raises(ValueError, match="cap must be a whole number of at least 1; got 0"):
        ShortestPathDistance(0)

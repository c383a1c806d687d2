import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch_geometric.data import Batch, Data
from torch_geometric.transforms import AddRandomWalkPE

from cases import AWKWARD
from ghr import memory
from ghr.testing import path_graph, random_graph
from ghr.transforms import RandomWalkEncoding, random_walk


def awkward_graph(name):
    num_nodes, edges = AWKWARD[name]
    return Data(edge_index=torch.tensor(edges, dtype=torch.long).reshape(-1, 2).T, num_nodes=num_nodes)


def slow_walk(data):
    """M = D^-1 A, edge by edge."""
    walk = torch.zeros(data.num_nodes, data.num_nodes, dtype=torch.double)
    for u, v in data.edge_index.T.tolist():
        walk[u, v] += 1
    return walk / walk.sum(dim=1, keepdim=True).clamp(min=1)


def encode(data, steps):
    return RandomWalkEncoding(steps)(data).rwse


@pytest.mark.parametrize("name", AWKWARD)
@pytest.mark.parametrize("steps", [1, 2, 7])
def test_the_diagonal_of_powers(name, steps):
    data = awkward_graph(name)
    walk = slow_walk(data)
    expected = torch.stack([torch.linalg.matrix_power(walk, k).diagonal() for k in range(1, steps + 1)], dim=1)
    torch.testing.assert_close(encode(data, steps), expected.float())


@given(st.integers(2, 30), st.integers(1, 60), st.integers(0, 10**6))
def test_the_same_as_pyg_s(num_nodes, num_edges, seed):
    data = random_graph(num_nodes, num_edges, seed=seed)
    torch.testing.assert_close(encode(data, 9), AddRandomWalkPE(9, "pe")(data.clone()).pe, atol=1e-6, rtol=1e-5)


def test_more_nodes_than_are_followed_at_a_time(monkeypatch):
    data = random_graph(30, 50, seed=5)
    data.edge_index = data.edge_index[:, ::3]  # directed
    whole = encode(data.clone(), 8)
    monkeypatch.setattr(random_walk, "ROWS", 7)
    torch.testing.assert_close(encode(data, 8), whole)


def test_a_batch_has_the_rows_of_its_graphs():
    graphs = [RandomWalkEncoding(4)(path_graph(size)) for size in (1, 3, 6)]
    batch = Batch.from_data_list(graphs)
    assert torch.equal(batch.rwse, torch.cat([graph.rwse for graph in graphs]))


def test_it_says_its_memory_before_it_fails(monkeypatch):
    monkeypatch.setattr(memory, "physical_memory", lambda: 1000)
    with pytest.raises(ValueError, match=r"The random walks of 8 steps on 30 nodes needs .* take fewer steps\."):
        encode(path_graph(30), 8)


def test_wrong_arguments_and_the_name():
    with pytest.raises(ValueError, match="steps must be a whole number of at least 1; got 0"):
        RandomWalkEncoding(0)
    with pytest.raises(ValueError, match="no edge_index"):
        RandomWalkEncoding(2)(Data(num_nodes=3))
    assert repr(RandomWalkEncoding(16)) == "RandomWalkEncoding(16, name='rwse')"

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch_geometric.data import Batch, Data

from ghr.hierarchy import Coarsen, Graclus
from ghr.testing import path_graph, permute, random_graph
from ghr.transforms import LaplacianEncoding, laplacian


def slow_laplacian(data):
    size = data.num_nodes
    adjacency = torch.zeros(size, size, dtype=torch.float64)
    for u, v in data.edge_index.t().tolist():
        if u != v:
            adjacency[u, v] = adjacency[v, u] = 1
    result = torch.zeros_like(adjacency)
    for u in range(size):
        for v in range(size):
            du, dv = float(adjacency[u].sum()), float(adjacency[v].sum())
            if u == v and du:
                result[u, v] = 1
            elif adjacency[u, v]:
                result[u, v] = -1 / (du * dv) ** 0.5
    return result


def encode(data, count, **options):
    return LaplacianEncoding(count, **options)(data.clone()).laplacian


@given(st.integers(1, 25), st.integers(0, 60), st.integers(1, 8), st.integers(0, 10**6))
def test_columns_are_eigenvectors_in_order(num_nodes, num_edges, count, seed):
    data = random_graph(num_nodes, num_edges, seed=seed)
    found = encode(data, count).double()
    assert found.shape == (num_nodes, count)
    matrix = slow_laplacian(data)
    values = torch.linalg.eigvalsh(matrix)[1 : count + 1]
    known = len(values)
    assert torch.allclose(matrix @ found[:, :known], found[:, :known] * values, atol=1e-5)
    assert torch.allclose(found[:, :known].T @ found[:, :known], torch.eye(known, dtype=torch.float64), atol=1e-5)
    assert not found[:, known:].any()


@pytest.mark.parametrize("data", [Data(edge_index=torch.zeros(2, 0).long(), num_nodes=1), path_graph(2)])
def test_tiny_graphs_are_padded(data):
    found = encode(data, 16)
    assert found.shape == (data.num_nodes, 16)
    assert torch.isfinite(found).all()


def test_fixed_signs_do_not_depend_on_the_numbering():
    data = random_graph(30, 120, seed=3)
    assert torch.linalg.eigvalsh(slow_laplacian(data)).diff()[:9].min() > 1e-3  # connected, nothing repeated
    order = torch.randperm(30, generator=torch.Generator().manual_seed(0))
    other = permute(data, [order], torch.randperm(data.num_edges))
    assert torch.allclose(encode(other, 8), encode(data, 8)[order], atol=1e-4)


def test_fixed_signs_are_the_same_where_symmetry_leaves_them_open():
    data = path_graph(7)  # every second eigenvector is odd under reflection
    flipped = data.clone()
    flipped.edge_index = data.edge_index.flip(1)
    assert torch.equal(encode(data, 6), encode(flipped, 6))


def test_random_signs_differ_in_sign_only():
    data = random_graph(20, 40, seed=1)
    torch.manual_seed(0)
    draws = [encode(data, 4, sign="random") for _ in range(12)]
    fixed = encode(data, 4)
    assert all(torch.allclose(draw.abs(), fixed.abs(), atol=1e-6) for draw in draws)
    signs = {tuple((draw * fixed).sum(dim=0).sign().tolist()) for draw in draws}
    assert len(signs) > 3


def test_large_graphs_take_the_sparse_way_to_the_same_vectors(monkeypatch):
    data = random_graph(80, 320, seed=2)
    assert torch.linalg.eigvalsh(slow_laplacian(data)).diff()[:6].min() > 1e-3
    dense = encode(data, 5)
    monkeypatch.setattr(laplacian, "DENSE", 10)
    monkeypatch.setattr(laplacian.np.linalg, "eigh", None)
    assert torch.allclose(encode(data, 5), dense, atol=1e-5)


def test_encoding_goes_to_x_where_wanted_and_through_batches():
    data = path_graph(5)
    appended = LaplacianEncoding(3, name=None)(data.clone())
    assert torch.equal(appended.x, torch.cat([data.x, encode(data, 3)], dim=1))
    bare = LaplacianEncoding(2, name=None)(Data(edge_index=data.edge_index, num_nodes=5))
    assert bare.x.shape == (5, 2)
    graphs = [Coarsen(Graclus(rounds=1))(LaplacianEncoding(3)(path_graph(size))) for size in (1, 4, 6)]
    assert Batch.from_data_list(graphs).laplacian.shape == (11, 3)


def test_wrong_arguments_are_named():
    with pytest.raises(ValueError, match="Unknown sign 'odd'; known are fixed, random"):
        LaplacianEncoding(3, sign="odd")
    with pytest.raises(ValueError, match="count must be a whole number of at least 1; got 0"):
        LaplacianEncoding(0)
    with pytest.raises(ValueError, match="no edge_index"):
        LaplacianEncoding(2)(Data(num_nodes=3))
    assert repr(LaplacianEncoding(16)) == "LaplacianEncoding(16, sign='fixed', name='laplacian')"


@pytest.mark.parametrize("num_nodes", [1, 3, 20])
@pytest.mark.parametrize("dense", [1000, 4])
def test_eigenvalues_and_the_first_vector_of_the_plain_laplacian(num_nodes, dense, monkeypatch):
    monkeypatch.setattr(laplacian, "DENSE", dense)
    data = random_graph(num_nodes, 3 * num_nodes, seed=1)
    adjacency = torch.zeros(num_nodes, num_nodes, dtype=torch.float64)
    adjacency[data.edge_index[0], data.edge_index[1]] = 1
    matrix = adjacency.sum(dim=1).diag() - adjacency
    found = LaplacianEncoding(6, normalised=False, trivial=True, values="eigenvalues")(data)
    known = min(6, num_nodes)
    expected = torch.linalg.eigvalsh(matrix)[:known].clamp(min=0)
    assert found.eigenvalues.shape == (1, 6)
    assert torch.allclose(found.eigenvalues[0, :known].double(), expected, atol=1e-4)
    assert found.eigenvalues[0, known:].isnan().all()
    vectors = found.laplacian[:, :known].double()
    assert torch.allclose(matrix @ vectors, vectors * expected, atol=1e-4)
    assert torch.allclose(vectors.norm(dim=0), torch.ones(known, dtype=torch.double), atol=1e-5)


def test_more_options_are_named_where_they_are_not_as_usual():
    text = repr(LaplacianEncoding(3, normalised=False, trivial=True, values="values"))
    assert (
        text == "LaplacianEncoding(3, sign='fixed', name='laplacian', normalised=False, trivial=True, values='values')"
    )


def test_a_large_graph_in_pieces_has_an_eigenvalue_zero_for_each(monkeypatch):
    monkeypatch.setattr(laplacian, "DENSE", 8)
    data = Batch.from_data_list([random_graph(20, 60, seed=1), path_graph(3), random_graph(15, 60, seed=2)])
    given = Data(edge_index=data.edge_index, num_nodes=38)
    found = LaplacianEncoding(7, trivial=True, values="eigenvalues")(given)
    matrix = slow_laplacian(given)
    expected = torch.linalg.eigvalsh(matrix)[:7]
    assert (expected < 1e-9).sum() == 3
    assert torch.allclose(found.eigenvalues[0].double(), expected, atol=1e-5)
    vectors = found.laplacian.double()
    assert torch.allclose(matrix @ vectors, vectors * expected, atol=1e-5)
    assert torch.allclose(vectors.T @ vectors, torch.eye(7, dtype=torch.double), atol=1e-5)

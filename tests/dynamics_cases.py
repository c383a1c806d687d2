"""What the tests of A-DGN, SWAN, GraphCON, PH-DGN, DRew and Cache-GNN share: laws, odd graphs, and dense matrices."""

import numpy as np
import torch
from torch_geometric.data import Batch, Data

import ghr
import reference
from cases import AWKWARD, awkward, hierarchy, randomise
from ghr import MODELS, Task
from ghr.testing import (
    assert_batch_equals_loop,
    assert_gradients_reach_all_parameters,
    assert_permutation_equivariant,
    path_graph,
    random_graph,
)


def small(build, **options):
    """A model in double precision whose weights are off their start."""
    torch.manual_seed(0)
    return randomise(build(**{"in_channels": 2, "hidden_channels": 5, "out_channels": 2, "layers": 3, **options}))


def odd_graph(name, edge_dim):
    """A graph of `AWKWARD`, with directed edges, repeats and self loops among them."""
    x, edge_index, edge_attr = awkward(name, 2, edge_dim)
    return Data(x=x, edge_index=edge_index, edge_attr=edge_attr)


ODD = tuple(AWKWARD)


# Laws


def check_laws(build, tmp_path, **options):
    """Assert what every model promises, on graphs with and without edge features."""
    for edge_dim in (None, 3):
        model = small(build, edge_dim=edge_dim, **options).eval()

        def predict(data, model=model):
            return model(model.prepare(data))

        assert_permutation_equivariant(predict, hierarchy(levels=1, edge_dim=edge_dim), rtol=1e-9)
        sizes = ((4, 6), (9, 11), (1, 0), (3, 0))
        graphs = [hierarchy(n, m, levels=1, edge_dim=edge_dim, seed=n) for n, m in sizes]
        assert_batch_equals_loop(model, [model.prepare(graph) for graph in graphs], rtol=1e-9)
        torch.manual_seed(0)
        fresh = build(
            **{"in_channels": 2, "hidden_channels": 8, "out_channels": 2, "layers": 3, **options}, edge_dim=edge_dim
        )
        fresh = fresh.double()
        data = fresh.prepare(hierarchy(12, 18, levels=1, edge_dim=edge_dim))
        assert_gradients_reach_all_parameters(fresh, data)
        check_reset(lambda edge_dim=edge_dim: build(2, 7, 2, layers=3, edge_dim=edge_dim, **options))
        model.save_pretrained(tmp_path / str(edge_dim))
        loaded = ghr.load(tmp_path / str(edge_dim))
        assert type(loaded) is type(model)
        assert loaded.config == model.config
        assert repr(loaded.transform) == repr(model.transform)
        assert torch.equal(loaded(model.prepare(graphs[1])), model(model.prepare(graphs[1])))
    for level in ("graph", "edge"):
        model = small(build, edge_dim=3, readout=level, **options).eval()
        assert_permutation_equivariant(
            lambda data, model=model: model(model.prepare(data)), hierarchy(levels=1), level=level, rtol=1e-9
        )
    assert "\n" not in repr(model)


def check_reset(build):
    """Assert that a reset with a seed gives what building with it gives."""
    torch.manual_seed(3)
    model = build()
    expected = {name: value.clone() for name, value in model.state_dict().items()}
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.fill_(7)
    torch.manual_seed(3)
    model.reset_parameters()
    for name, value in model.state_dict().items():
        assert torch.equal(value, expected[name]), name


def check_kinds(name):
    """Assert that single precision, codes, training on a single node and both budgets are no trouble."""
    entry = MODELS[name]
    graph = random_graph(6, 9, edge_dim=1)
    for level in ("node", "graph"):
        for budget in (15_000, 500_000):
            model = entry.for_data(graph, Task(level), {} if budget == 15_000 else {"budget": budget})
            assert abs(model.num_parameters - budget) <= budget / 10
    codes = [random_graph(size, 8, seed=size) for size in (1, 5)]
    for graph in codes:
        graph.x = torch.arange(2 * graph.num_nodes).reshape(-1, 2) % 3
        graph.edge_attr = torch.arange(graph.num_edges).unsqueeze(1) % 4
    for level in ("node", "graph", "edge"):
        model = entry.for_data(codes, Task(level, out_channels=2), {"layers": 2, "hidden_channels": 6})
        batch = Batch.from_data_list([model.prepare(graph) for graph in codes])
        prediction = model(batch)
        assert prediction.shape == ({"node": 6, "graph": 2, "edge": batch.num_edges}[level], 2)
        assert prediction.dtype == torch.float32
        assert torch.isfinite(prediction).all()
    alone = entry.for_data(path_graph(1), Task("node"), {"layers": 2, "hidden_channels": 6}).train()
    assert alone(alone.prepare(path_graph(1))).shape == (1, 1)


def check_loop(build, **options):
    """Assert that the number of updates can be changed at inference, and that it changes no weights."""
    short, long = small(build, layers=2, **options), small(build, layers=5, **options)
    assert short.state_dict().keys() == long.state_dict().keys()
    assert short.num_parameters == long.num_parameters
    long.load_state_dict(short.state_dict())
    data = hierarchy(levels=1, edge_dim=options.get("edge_dim"))
    assert torch.equal(short(data, layers=5), long(data))
    assert not torch.equal(short(data), long(data))


def reach(model, num_nodes):
    """How far along a path a prediction sees."""
    path = path_graph(num_nodes)
    path.x = torch.randn(num_nodes, 1, generator=torch.Generator().manual_seed(0)).double()
    prepared = model.prepare(path)

    def predict(x):
        given = prepared.clone()
        given.x = x
        return model(given)[0].sum()

    gradient = torch.autograd.functional.jacobian(predict, path.x).abs().sum(dim=1)
    return int(gradient.nonzero().max())


# Dense matrices, entry by entry


def adjacency(graph):
    """Entry (i, j) is how many edges lead from j to i."""
    matrix = np.zeros((graph.num_nodes, graph.num_nodes))
    for j, i in graph.edge_index.T.tolist():
        matrix[i, j] += 1
    return matrix


def undirected_adjacency(graph):
    """Entry (i, j) is one if i and j are different and some edge joins them."""
    matrix = np.zeros((graph.num_nodes, graph.num_nodes))
    for j, i in graph.edge_index.T.tolist():
        if i != j:
            matrix[i, j] = matrix[j, i] = 1
    return matrix


def gcn_matrix(matrix):
    """D^-1/2 (A + I) D^-1/2 with the in-degrees of A + I, A without its diagonal."""
    size = len(matrix)
    own = np.array([[1.0 if i == j else matrix[i, j] for j in range(size)] for i in range(size)])
    degree = [sum(own[i]) for i in range(size)]
    return np.array([[own[i, j] / (degree[i] * degree[j]) ** 0.5 for j in range(size)] for i in range(size)])


def gcn_entry(matrix, i, j):
    """What weighs a single edge from j to i, zero for a self loop."""
    degree = [1 + sum(matrix[k, j] for j in range(len(matrix)) if j != k) for k in (i, j)]
    return 0.0 if i == j else 1 / (degree[0] * degree[1]) ** 0.5


def encode(model, graph):
    """The weights, the encoded nodes as a matrix, and the encoded edges as (j, i, feature)."""
    weights = reference.read_weights(model)
    x = np.array([reference.linear(weights, "node_encoder", row) for row in reference.read_rows(graph.x)])
    edges = []
    if graph.edge_attr is not None:
        rows = reference.read_rows(graph.edge_attr)
        for (j, i), row in zip(graph.edge_index.T.tolist(), rows, strict=True):
            edges.append((j, i, reference.linear(weights, "edge_encoder.map", row)))
    return weights, x, edges


def sum_edges(edges, shape, entry):
    """Row i is the sum over the edges to i, each times its entry."""
    total = np.zeros(shape)
    for j, i, feature in edges:
        total[i] += entry(i, j) * feature
    return total


def read_nodes(weights, states):
    return [reference.mlp(reference.under(weights, "readout.mlp"), row) for row in states]

"""What the tests of the fixed-depth baselines share."""

from collections.abc import Callable

import torch
from torch import nn
from torch_geometric.data import Batch, Data
from torch_geometric.nn import GATv2Conv, GCNConv, GINConv, GINEConv, PNAConv, SAGEConv, TransformerConv

import ghr
from cases import hierarchy, randomise
from ghr import MODELS, GraphModel, Task
from ghr.nn import MLP
from ghr.nn.conv.bare import AGGREGATORS, SCALERS
from ghr.testing import (
    assert_batch_equals_loop,
    assert_gradients_reach_all_parameters,
    assert_permutation_equivariant,
    random_graph,
)

DEGREES = [1, 3, 4, 2]  # of nodes, for PNA
# The layers of PyG, and how they call what ours have.
PYG = {
    "gcn": lambda edge_dim: GCNConv(6, 6),
    "gin": lambda edge_dim: GINConv(MLP(6, 6, 6), train_eps=True),
    "gine": lambda edge_dim: GINEConv(MLP(6, 6, 6), train_eps=True, edge_dim=edge_dim),
    "gat": lambda edge_dim: GATv2Conv(6, 3, heads=2, edge_dim=edge_dim),
    "sage": lambda edge_dim: SAGEConv(6, 6),
    "pna": lambda edge_dim: PNAConv(6, 6, AGGREGATORS, SCALERS, torch.tensor(DEGREES), edge_dim=edge_dim),
    "transformer": lambda edge_dim: TransformerConv(6, 3, heads=2, edge_dim=edge_dim),
}
RENAMED = {
    "gcn": {"linear.weight": "lin.weight", "linear.bias": "bias"},
    "gine": {"epsilon": "eps", "edge.": "lin.", "update.": "nn."},
}


def pyg_layer(name, conv, edge_dim):
    """The layer of PyG with the weights of ours."""
    layer, weights = PYG[name](edge_dim).double(), conv.state_dict()
    for old, new in RENAMED.get(name, {"module.": ""}).items():
        weights = {
            new + key.removeprefix(old) if key.startswith(old) else key: value
            for key, value in weights.items()
            if not key.startswith("weigh.")
        }
    shapes = layer.state_dict()
    layer.load_state_dict({key: value.reshape(shapes[key].shape) for key, value in weights.items()})
    return layer


LEVELS = ("node", "graph", "edge")


def settle(model: nn.Module, *, scale: float = 0.15) -> nn.Module:
    """A model in double precision and evaluation mode, whose batch norms have seen other numbers than zero and one."""
    randomise(model, scale=scale)
    generator = torch.Generator().manual_seed(1)
    for name, buffer in model.named_buffers():
        if name.endswith(("running_mean", "running_var")):
            buffer += 0.5 * torch.rand(buffer.shape, generator=generator, dtype=torch.double)
    return model.eval()


def check_laws(build: Callable[..., GraphModel]) -> None:
    """Assert the laws of a model for all levels of predictions, with edge features and without."""
    for level in LEVELS:
        for edge_dim in (3, None):
            torch.manual_seed(0)
            model = settle(build(edge_dim=edge_dim, readout=level))
            graph = hierarchy(edge_dim=edge_dim, levels=1)
            assert_permutation_equivariant(model, graph, level=level, rtol=1e-9)
            graphs = [hierarchy(n, n + 2, seed=n, edge_dim=edge_dim, levels=1) for n in (4, 9, 6, 1)]
            assert_batch_equals_loop(model, graphs, rtol=1e-9)
    for level in LEVELS:
        torch.manual_seed(0)
        model = settle(build(edge_dim=3, readout=level), scale=0.05)
        assert_gradients_reach_all_parameters(model, hierarchy(12, 18, levels=1))


def check_reset(build: Callable[[], GraphModel]) -> None:
    """Assert that a reset depends on the seed alone, and gives weights that are spread as those of a new model."""
    fresh, reset = [], []
    for start in (1, 2):
        torch.manual_seed(start)
        model = build()
        fresh.append({name: value.clone() for name, value in model.state_dict().items()})
        with torch.no_grad():
            for value in (*model.parameters(), *model.buffers()):
                value.fill_(7)
        torch.manual_seed(0)
        model.reset_parameters()
        reset.append(model.state_dict())
    for name, start in fresh[0].items():
        value = reset[0][name]
        assert torch.equal(value, reset[1][name]), f"{name} depends on what was before"
        if torch.equal(start, fresh[1][name]):
            assert torch.equal(value, start), f"{name} starts at a fixed value"
        else:
            assert not torch.equal(value, start), f"{name} starts at random"
        if start.numel() > 100:
            assert torch.isclose(value.std(), start.std(), rtol=0.2), name
            assert torch.isclose(value.abs().max(), start.abs().max(), rtol=0.5), name


def check_budgets(name: str) -> None:
    """Assert that a width is found for both budgets, within ten percent."""
    graph = random_graph(12, 20, edge_dim=1)
    for level in ("node", "graph"):
        for budget in (15_000, 500_000):
            model = MODELS[name].for_data(graph, Task(level), {"budget": budget})
            assert abs(model.num_parameters - budget) <= 0.1 * budget
            assert model.config["layers"] > 1
    assert MODELS[name].budget == 15_000


def code_graphs() -> list[Data]:
    """Graphs with integer codes on nodes and edges."""
    graphs = []
    for seed in range(3):
        data = random_graph(5 + seed, 8, seed=seed)
        generator = torch.Generator().manual_seed(seed)
        data.x = torch.randint(3, (data.num_nodes, 2), generator=generator)
        data.edge_attr = torch.randint(4, (data.num_edges, 2), generator=generator)
        graphs.append(data)
    return graphs


def odd_graphs(edge_dim: int | None) -> list[Data]:
    """One node, no edges, isolated nodes, one-way edges, self loops and repeats."""
    graphs = []
    for nodes, edges in (
        (1, []),
        (3, []),
        (5, [(0, 3), (3, 0)]),
        (4, [(0, 1), (1, 2), (2, 3)]),
        (3, [(0, 0), (0, 1), (0, 1), (2, 1), (2, 2)]),
    ):
        index = torch.tensor(edges, dtype=torch.long).reshape(-1, 2).T.contiguous()
        data = Data(x=torch.randn(nodes, 2), edge_index=index)
        if edge_dim is not None:
            data.edge_attr = torch.randn(len(edges), edge_dim)
        graphs.append(data)
    return graphs


def check_odd_graphs(build: Callable[..., GraphModel]) -> None:
    """Assert that odd graphs get finite predictions and gradients, in training as one batch, and one by one after."""
    torch.manual_seed(0)
    for edge_dim in (3, None):
        for level in LEVELS:
            model = build(edge_dim=edge_dim, readout=level)
            graphs = odd_graphs(edge_dim)
            prediction = model(Batch.from_data_list(graphs))
            prediction.square().sum().backward()
            assert prediction.dtype == torch.float32
            assert all(value.grad is None or value.grad.isfinite().all() for value in model.parameters())
            for graph in graphs:
                rows = {"node": graph.num_nodes, "graph": 1, "edge": graph.num_edges}[level]
                given = model.eval()(graph)
                assert given.shape == (rows, 2)
                assert given.isfinite().all()


def check_by_name(name: str, folder) -> None:
    """Assert that a name of the map is built for codes and numbers, is trained on, saved and loaded."""
    torch.manual_seed(0)
    for number, graphs in enumerate(
        (code_graphs(), [random_graph(6, 8, in_channels=2, edge_dim=3, seed=s) for s in (0, 1)])
    ):
        batch = Batch.from_data_list(graphs)
        for level in LEVELS:
            small = {"hidden_channels": 4} if name != "constant" else {}
            model = MODELS[name].for_data(graphs, Task(level, out_channels=2), small)
            model(batch).square().sum().backward()
            target = folder / f"{number}-{level}"
            model.eval().save_pretrained(target)
            loaded = ghr.load(target)
            assert type(loaded) is type(model)
            assert loaded.config == model.config
            assert torch.equal(loaded(batch), model(batch))


def reach(model: GraphModel, num_nodes: int = 9) -> torch.Tensor:
    """Which nodes of a path each node's prediction depends on."""
    path = ghr.testing.path_graph(num_nodes)
    x = torch.rand(num_nodes, 2, generator=torch.Generator().manual_seed(0), dtype=torch.double) + 0.5

    def predict(x):
        return model(Data(x=x, edge_index=path.edge_index))[:, 0]

    return torch.autograd.functional.jacobian(predict, x).abs().sum(dim=2) > 0

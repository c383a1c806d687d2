"""Every model on graphs that real data have and tidy tests forget: a new name in the map adds its rows by itself."""

import pytest
import torch
from torch_geometric.data import Batch, Data

from ghr import MODELS, Task
from ghr.testing import random_graph
from test_matrix import SMALL

MAKES = ("plain", "weighted", "coded")
REFUSALS = {
    ("min-plus", "coded"): r"MinPlusGHR reads marks .* but the graphs have codes; .*\.$",
    **{
        ("lattice-unet", make): r"LatticeUNet takes periodic square lattices .* graphs has 7 nodes\. .*\.$"
        for make in MAKES
    },
    **{("torus-kernel", make): r"TorusKernel reads one number per node, .*\.$" for make in MAKES},
}


def plain(nodes, edges, dtype, seed=0):
    return in_range(random_graph(nodes, edges, in_channels=2, seed=seed), dtype)


def weighted(nodes, edges, dtype, seed=0):
    data = in_range(random_graph(nodes, edges, in_channels=2, seed=seed), dtype)
    data.edge_attr = (0.5 + data.edge_index.sum(dim=0).remainder(3)).to(dtype).unsqueeze(1)  # alike in both directions
    return data


def in_range(data, dtype):
    """Give the nodes numbers between zero and one, which min-plus reads as marks."""
    data.x = data.x.sigmoid().to(dtype)
    return data


def coded(nodes, edges, dtype, seed=0):
    data = random_graph(nodes, edges, seed=seed)
    generator = torch.Generator().manual_seed(seed)
    data.x = torch.randint(3, (nodes, 2), generator=generator)
    data.x[:3] = torch.arange(3).unsqueeze(1)[:nodes]
    data.edge_attr = torch.arange(data.num_edges).remainder(4).unsqueeze(1)
    return data


def as_dtype(value, dtype):
    return value.to(dtype) if value.is_floating_point() else value


def cut(data, nodes, joined):
    """Keep the first nodes, and the edges among the first of these."""
    inside = (data.edge_index < joined).all(dim=0)
    kept = Data(x=data.x[:nodes], edge_index=data.edge_index[:, inside])
    if data.edge_attr is not None:
        kept.edge_attr = data.edge_attr[inside]
    return kept


ODD = {
    "one node": lambda make, dtype: cut(make(6, 9, dtype), 1, 0),
    "no edges": lambda make, dtype: cut(make(6, 9, dtype), 5, 0),
    "isolated nodes": lambda make, dtype: cut(make(9, 25, dtype), 9, 4),
}


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64], ids=["float32", "float64"])
@pytest.mark.parametrize("make", [plain, weighted, coded])
@pytest.mark.parametrize("name", MODELS)
def test_odd_graphs(name, make, dtype):
    if (name, make.__name__) not in REFUSALS:
        check_odd_graphs(MODELS[name], make, dtype)
        return
    with pytest.raises(ValueError, match=REFUSALS[name, make.__name__]):
        check_odd_graphs(MODELS[name], make, dtype)


def check_odd_graphs(entry, make, dtype):
    usual = [make(7, 12, dtype, seed=seed) for seed in range(3)]
    task, known = Task("node", out_channels=2), {*entry.build.option_names()}
    options = {name: value for name, value in SMALL.items() if name in known}
    if "t_high" in options and entry.options.get("levels") == 1:
        del options["t_high"]
    torch.manual_seed(0)
    model = entry.for_data(usual, task, options).to(dtype)
    graphs = [*usual[:1], *(build(make, dtype) for build in ODD.values())]
    prepared = [model.prepare(graph).apply(lambda value: as_dtype(value, dtype)) for graph in graphs]
    model.eval()
    with torch.no_grad():
        alone = [model(graph) for graph in prepared]
        together = model(Batch.from_data_list(prepared))
    for graph, prediction in zip(graphs, alone, strict=True):
        assert prediction.shape == (graph.num_nodes, 2)
        assert prediction.dtype == dtype
        assert torch.isfinite(prediction).all()
    rtol = 1e-4 if dtype == torch.float32 else 1e-9
    torch.testing.assert_close(together, torch.cat(alone), rtol=rtol, atol=rtol)
    model.train()
    model(Batch.from_data_list(prepared)).square().sum().backward()
    gradients = [value.grad for value in model.parameters() if value.grad is not None]
    assert gradients
    assert all(torch.isfinite(gradient).all() for gradient in gradients)

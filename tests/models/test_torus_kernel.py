import numpy as np
import pytest
import torch
from torch_geometric.data import Batch, Data

import ghr
from cases import make_lattice, relative_error
from ghr import MODELS, Experiment, Task, TrainConfig
from ghr.analysis import measure_range
from ghr.datasets.generators.ising import couplings, hop_distances, local_energies
from ghr.hierarchy.lattice import lattice_edges
from ghr.models import TorusKernel
from ghr.testing import assert_batch_equals_loop, random_graph
from ghr.train import train
from ghr.view.collect import collect

ENERGY = Task("node", metric="log10_mse")


def make_spins(side, count, *, sigma=0.6, seed=0):
    """Lattices of random spins with their local energies, in double precision."""
    generator, edge_index = np.random.default_rng(seed), lattice_edges(side)
    graphs = []
    for _ in range(count):
        spins = generator.choice([-1.0, 1.0], (side, side))
        y = local_energies(spins, couplings(side, sigma))
        graphs.append(
            Data(x=torch.tensor(spins).view(-1, 1), y=torch.tensor(y).view(-1, 1), edge_index=edge_index.clone())
        )
    return graphs


def draw(side=6, out_channels=2):
    model, generator = TorusKernel(1, out_channels, side=side).double(), torch.Generator().manual_seed(0)
    for value in model.parameters():
        value.data.copy_(torch.randn(value.shape, generator=generator, dtype=torch.double))
    return model


def shorter(first, second, side):
    return min((first - second) % side, (second - first) % side)


@pytest.mark.parametrize("side", [6, 4, 5, 9, 12])
def test_equals_the_equation_on_lattices_of_any_side(side):
    """Beyond half the trained side all is zero; on the torus an offset counts once, whichever way round."""
    model, data = draw(6), make_lattice(side)
    spin, kernel = data.x.view(side, side), model.kernel
    wanted = torch.zeros(side, side, 2, dtype=torch.double)
    for row in range(side):
        for column in range(side):
            wanted[row, column] = model.bias
            for other in range(side * side):
                down, right = shorter(row, other // side, side), shorter(column, other % side, side)
                if max(down, right) <= 3:
                    wanted[row, column] += spin[row, column] * kernel[:, down, right] * data.x[other]
    assert relative_error(model(data), wanted.view(-1, 2)) <= 1e-12
    assert torch.equal(kernel[:, 0, 0], torch.zeros(2, dtype=torch.double))
    assert torch.equal(kernel, kernel.transpose(1, 2))


def test_a_prediction_is_the_design_times_the_coefficients():
    model, batch = draw(), Batch.from_data_list([make_lattice(side, seed=side) for side in (6, 4, 9, 6)])
    coefficients = torch.cat([model.weight.t(), model.bias.unsqueeze(0)])
    assert relative_error(model(batch), model.design(batch) @ coefficients) <= 1e-12
    other = TorusKernel(1, 2, side=6).double()
    other.set_coefficients(coefficients)
    assert torch.equal(other(batch), model(batch))


def test_laws():
    model, side = draw(), 8
    assert_batch_equals_loop(model, [make_lattice(side, seed=side) for side in (6, 4, 9, 6)], rtol=1e-9)
    data = make_lattice(side)
    nodes = torch.arange(side * side).view(side, side)
    for order in (nodes.roll((3, 1), (0, 1)), nodes.t(), nodes.flip(0), nodes.rot90()):
        moved = Data(x=data.x[order.flatten()], edge_index=data.edge_index)
        assert relative_error(model(moved), model(data)[order.flatten()]) <= 1e-12


@pytest.mark.parametrize("side", [7, 8])
def test_the_couplings_are_found(side, tmp_path):
    graphs = make_spins(side, 6)
    model = TorusKernel(1, 1, side=side).double()
    result = train(
        model, graphs[:4], graphs[4:], TrainConfig(epochs=5, batch_size=3), tmp_path, task=ENERGY, quiet=True
    )
    reach = side // 2 + 1
    assert float((model.kernel[0].detach() + torch.tensor(couplings(side, 0.6))[:reach, :reach]).abs().max()) <= 1e-10
    assert abs(model.bias.item()) <= 1e-10
    assert (result["epochs"], result["best_epoch"]) == (1, 1)
    assert result["best_val"] <= -20


def test_the_seed_and_the_batches_change_nothing(tmp_path):
    graphs, found = make_spins(6, 8), []
    for number, config in enumerate((TrainConfig(batch_size=8), TrainConfig(batch_size=3, seed=5, lr=1.0, log10=True))):
        model = TorusKernel(1, 1, side=6).double()
        train(model, graphs[:6], graphs[6:], config, tmp_path / str(number), task=ENERGY, quiet=True)
        found.append(model.weight.detach())
    assert relative_error(*found) <= 1e-12


def test_on_a_larger_side_it_is_the_oracle_of_a_square(tmp_path):
    model = TorusKernel(1, 1, side=8).double()
    graphs = make_spins(8, 6)
    train(model, graphs[:4], graphs[4:], TrainConfig(), tmp_path, task=ENERGY, quiet=True)
    (large,) = make_spins(16, 1)
    step = np.minimum(np.arange(16), 16 - np.arange(16))
    near = np.maximum(step[:, None], step[None, :]) <= 4
    assert near.sum() == 81
    assert not near[hop_distances(16) > 8].any()
    seen = local_energies(large.x.view(16, 16).numpy(), np.where(near, couplings(16, 0.6), 0.0))
    assert relative_error(model(large), torch.tensor(seen).view(-1, 1)) <= 1e-9


def test_what_the_spins_do_not_determine_stays_small(tmp_path):
    """On lattices of equal spins all sums are the same numbers, and any kernel with the right sum would do."""
    graph = Data(x=torch.ones(16, 1), y=torch.full((16, 1), 3.0), edge_index=lattice_edges(4))
    model = TorusKernel(1, 1, side=4)
    train(model, [graph], [graph], TrainConfig(), tmp_path, task=ENERGY, quiet=True)
    assert model.weight.abs().max() < 3
    assert model(graph).flatten().tolist() == pytest.approx([3.0] * 16, abs=1e-5)


def test_the_benchmark_is_solved_in_single_precision(tmp_path):
    graphs = {"train": 30, "val": 2, "test": 4}
    run = Experiment.on("lrim-16-hard", "torus-kernel", graphs=graphs).run(tmp_path / "run", tmp_path, quiet=True)
    assert run.model.config == {"in_channels": 1, "out_channels": 1, "side": 16, "readout": "node-mlp"}
    assert run.result["parameters"] == 45
    assert run.result["epochs"] == 1
    assert run.result["metrics"]["log10_mse"] < -10
    loaded = ghr.load(tmp_path / "run")
    graph = make_lattice(32, dtype=torch.float32)
    assert type(loaded) is TorusKernel
    assert torch.equal(loaded(graph), run.model(graph))
    assert torch.equal(collect(loaded, graph).frames[-1].prediction, loaded(graph).detach())


def test_own_graphs_need_no_more_than_an_epoch_either(tmp_path):
    graphs = [
        data.apply(lambda value: value.float() if value.is_floating_point() else value) for data in make_spins(4, 10)
    ]
    run = ghr.fit(graphs, ENERGY, model="torus-kernel", out=tmp_path, quiet=True)
    assert run.result["epochs"] == 1
    assert run.result["metrics"]["log10_mse"] < -10


def test_its_range_is_that_of_its_kernel():
    """With a coefficient for three rows or columns alone, it looks at four nodes, and as much at itself as at these."""
    model, data = TorusKernel(1, 1, side=8), Data(x=torch.ones(64, 1), edge_index=lattice_edges(8))
    model.weight.data[0, (model.pairs.t() == torch.tensor([0, 3])).all(dim=1)] = 1.0
    influence = torch.autograd.functional.jacobian(lambda x: model(Data(x=x, edge_index=data.edge_index))[0], data.x)
    assert influence.flatten().nonzero().flatten().tolist() == [0, 3, 5, 24, 40]
    data.y = torch.zeros(64, 1)
    assert measure_range(model, [data], ENERGY).range == pytest.approx(4 * 3 / (4 + 4))


def test_reset_starts_from_zero_again():
    model = draw()
    model.reset_parameters()
    assert not any(value.any() for value in model.parameters())


def test_too_large_a_side_is_said_before_it_is_tried(monkeypatch):
    monkeypatch.setattr(ghr.memory, "physical_memory", lambda: 2**20)
    model = TorusKernel(1, 1, side=32)
    with pytest.raises(ValueError, match=r"TorusKernel of side 32 needs .* GiB of memory"):
        model.design(make_lattice(32, dtype=torch.float32))


def test_what_is_wrong_is_said():
    with pytest.raises(ValueError, match="TorusKernel reads one number per node, in_channels=1; got in_channels=2"):
        TorusKernel(2, 1)
    with pytest.raises(ValueError, match="TorusKernel predicts for nodes, readout='node'; got readout='graph'"):
        MODELS["torus-kernel"].for_data([make_lattice(4)], Task("graph"), {})
    with pytest.raises(ValueError, match="side must be a whole number of at least 2"):
        TorusKernel(1, 1, side=1)
    with pytest.raises(ValueError, match="TorusKernel takes periodic square lattices alone"):
        TorusKernel(1, 1)(random_graph(7, 9))
    with pytest.raises(ValueError, match="TorusKernel has no loops"):
        TorusKernel(1, 1).rollout(make_lattice(4), steps=2)

import pytest
import torch
from torch_geometric.data import Batch

import ghr
from ghr import MODELS, Task, TrainConfig
from ghr.models import Constant
from ghr.testing import random_graph
from ghr.train import evaluate, predict, train
from stack_cases import check_by_name, odd_graphs


def test_one_row_for_whatever_is_asked():
    batch = Batch.from_data_list(odd_graphs(3))
    for level, rows in (
        ("node", batch.num_nodes),
        ("graph", 5),
        ("edge", batch.num_edges),
        ("edge-mlp", batch.num_edges),
    ):
        model = Constant(2, readout=level)
        assert torch.equal(model(batch), torch.zeros(rows, 2))
        model.readout.value.data.copy_(torch.tensor([1.0, -2.0]))
        assert torch.equal(model(batch), torch.tensor([[1.0, -2.0]]).expand(rows, -1))


def test_double_precision():
    assert Constant(1).double()(odd_graphs(None)[2]).dtype == torch.double


def skewed_graphs(count):
    """Graphs whose nodes have the mean 4 and the median 2."""
    graphs = [random_graph(3, 4, seed=seed) for seed in range(count)]
    for data in graphs:
        data.y = torch.tensor([[1.0], [2.0], [9.0]])
    return graphs


@pytest.mark.parametrize(("loss", "metric", "best"), [("mse", "log10_mse", 4.0), ("l1", "mae", 2.0)])
def test_training_finds_the_best_constant(loss, metric, best, tmp_path):
    """The mean for a squared loss, the median for an absolute one."""
    model, task, graphs = Constant(1), Task("node", loss=loss, metric=metric), skewed_graphs(8)
    config = TrainConfig(epochs=25, lr=0.3, batch_size=2, schedule="cosine")
    train(model, graphs, graphs[:1], config, tmp_path, task=task, quiet=True)
    assert model(graphs[0]).flatten().tolist() == pytest.approx([best] * 3, abs=0.05)


def test_runs_as_any_model_does(tmp_path):
    task, graphs = Task("node", loss="l1"), skewed_graphs(10)
    run = ghr.fit(graphs, task, model="constant", out=tmp_path, epochs=2, quiet=True)
    model = ghr.load(tmp_path)
    assert type(model) is Constant
    (prediction,) = predict(model, graphs[:1], task)
    assert torch.equal(prediction, prediction[:1].expand(3, 1))
    assert run.result["metrics"]["mae"] == pytest.approx(float(evaluate(model, graphs[:1], task)), abs=1e-5)


def test_name(tmp_path):
    check_by_name("constant", tmp_path)
    assert MODELS["constant"].for_data(odd_graphs(None)[2], Task("graph", 3), {}, {"readout": "graph-mlp"}).config == {
        "out_channels": 3,
        "readout": "graph-mlp",
    }


def test_reset_starts_from_zero_again():
    model = Constant(3)
    model.readout.value.data.fill_(7)
    model.reset_parameters()
    assert torch.equal(model.readout.value, torch.zeros(3))


def test_a_unit_shifts_the_start():
    model = Constant(2, readout="graph")
    model.set_unit([5.0, 6.0], [2.0, 3.0])
    assert torch.equal(model(random_graph(4, 5)), torch.tensor([[5.0, 6.0]]))


def test_what_is_wrong_is_said():
    with pytest.raises(ValueError, match="A constant has the readout node, graph, edge, one row for each; got 'nodes'"):
        Constant(1, readout="nodes")
    with pytest.raises(ValueError, match="got NodeReadout"):
        Constant(1, readout=ghr.NodeReadout(1, 1))
    with pytest.raises(ValueError, match="out_channels must be a whole number"):
        Constant(0)
    with pytest.raises(ValueError, match=r"A model takes a graph or a batch of graphs .* got int"):
        Constant(1)(3)
    with pytest.raises(ValueError, match="Constant has no loops"):
        Constant(1).rollout(random_graph(3, 3), steps=2)
    assert repr(Constant(2)) == "Constant(out_channels=2) with 2 parameters"

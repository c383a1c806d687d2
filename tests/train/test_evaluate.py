import pytest
import torch
from tiny_training import FeedForward, Graphs, recurrent, rings
from torch import Tensor, nn
from torch_geometric.data import Batch, Data

from ghr.train.evaluate import counted, evaluate, predict


@pytest.mark.parametrize("batch_size", [1, 3, 64])
def test_equals_one_forward_over_all_graphs(batch_size: int) -> None:
    model, graphs = recurrent(), rings(7, masked=True)
    prediction, target = predict(model, graphs, batch_size=batch_size)
    whole = Batch.from_data_list(graphs)
    torch.testing.assert_close(prediction, model(whole)[whole.mask])
    torch.testing.assert_close(target, whole.y[whole.mask])
    assert not prediction.requires_grad
    assert evaluate(model, graphs) == pytest.approx((prediction - target).abs().mean().item())


def test_steps_reach_the_model_only_when_given() -> None:
    model, graphs = recurrent(steps=3), rings(2)
    torch.testing.assert_close(predict(model, graphs, steps=3)[0], predict(model, graphs)[0])
    assert not torch.allclose(predict(model, graphs, steps=5)[0], predict(model, graphs)[0])
    predict(FeedForward(), graphs)
    with pytest.raises(TypeError, match="steps"):
        predict(FeedForward(), graphs, steps=5)


def test_inner_steps_are_passed_by_name() -> None:
    class Model(nn.Module):
        def forward(self, data: Data, t_high: int = 1, t_low: int = 1) -> Tensor:
            return torch.full_like(data.y, 10.0 * t_high + t_low)

    assert predict(Model(), rings(1), t_high=4, t_low=7)[0][0].item() == 47.0
    assert predict(Model(), rings(1))[0][0].item() == 11.0


@pytest.mark.parametrize("training", [True, False])
def test_predicts_in_evaluation_mode_and_restores_the_mode(training: bool) -> None:
    model = recurrent(dropout=0.5).train(training)
    first, _ = predict(model, rings(3))
    second, _ = predict(model, rings(3))
    assert torch.equal(first, second)
    assert model.training is training


def test_restores_the_mode_after_an_error() -> None:
    model = recurrent()
    graphs = rings(1)
    graphs[0].y = graphs[0].y.squeeze(1)
    with pytest.raises(ValueError, match="same shape"):
        predict(model, graphs)
    assert model.training


def test_refuses_what_has_no_answer() -> None:
    with pytest.raises(ValueError, match="no graphs"):
        predict(recurrent(), Graphs())
    with pytest.raises(ValueError, match="batch_size"):
        predict(recurrent(), rings(1), batch_size=0)
    graphs = rings(1)
    graphs[0].mask = torch.zeros(graphs[0].num_nodes, dtype=torch.bool)
    with pytest.raises(ValueError, match="leave none"):
        evaluate(recurrent(), graphs)


def test_refuses_a_mask_of_another_kind() -> None:
    data = rings(1)[0]
    data.mask = torch.ones(data.num_nodes)
    with pytest.raises(ValueError, match="must be boolean"):
        counted(data.y, data)
    data.mask = torch.ones(data.num_nodes + 1, dtype=torch.bool)
    with pytest.raises(ValueError, match="one entry per row"):
        counted(data.y, data)

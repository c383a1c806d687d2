import pytest
import torch
from torch import Tensor, nn
from torch_geometric.data import Data

from ghr import Task, TrainConfig
from ghr.testing import random_graph
from ghr.train import train
from ghr.train.least_squares import Equations, LinearModel


class Line(nn.Module):
    """A prediction is linear in the features of a node."""

    def __init__(self, targets: int = 2) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.zeros(3, targets, dtype=torch.double))

    def design(self, data: Data) -> Tensor:
        return data.x

    def set_coefficients(self, value: Tensor) -> None:
        self.weight.data.copy_(value)

    def rollout(self, data: Data) -> list[Tensor]:
        return [self(data)]

    def forward(self, data: Data) -> Tensor:
        return data.x @ self.weight


def make_graphs(count=6):
    graphs = []
    for seed in range(count):
        data = random_graph(5, 6, in_channels=3, seed=seed)
        data.x = data.x.double()
        data.y = torch.randn(5, 2, generator=torch.Generator().manual_seed(seed), dtype=torch.double)
        graphs.append(data)
    return graphs


def test_the_solution_is_that_of_all_rows_at_once():
    design, target = torch.randn(20, 4, dtype=torch.double), torch.randn(20, dtype=torch.double)
    equations = Equations(4)
    for part in range(0, 20, 6):
        equations.add(design[part : part + 6], target[part : part + 6])
    wanted = torch.linalg.lstsq(design, target.unsqueeze(1)).solution.squeeze(1)
    torch.testing.assert_close(equations.solve(), wanted, rtol=1e-10, atol=1e-12)


class TwoAlike:
    """Stands for two processes that have the same rows."""

    world_size, device = 2, torch.device("cpu")

    def all_reduce(self, value, reduce_op):
        assert reduce_op == "sum"
        return 2 * value


def test_equations_of_all_processes_are_added_up():
    one, both = Equations(3), Equations(3)
    design, target = torch.randn(8, 3), torch.randn(8)
    one.add(design, target)
    one.add_processes(TwoAlike())
    for _ in range(2):
        both.add(design, target)
    torch.testing.assert_close(one.left, both.left)
    torch.testing.assert_close(one.right, both.right)


def test_of_many_solutions_the_smallest():
    column = torch.randn(9, 1)
    equations = Equations(2)
    equations.add(torch.cat([column, column], dim=1), 4 * column.squeeze(1))
    torch.testing.assert_close(equations.solve(), torch.tensor([2.0, 2.0], dtype=torch.double))
    nothing = Equations(2)
    nothing.add(torch.zeros(3, 2), torch.ones(3))
    assert torch.equal(nothing.solve(), torch.zeros(2, dtype=torch.double))


def test_a_linear_model_is_solved_for_by_what_counts(tmp_path):
    """Each column by its own rows: masked and missing targets are left out."""
    graphs, model = make_graphs(), Line()
    graphs[0].y[:3, 0] = torch.nan
    for data in graphs:
        data.mask = torch.tensor([True, True, True, False, True])
    assert isinstance(model, LinearModel)
    result = train(
        model, graphs[:5], graphs[5:], TrainConfig(epochs=50, batch_size=2), tmp_path, task=Task("node", 2), quiet=True
    )
    x, y = (torch.cat([data[name][data.mask] for data in graphs[:5]]) for name in ("x", "y"))
    for column in (0, 1):
        known = ~y[:, column].isnan()
        wanted = torch.linalg.lstsq(x[known], y[known, column : column + 1]).solution.squeeze(1)
        torch.testing.assert_close(model.weight[:, column].detach(), wanted, rtol=1e-10, atol=1e-12)
    assert (result["epochs"], result["best_epoch"]) == (1, 1)
    again = train(
        Line(), graphs[:5], graphs[5:], TrainConfig(epochs=50, batch_size=2), tmp_path, task=Task("node", 2), quiet=True
    )
    assert again == result


def test_the_loss_that_is_reported_is_that_of_the_solution(tmp_path):
    graphs, model, lines = make_graphs(), Line(), []
    config = TrainConfig(batch_size=5, log10=True)
    train(model, graphs[:5], graphs[5:], config, tmp_path, task=Task("node", 2), quiet=True, callback=lines.append)
    x, y = (torch.cat([data[name] for data in graphs[:5]]) for name in ("x", "y"))
    loss = (x @ model.weight - y).square().mean().log10()
    assert [line["train_loss"] for line in lines] == [pytest.approx(float(loss))]


def test_only_squares_are_least(tmp_path):
    with pytest.raises(
        ValueError, match="Line is solved for by least squares, that is for loss='mse'; the loss is 'l1'"
    ):
        train(Line(), make_graphs(), make_graphs(), TrainConfig(), tmp_path, task=Task("node", 2, loss="l1"))
    assert not any(tmp_path.iterdir())

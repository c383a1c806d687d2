import json
import math
import shutil
import socket
from multiprocessing.context import ForkServerContext
from pathlib import Path

import pytest
import torch
from lightning_fabric import Fabric
from tiny_training import SPREAD, recurrent, rings, spread_process, spread_run
from torch import nn
from torch_geometric.data import Batch

from ghr.train.loss import DiscountedLoss
from ghr.train.objective import GlobalLoss


@pytest.mark.parametrize("log10", [False, True])
def test_one_process_has_the_loss_and_gradient_of_the_loss(log10: bool) -> None:
    data = Batch.from_data_list(rings(3, dtype=torch.float64))
    loss = DiscountedLoss(nn.MSELoss(), gamma=0.8, log10=log10)
    gradients = []
    for take in ("plain", "global"):
        model = recurrent(dtype=torch.float64)
        predictions = model.rollout(data)
        plain = loss(predictions, data.y)
        surrogate, value = GlobalLoss(loss, Fabric(accelerator="cpu", devices=1))(
            predictions, data.y, share=data.y.shape[0], whole=data.y.shape[0]
        )
        assert value == pytest.approx(plain.item(), rel=1e-12)
        (plain if take == "plain" else surrogate).backward()
        gradients.append([parameter.grad for parameter in model.parameters()])
    torch.testing.assert_close(*gradients, rtol=1e-10, atol=1e-12)


def test_a_process_without_rows_has_a_gradient_of_zero() -> None:
    model, data = recurrent(), rings(1)[0]
    objective = GlobalLoss(DiscountedLoss(nn.MSELoss()), Fabric(accelerator="cpu", devices=1))
    surrogate, value = objective(model.rollout(data), data.y, share=0, whole=7)
    surrogate.backward()
    assert value == 0.0
    assert all(parameter.grad is not None and not parameter.grad.any() for parameter in model.parameters())


@pytest.mark.parametrize("weight", [None, [0.5, 2.0, 4.0]])
def test_shares_of_processes_add_up_to_the_whole(weight: list[float] | None) -> None:
    """Classes with weights count by these, as the mean of the criterion does."""
    criterion = nn.CrossEntropyLoss(weight=None if weight is None else torch.tensor(weight))
    objective = GlobalLoss(DiscountedLoss(criterion), Fabric(accelerator="cpu", devices=1))
    scores, classes = torch.randn(7, 3), torch.tensor([0, 2, 1, 1, 0, 2, 2])
    shares = [objective.weigh(classes[:2]), objective.weigh(classes[2:])]
    losses = [criterion(scores[:2], classes[:2]), criterion(scores[2:], classes[2:])]
    assert sum(shares) == pytest.approx(objective.weigh(classes))
    together = sum(share * loss for share, loss in zip(shares, losses, strict=True)) / sum(shares)
    torch.testing.assert_close(together, criterion(scores, classes))


def test_numbers_count_one_by_one() -> None:
    objective = GlobalLoss(DiscountedLoss(nn.MSELoss()), Fabric(accelerator="cpu", devices=1))
    assert objective.weigh(torch.zeros(3, 2)) == 6
    assert objective.add_up(6) == 6.0


def free_port() -> int:
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return int(listener.getsockname()[1])


def test_two_processes_do_what_one_does(tmp_path: Path, workers: ForkServerContext) -> None:
    """Uneven masks, a last batch of one graph, the logarithm over all processes, and a run that one process began."""
    alone = {name: spread_run(tmp_path / f"{name}-alone", config) for name, config in SPREAD.items()}
    unfinished = tmp_path / "resumed"
    shutil.copytree(tmp_path / "mean-alone", unfinished)
    (unfinished / "result.json").unlink()
    shutil.rmtree(unfinished / "last" / "epoch-0002")
    port = free_port()
    processes = [workers.Process(target=spread_process, args=(rank, 2, port, tmp_path)) for rank in range(2)]
    for process in processes:
        process.start()
    for process in processes:
        process.join()
        assert process.exitcode == 0
    for name, which in (("mean", "mean"), ("log10", "log10"), ("resumed", "mean")):
        ranks = [torch.load(tmp_path / f"{name}-{rank}.pt", weights_only=True) for rank in range(2)]
        torch.testing.assert_close(ranks[0], ranks[1], rtol=0, atol=0)
        torch.testing.assert_close(ranks[0], dict(alone[which].state_dict()), rtol=1e-10, atol=1e-10)
        assert json.loads((tmp_path / name / "result.json").read_text())["processes"] == 2
        losses = [
            [json.loads(line)["train_loss"] for line in path.read_text().splitlines()]
            for path in (tmp_path / name / "metrics.jsonl", tmp_path / f"{which}-alone" / "metrics.jsonl")
        ]
        assert len(losses[0]) == 2
        assert losses[0] == pytest.approx(losses[1], rel=1e-10)
        assert all(math.isfinite(loss) for loss in losses[0])
    for rank in range(2):
        assert "train.log10 is False there and True now" in (tmp_path / f"error-{rank}.txt").read_text()

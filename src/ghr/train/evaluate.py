"""Predictions of a model on a whole dataset."""

from typing import Any, Protocol

import torch
from torch import Tensor, nn
from torch_geometric.data import Batch
from tqdm import tqdm

from ghr.models.settle import Steps
from ghr.train.loss import check_shapes


class Examples(Protocol):
    """Graphs by number, as every PyG dataset and every list of ``Data`` has them."""

    def __len__(self) -> int: ...

    def __getitem__(self, index: int, /) -> Any: ...


class ScoredExamples(Examples, Protocol):
    """Graphs with the metric they are judged by; lower is better."""

    def metric(self, prediction: Tensor, target: Tensor, /) -> float:
        """How far ``prediction`` is from ``target``."""
        ...


def predict(
    model: nn.Module,
    dataset: Examples,
    *,
    batch_size: int = 64,
    steps: Steps | None = None,
    t_high: int | None = None,
    t_low: int | None = None,
    progress: bool = False,
) -> tuple[Tensor, Tensor]:
    """Predict every graph of a dataset, without gradients and in evaluation mode.

    Args:
        model: Called as ``model(data)``, with those of ``steps``, ``t_high`` and ``t_low`` that are given.
        dataset: Graphs with a target ``y`` and, optionally, a ``mask`` of the rows that count.
        batch_size: Graphs predicted at once.
        steps: Global steps, where other than the model's own; ``"auto"`` runs until predictions no longer change.
        t_high: High-level inner steps, where other than the model's own.
        t_low: Low-level inner steps, where other than the model's own.
        progress: Whether to show a bar.

    Shapes:
        - **output:** prediction :math:`(N, C)` and target :math:`(N, C)`, or classes :math:`(N)`, on the CPU, the
          counted rows of all graphs in order
    """
    if len(dataset) == 0:
        raise ValueError("There is nothing to predict: the dataset has no graphs.")
    if batch_size < 1:
        raise ValueError(f"batch_size must be at least 1, but is {batch_size}.")
    overrides = {
        name: value for name, value in (("steps", steps), ("t_high", t_high), ("t_low", t_low)) if value is not None
    }
    device = next((parameter.device for parameter in model.parameters()), torch.device("cpu"))
    predictions, targets = [], []
    was_training = model.training
    model.eval()
    try:
        with torch.no_grad():
            starts = range(0, len(dataset), batch_size)
            for start in tqdm(starts, desc="predict", unit="batch", disable=not progress):
                data = collate(dataset, list(range(start, min(start + batch_size, len(dataset))))).to(device)
                prediction = model(data, **overrides)
                check_shapes(prediction, data.y)
                predictions.append(counted(prediction, data).cpu())
                targets.append(counted(data.y, data).cpu())
    finally:
        model.train(was_training)
    return torch.cat(predictions), torch.cat(targets)


def evaluate(model: nn.Module, dataset: ScoredExamples, *, batch_size: int = 64) -> float:
    """The metric of a model on a dataset, by the dataset's own measure."""
    prediction, target = predict(model, dataset, batch_size=batch_size)
    if target.shape[0] == 0:
        raise ValueError("The metric needs at least one row, but the masks of this dataset leave none.")
    return float(dataset.metric(prediction, target))


def collate(dataset: Examples, indices: list[int]) -> Any:
    """The graphs at ``indices`` as one batch."""
    return Batch.from_data_list([dataset[index] for index in indices])


def counted(rows: Tensor, data: Any) -> Tensor:
    """The rows that ``data.mask`` keeps; all of them where there is no mask."""
    if "mask" not in data:
        return rows
    mask: Tensor = data.mask
    if mask.dtype != torch.bool or mask.shape != rows.shape[:1]:
        raise ValueError(
            f"data.mask must be boolean with one entry per row, but is {mask.dtype} of shape {tuple(mask.shape)} "
            f"where the rows have the shape {tuple(rows.shape)}."
        )
    # Indexing with a mask has a backward whose order of additions depends on threads; index_select has not.
    return rows.index_select(0, mask.nonzero().squeeze(1))

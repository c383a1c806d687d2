"""How much what is predicted at a node depends on the input of every other node."""

from collections.abc import Mapping, Sequence
from copy import copy
from typing import Any

import torch
from torch import Tensor, nn
from torch_geometric.data import Data

from ghr.models.base import GraphModel
from ghr.progress import track


def measure_influence(
    model: GraphModel, data: Data, rows: Sequence[int], column: int | None = 0, **loops: Any
) -> Tensor | None:
    r"""Return the size of :math:`\partial \hat y_v / \partial x_u` for some rows :math:`v` and all nodes :math:`u`.

    Each row is one product of a vector with the Jacobian. Integer codes have no derivative; theirs is taken after the
    encoder.

    Args:
        model: The model.
        data: One graph, as the model needs it.
        rows: Rows of the prediction.
        column: Which number of a row; ``None`` for the largest of it, which is the class that is predicted.
        **loops: Numbers for the loops of the model.

    Returns:
        One row for each of `rows` :math:`(V, N)`; ``None`` where the input cannot be told apart from the weights.
    """
    was_training = model.training
    model.eval()
    try:
        with torch.enable_grad(), torch.random.fork_rng(devices=[]):
            torch.manual_seed(0)
            source, prediction = _run(model, data, loops)
            if source is None:
                return None
            found = []
            for row in track(rows, "Influence", unit="node"):
                entry = prediction[row].max() if column is None else prediction[row, column]
                gradient = None
                if entry.requires_grad:
                    (gradient,) = torch.autograd.grad(entry, source, retain_graph=True, allow_unused=True)
                size = source.new_zeros(source.size(0)) if gradient is None else gradient.norm(dim=1)
                found.append(size.detach().cpu())
            return torch.stack(found)
    finally:
        model.train(was_training)


def _run(model: GraphModel, data: Data, loops: Mapping[str, Any]) -> tuple[Tensor | None, Tensor]:
    """Return what stands for the input, and the prediction that was computed from it."""
    x = data["x"]
    if x.is_floating_point():
        given = copy(data)
        given["x"] = x.detach().clone().requires_grad_()
        return given["x"], model(given, **loops)
    encoder, encoded = getattr(model, "node_encoder", None), []

    def note(_: nn.Module, __: Any, output: Tensor) -> None:
        encoded.append(output)

    if not isinstance(encoder, nn.Module):
        return None, model(data, **loops)
    handle = encoder.register_forward_hook(note)
    try:
        prediction = model(data, **loops)
    finally:
        handle.remove()
    source = encoded[0] if encoded and encoded[0].requires_grad else None
    return source, prediction

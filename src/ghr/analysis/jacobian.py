"""How much what is predicted at a node depends on the input of every other node."""

from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor
from torch_geometric.data import Data

from ghr.analysis.follow import follow
from ghr.checks import check_whole
from ghr.models.base import GraphModel
from ghr.progress import track


def measure_influence(
    model: GraphModel, data: Data, rows: Sequence[int], column: int | None = 0, **loops: Any
) -> Tensor | None:
    r"""Return the size of :math:`\partial \hat y_v / \partial x_u` for some rows :math:`v` and all nodes :math:`u`.

    Each row is one product of a vector with the Jacobian; sizes are sums of absolute values over the features. Integer
    codes have no derivative; theirs is taken after the encoders.

    Args:
        model: The model.
        data: One graph, as the model needs it.
        rows: Rows of the prediction.
        column: Which number of a row; ``None`` for the largest of it, which is the class that is predicted.
        **loops: Numbers for the loops of the model.

    Returns:
        One row for each of `rows` :math:`(V, N)`; ``None`` where the input cannot be told apart from the weights.
    """
    with follow(model, data, loops) as done:
        count, width = done.prediction.shape
        for row in rows:
            check_whole("A row", row, 0, count - 1)
        if column is not None:
            check_whole("column", column, 0, width - 1)
        if not done.leaves:
            return None
        found = []
        for row in track(rows, "Influence", unit="node"):
            weight = torch.zeros_like(done.prediction)
            weight[row, int(done.prediction[row].argmax()) if column is None else column] = 1
            found.append(done.pull_back([done.prediction], [weight]).cpu())
        return torch.stack(found) if found else done.leaves[0].new_zeros(0, done.leaves[0].size(0))

"""Values as one writes them with PyTorch: what the fused operations are tested and measured against."""

import copy
from typing import Any

import torch
from torch import Tensor, nn
from torch_geometric.data import Data
from torch_geometric.utils import softmax

from ghr.hierarchy.lattice import square_offsets
from ghr.models import GHR
from ghr.models.state import State
from ghr.models.values import SelectValues, SumValues
from ghr.ops import using


class PlainValues(nn.Module):
    """The equations of :class:`~ghr.GHR` with values and without control, line by line; autograd keeps everything.

    Values that are chosen are on one level, with gates that read the input alone; values that are added up are on
    lattices of one side. Encoders and readout are those of the model, and so are the names of all parameters.

    Args:
        model: The model, whose weights are copied.
    """

    def __init__(self, model: GHR) -> None:
        super().__init__()
        self.model = copy.deepcopy(model)
        config = model.config
        if config["conv"] is not None or config["value_gate"] != "node":
            raise ValueError("PlainValues is written for values without control whose gates read the input alone.")
        if config["values"] == "sum" and not config["directions"]:
            raise ValueError("PlainValues adds up on lattices; build the model with directions=True.")
        if config["values"] == "select" and config["levels"] != 1:
            raise ValueError(f"PlainValues chooses on one level; the model has levels={config['levels']}.")

    def twin(self, name: str) -> str:
        """Return the name that a parameter of the model has here."""
        return f"model.{name}"

    def rollout(self, data: Data) -> list[Tensor]:
        """Return the predictions after every step, the first step first."""
        with using("torch"):
            encoded = self.model.encode(data)
            values = self.model.values
            value = next(self.parameters()).new_zeros(encoded.levels[0].num_nodes, self.model.config["value_channels"])
            none, predictions = value.new_zeros(len(value), 0), []
            for _ in range(self.model.steps):
                if isinstance(values, SelectValues):
                    value = self._choose(value, encoded.parts[0])
                elif isinstance(values, SumValues):
                    counts = [(encoded.num_graphs, level.num_nodes) for level in encoded.levels]
                    value = self._add_up(value, encoded.given, counts)
                predictions.append(self.model._read(encoded, State((none,), (value,))))
        return predictions

    def _choose(self, value: Tensor, part: Any) -> Tensor:
        """All updates of one step."""
        values: Any = self.model.values
        cell, candidates = values.cells[0], part.edges
        source, target = candidates.source, candidates.target
        gate = torch.sigmoid(-cell.sharpness * cell.gate(part.given.relu()))
        lonely = torch.bincount(target, minlength=len(value)).unsqueeze(1) == 0
        for _ in range(self.model.t_low):
            near = value[source]
            hidden = (candidates.base + cell.difference(near - value[target])).relu()
            weight = softmax(cell.sharpness * cell.choice(hidden), target, num_nodes=len(value))
            taken = torch.zeros_like(value).index_add(0, target, weight * (near + candidates.step))
            value = gate * torch.where(lonely, value, taken)
        return value

    def _add_up(self, value: Tensor, x: Tensor, counts: list[tuple[int, int]]) -> Tensor:
        """One step: up, within, and down all levels, images of (graphs, rows, columns, channels)."""
        values: Any = self.model.values
        cell = values.cell
        sides = [round((nodes / graphs) ** 0.5) for graphs, nodes in counts]
        graphs, channels = counts[0][0], value.size(1)
        source = (cell.lift(x) + cell.feedback(value)).view(graphs, sides[0], sides[0], channels)
        sources = [source]
        for side in sides[1:]:
            blocks = sources[-1].view(graphs, side, 2, side, 2, channels).permute(0, 1, 3, 2, 4, 5)
            sources.append(blocks.reshape(graphs, side, side, 4 * channels) @ cell.pool.weight)
        above = None
        for k in reversed(range(len(sides))):
            kind = 0 if k == 0 else 2 if k + 1 == len(sides) else 1
            moved = _shift_and_map(sources[k], cell.stencils[kind].weight, cell.reaches[kind])
            if above is not None:
                down = _shift_and_map(above, cell.unpool.matrices, 1)
                side = sides[k + 1]
                down = down.view(graphs, side, side, 2, 2, channels).permute(0, 1, 3, 2, 4, 5)
                moved = moved + down.reshape(moved.shape)
            above = moved
        return moved.reshape(-1, channels)


def _shift_and_map(image: Tensor, matrices: Tensor, reach: int) -> Tensor:
    total = image.new_zeros(*image.shape[:3], matrices.size(1))
    for (row, column), matrix in zip(square_offsets(reach), torch.split(matrices, image.size(3)), strict=True):
        total = total + image.roll((-row, -column), dims=(1, 2)) @ matrix
    return total

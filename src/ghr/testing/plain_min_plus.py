"""Min-plus message passing as one writes it with PyTorch: what the fused operation is tested and measured against."""

import copy

import torch
from torch import Tensor, nn
from torch_geometric.data import Data

from ghr.models import MinPlusGHR
from ghr.models.state import State
from ghr.ops import using


class PlainMinPlus(nn.Module):
    """The equations of :class:`~ghr.MinPlusGHR` on one level, line by line; autograd keeps everything.

    Costs of edges, caps and readout are those of the model, and so are the names of all parameters.

    Args:
        model: The model, whose weights are copied.
    """

    def __init__(self, model: MinPlusGHR) -> None:
        super().__init__()
        if model.config["levels"] != 1:
            raise ValueError(f"PlainMinPlus is written for one level; the model has levels={model.config['levels']}.")
        self.model = copy.deepcopy(model)

    def twin(self, name: str) -> str:
        """Return the name that a parameter of the model has here."""
        return f"model.{name}"

    def rollout(self, data: Data) -> list[Tensor]:
        """Return the predictions after every step, the first step first."""
        cell = self.model.cell
        with using("torch"):
            encoded = self.model.encode(data)
            cap, cost, injection = encoded.caps[0], encoded.ways[0].cost, encoded.injection
            source, target = encoded.levels[0].edge_index
            nothing = cap.expand(-1, cell.channels)
            state, predictions = self._mix(nothing, cap, injection), []
            for _ in range(self.model.steps):
                for _ in range(self.model.t_low):
                    message = state[source] + cost
                    arrived = nothing.scatter_reduce(0, target.unsqueeze(1).expand_as(message), message, "amin")
                    state = self._mix(arrived, cap, injection)
                predictions.append(self.model._read(encoded, State((state,))))
        return predictions

    def _mix(self, arrived: Tensor, cap: Tensor, injection: Tensor) -> Tensor:
        cell = self.model.cell
        mixed = cell.mix_out(cell.mix_in(arrived - arrived.mean(1, keepdim=True)).relu())
        return torch.minimum((arrived + mixed - injection).relu(), cap)

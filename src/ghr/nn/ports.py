"""How a Hamiltonian system loses energy and is driven: its damping and its forcing.

Every damping is a module ``(position, neighbours) -> D``, every forcing one ``(position, time, neighbours) -> F``.
"""

import torch
from torch import Tensor, nn

from ghr.nn.aggregation import Aggregation
from ghr.nn.reset import reset_children


class Port(nn.Module):
    """Damping or forcing of states of some width."""

    def __init__(self, channels: int) -> None:
        super().__init__()
        self.channels = channels

    def reset_parameters(self) -> None:
        """Reset all parameters."""
        reset_children(self)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.channels})"


class VectorDamping(Port):
    r"""One learned number per channel, :math:`D = v`; where it is negative, energy is added."""

    def __init__(self, channels: int) -> None:
        super().__init__(channels)
        self.weight = nn.Parameter(torch.empty(1, channels))
        nn.init.kaiming_normal_(self.weight)

    def reset_parameters(self) -> None:
        """Reset all parameters."""
        nn.init.kaiming_normal_(self.weight)

    def forward(self, position: Tensor, neighbours: Aggregation) -> Tensor:
        """Return the damping :math:`(1, h)`."""
        return self.weight


class PositiveDamping(VectorDamping):
    r"""One learned number per channel that is never negative, :math:`D = \mathrm{ReLU}(v)`."""

    def forward(self, position: Tensor, neighbours: Aggregation) -> Tensor:
        """Return the damping :math:`(1, h)`."""
        return self.weight.relu()


class MLPDamping(Port):
    r"""What four layers with a ReLU behind each make of a node's own position, :math:`D = \mathrm{MLP}(q_i)`."""

    def __init__(self, channels: int) -> None:
        super().__init__(channels)
        self.layers = nn.ModuleList(nn.Linear(channels, channels, bias=layer < 3) for layer in range(4))

    def forward(self, position: Tensor, neighbours: Aggregation) -> Tensor:
        """Return the damping :math:`(N, h)`."""
        for layer in self.layers:
            position = layer(position).relu()
        return position


class GraphDamping(Port):
    r"""What the neighbours add up to, where it is positive, :math:`D = \mathrm{ReLU}(\sum_j W q_j)`."""

    def __init__(self, channels: int) -> None:
        super().__init__(channels)
        self.weight = nn.Parameter(torch.empty(channels, channels))
        nn.init.xavier_uniform_(self.weight)

    def reset_parameters(self) -> None:
        """Reset all parameters."""
        nn.init.xavier_uniform_(self.weight)

    def forward(self, position: Tensor, neighbours: Aggregation) -> Tensor:
        """Return the damping :math:`(N, h)`."""
        return (neighbours(position) @ self.weight.T).relu()


class MLPForcing(Port):
    r"""What four layers with sines between make of a node's position and time, :math:`F = \mathrm{MLP}([q_i \| t])`."""

    def __init__(self, channels: int) -> None:
        super().__init__(channels)
        self.layers = nn.ModuleList(nn.Linear(channels + 1, channels + 1) for _ in range(3))
        self.last = nn.Linear(channels + 1, channels, bias=False)

    def forward(self, position: Tensor, time: float, neighbours: Aggregation) -> Tensor:
        """Return the force :math:`(N, h)`."""
        value = append_time(position, time)
        for layer in self.layers:
            value = layer(value).sin()
        force: Tensor = self.last(value)
        return force


class GraphForcing(Port):
    r"""What the neighbours and time add up to, between -1 and 1, :math:`F = \tanh(\sum_j W [q_j \| t])`."""

    def __init__(self, channels: int) -> None:
        super().__init__(channels)
        self.weight = nn.Parameter(torch.empty(channels, channels + 1))
        nn.init.xavier_uniform_(self.weight)

    def reset_parameters(self) -> None:
        """Reset all parameters."""
        nn.init.xavier_uniform_(self.weight)

    def forward(self, position: Tensor, time: float, neighbours: Aggregation) -> Tensor:
        """Return the force :math:`(N, h)`."""
        return (neighbours(append_time(position, time)) @ self.weight.T).tanh()


def append_time(position: Tensor, time: float) -> Tensor:
    r"""Return the rows :math:`[q_i \| t]`."""
    return torch.cat([position, position.new_full((position.size(0), 1), time)], dim=1)


DAMPINGS: dict[str, type[Port]] = {
    "param": VectorDamping,
    "param+": PositiveDamping,
    "mlp": MLPDamping,
    "graph": GraphDamping,
}
FORCINGS: dict[str, type[Port]] = {"mlp": MLPForcing, "graph": GraphForcing}

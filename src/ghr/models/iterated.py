"""What the baselines that repeat one update have in common."""

from collections.abc import Mapping
from copy import copy
from typing import Any, TypeVar

from torch import Tensor
from torch_geometric.data import Data

from ghr.checks import check_whole
from ghr.models.inputs import MOST_LAYERS
from ghr.models.network import LayerInput, Network
from ghr.nn.encoder import Width
from ghr.nn.readout import Readout

Model = TypeVar("Model", bound="Iterated")


class Iterated(Network):
    r"""A network whose layers are one update, repeated: as often as it was built for, or as a user asks at inference.

    .. math::
        h^{(l)} = \mathrm{update}(h^{(l-1)}, e), \qquad l = 1, \dots, L

    A subclass provides :meth:`iterate`.

    Args:
        in_channels: As in :class:`~ghr.models.network.Network`; so are ``hidden_channels``, ``out_channels``,
            ``edge_dim``, ``readout`` and ``state_channels``.
        hidden_channels: Width of the states.
        out_channels: Width of a prediction.
        layers: Number of updates :math:`L`.
        edge_dim: Width of the edge features.
        readout: How predictions are read.
        state_channels: Width of the states that are read, where it is another.
        **own: The subclass's own options.
    """

    def __init__(
        self,
        in_channels: Width,
        hidden_channels: int,
        out_channels: int,
        *,
        layers: int,
        edge_dim: Width | None,
        readout: str | Readout,
        state_channels: int | None = None,
        **own: Any,
    ) -> None:
        layers = check_whole("layers", layers, most=MOST_LAYERS)
        super().__init__(
            in_channels,
            hidden_channels,
            out_channels,
            edge_dim=edge_dim,
            readout=readout,
            state_channels=state_channels,
            layers=layers,
            **own,
        )
        self.layers = layers

    @property
    def loops(self) -> tuple[str, ...]:
        """``layers``, since every update has the same weights."""
        return ("layers",)

    def check_loops(self, given: Mapping[str, Any]) -> None:
        """Raise a ValueError if the model has no loop of such a name, or a number is not one that it can run."""
        super().check_loops(given)
        if given.get("layers") is not None:
            check_whole("layers", given["layers"], most=MOST_LAYERS)

    @property
    def depth(self) -> int:
        """Number of updates."""
        return self.layers

    def cut(self: Model, layers: int) -> Model:
        """Return the model with so many updates, which share their weights with it."""
        short = copy(self)
        short.layers = layers
        return short

    def iterate(self, state: Tensor, graph: LayerInput, layers: int) -> Tensor:
        """Return the states after a number of updates.

        Args:
            state: The encoded nodes :math:`(N, d)`.
            graph: The rest of the batch.
            layers: How many.
        """
        raise NotImplementedError

    def run(self, state: Tensor, graph: LayerInput) -> Tensor:
        """Return the states after as many updates as the model was built for."""
        return self.iterate(state, graph, self.layers)

    def rollout(self, data: Data, **loops: Any) -> list[Tensor]:
        """Return the one prediction, after the last update; `layers` is how many there are, if not as many as usual."""
        self.check_loops(loops)
        layers = loops.get("layers")
        state, graph = self.enter(data)
        state = self.iterate(state, graph, self.layers if layers is None else int(layers))
        return [self.read(data, state, graph.edge_attr)]

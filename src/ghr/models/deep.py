"""The flat baselines with distinct layers: a feed-forward stack, run once or as the step of a recurrence."""

from collections.abc import Mapping
from typing import Any, ClassVar, cast

from torch import Tensor, nn
from torch_geometric.data import Data

from ghr.checks import check_whole
from ghr.models.base import GraphModel
from ghr.models.cell import EdgeEncoder, prepare_edges
from ghr.models.inputs import MOST_LAYERS, check_channels, read_input
from ghr.models.settle import MOST_STEPS
from ghr.models.state import LearnedState
from ghr.nn.conv import Conv, ConvLike, make_conv
from ghr.nn.encoder import Width, make_encoder
from ghr.nn.readout import Readout, make_readout, readout_name


class DeepGNN(GraphModel):
    r"""A stack of distinct message passing layers on the graph alone, the baseline that GHR is compared with.

    .. math::
        h^{(0)} = h_0, \qquad h^{(l)} = h^{(l-1)} + \mathrm{MP}_{W_l}\big( \mathrm{RMSNorm}_l(h^{(l-1)}) + W_n x,\; e
        \big), \qquad l = 1, \dots, L

    Each layer has weights of its own, so the stack reaches exactly :math:`L` hops, in training and after. With
    ``"gated_gcn"`` the edges have states too, which every layer hands to the next.

    With ``steps`` the whole stack is the step of a global recurrence without hierarchy ("+GR" in the paper): each step
    starts from the state :math:`h^{(L)}` of the one before, and a prediction is read after every step. The stack that
    shares one layer among all its iterations is :class:`~ghr.GHR` with ``levels=1``.

    Args:
        in_channels: Width of the node features, or the sizes of columns of codes, as in :class:`~ghr.GHR`; so edge_dim.
        hidden_channels: Width :math:`d` of the states.
        out_channels: Width of a prediction.
        layers: Number of layers :math:`L`.
        conv: Message passing, as in :class:`~ghr.GHR`.
        edge_dim: Width of the edge features; ``None`` if there are none or they shall not be used.
        readout: As in :class:`~ghr.GHR`.
        steps: Global steps :math:`R`; ``None`` for a feed-forward stack, which has none.

    Shapes:
        - **input:** a (batch of) graphs with ``x`` of shape :math:`(N, \text{in\_channels})`
        - **output:** as of :class:`~ghr.GHR`
    """

    layer_lists: ClassVar[tuple[str, ...]] = ("convs", "norms")

    def __init__(
        self,
        in_channels: Width,
        hidden_channels: int,
        out_channels: int,
        *,
        layers: int = 10,
        conv: ConvLike = "gine",
        edge_dim: Width | None = None,
        readout: str | Readout = "node",
        steps: int | None = None,
    ) -> None:
        super().__init__()
        self.in_channels, hidden_channels, out_channels = check_channels(in_channels, hidden_channels, out_channels)
        layers = check_whole("layers", layers, most=MOST_LAYERS)
        self.steps = None if steps is None else check_whole("steps", steps, most=MOST_STEPS)
        self.node_encoder = make_encoder(self.in_channels, hidden_channels)
        self.edge_encoder = EdgeEncoder(conv, edge_dim, hidden_channels)
        width = self.edge_encoder.out_channels
        self.initial = LearnedState(hidden_channels)
        self.convs = nn.ModuleList(make_conv(conv, hidden_channels, width) for _ in range(layers))
        self.norms = nn.ModuleList(nn.RMSNorm(hidden_channels, eps=1e-6) for _ in range(layers))
        self.readout = make_readout(readout, hidden_channels, out_channels, width)
        self.remember(
            in_channels=self.in_channels,
            hidden_channels=hidden_channels,
            out_channels=out_channels,
            layers=layers,
            conv=conv,
            edge_dim=self.edge_encoder.edge_dim,
            readout=readout_name(self.readout, width) or self.readout,
            steps=self.steps,
        )

    @property
    def loops(self) -> tuple[str, ...]:
        """``steps`` for a recurrent stack; a feed-forward one has none."""
        return () if self.steps is None else ("steps",)

    def check_loops(self, given: Mapping[str, Any]) -> None:
        """Raise a ValueError if the stack has no loop of such a name, or a number is not one that it can run."""
        super().check_loops(given)
        if given.get("steps") is not None:
            check_whole("steps", given["steps"], most=MOST_STEPS)

    def forward(self, data: Data, *, steps: int | None = None) -> Tensor:  # type: ignore[override]
        """Return the prediction after the last step; `steps` is for a recurrent stack, if not its own number."""
        return self._run(data, steps, only_last=True)[-1]

    def rollout(self, data: Data, steps: int | None = None) -> list[Tensor]:  # type: ignore[override]
        """Return the predictions after every step, the first step first; a feed-forward stack has one."""
        return self._run(data, steps, only_last=False)

    def _run(self, data: Data, steps: int | None, *, only_last: bool) -> list[Tensor]:
        if steps is not None:
            self.check_loops({"steps": steps})
        given, (level, *_) = read_input(data, self.in_channels, self)
        x, edge_attr = self.node_encoder(given), self.edge_encoder(level, "The graph")
        convs = [cast(Conv, layer) for layer in self.convs]
        prepared = [prepare_edges(conv, level, edge_attr) for conv in convs]
        state, predictions = self.initial(x, level.num_nodes), []
        count = steps or self.steps or 1
        for step in range(1, count + 1):
            edges = prepared[0]
            for conv, norm, own in zip(convs, self.norms, prepared, strict=True):
                state, edges = conv.iterate(cast(nn.RMSNorm, norm), state, x, edges if own.updated else own, 1)
            if step == count or not only_last:
                predictions.append(self.read(data, state, edge_attr))
        return predictions

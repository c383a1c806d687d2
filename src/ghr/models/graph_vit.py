"""Graph ViT: message passing inside overlapping patches, and a transformer over the patches."""

from collections.abc import Mapping
from typing import Any

import torch
from torch import Tensor, nn
from torch_geometric.data import Data
from torch_geometric.transforms import BaseTransform, Compose

from ghr.checks import check_whole
from ghr.hierarchy.data import levels_of, num_graphs_of
from ghr.models.inputs import MOST_LAYERS
from ghr.models.network import LayerInput, Network, check_dropout
from ghr.nn.attention import graph_starts
from ghr.nn.encoder import Width
from ghr.nn.encodings import read_rows
from ghr.nn.patches import HadamardMixer, NormalisedMap, PatchLayer, copy_patches, overlap, patch_walks, random_walk
from ghr.nn.readout import GraphReadout, Readout, ReadoutInput
from ghr.ops import pool
from ghr.transforms import Patches, RandomWalkEncoding


class GraphViT(Network):
    r"""A transformer over overlapping patches of a graph, whose tokens come from message passing inside each patch.

    .. math::
        h_i = W_n x_i + \phi(r_i), \qquad x = \mathrm{PatchLayer}_L \circ \dots \circ \mathrm{PatchLayer}_1(h), \qquad
        X_p = \operatorname{mean}_{c \in p} x_c + \psi(s_p), \qquad X \gets \mathrm{mixers}(X, C)

    Here :math:`r` are the chances that random walks return to a node, :math:`C` counts the nodes that two patches
    share, :math:`s` are the chances of walks over patches, and :math:`\phi, \psi` a linear map, batch norm and ReLU
    each. Message passing is :class:`~ghr.nn.patches.PatchLayer`, mixing is :class:`~ghr.nn.patches.HadamardMixer`.

    A readout for graphs reads the tokens of the patches that are not empty, in place of nodes. The published system has
    no other. For predictions of nodes or edges, a node here is the mean of its copies plus the mean of the tokens of
    its patches. Patches are those of :class:`~ghr.transforms.Patches`, not of METIS, and stay the same in training.

    Args:
        in_channels: Width of the node features, or the sizes of columns of codes, as in :class:`~ghr.GHR`; so edge_dim.
        hidden_channels: Width :math:`d` of the states; a multiple of ``heads``.
        out_channels: Width of a prediction.
        layers: Layers :math:`L` of message passing.
        mixer_layers: Layers of the transformer; ``0`` for none.
        heads: Heads of the transformer.
        patches: Number of patches.
        walk_steps: Steps of the random walks on the graph.
        patch_steps: Steps of the random walks over patches.
        diffusion: With ``k`` above 0, :math:`C` becomes :math:`(D^{-1} C)^k`.
        dropout: Probability of dropping an entry, in ``[0, 1)``.
        edge_dim: Width of the edge features; ``None`` if there are none or they shall not be used.
        readout: As in :class:`~ghr.GHR`.

    Shapes:
        - **input:** a (batch of) graphs with ``x`` of shape :math:`(N, \text{in\_channels})`
        - **output:** as of :class:`~ghr.GHR`
    """

    def __init__(
        self,
        in_channels: Width,
        hidden_channels: int,
        out_channels: int,
        *,
        layers: int = 4,
        mixer_layers: int = 2,
        heads: int = 2,
        patches: int = 32,
        walk_steps: int = 16,
        patch_steps: int = 8,
        diffusion: int = 0,
        dropout: float = 0.0,
        edge_dim: Width | None = None,
        readout: str | Readout = "node",
    ) -> None:
        layers, heads = check_whole("layers", layers, most=MOST_LAYERS), check_whole("heads", heads)
        mixer_layers = check_whole("mixer_layers", mixer_layers, 0, MOST_LAYERS)
        dropout = check_dropout(dropout)
        prepare = Compose([RandomWalkEncoding(walk_steps), Patches(patches)])
        super().__init__(
            in_channels,
            hidden_channels,
            out_channels,
            edge_dim=edge_dim,
            readout=readout,
            layers=layers,
            mixer_layers=mixer_layers,
            heads=heads,
            patches=patches,
            walk_steps=walk_steps,
            patch_steps=patch_steps,
            diffusion=diffusion,
            dropout=dropout,
        )
        self._transform, self.patches, self.walk_steps = prepare, patches, walk_steps
        self.patch_steps = check_whole("patch_steps", patch_steps)
        self.diffusion = check_whole("diffusion", diffusion, 0)
        self.reads_tokens = isinstance(self.readout, GraphReadout)
        self.walk_map = NormalisedMap(walk_steps, self.channels)
        self.patch_walk_map = NormalisedMap(self.patch_steps, self.channels)
        self.layers = nn.ModuleList(
            PatchLayer(self.channels, self.edge_width, dropout=dropout, exchange=layer > 0) for layer in range(layers)
        )
        self.mixers = nn.ModuleList(HadamardMixer(self.channels, heads, dropout=dropout) for _ in range(mixer_layers))

    @classmethod
    def width_multiple(cls, options: Mapping[str, Any]) -> int:
        """Return the number of heads."""
        return check_whole("heads", options.get("heads", 2))

    @property
    def transform(self) -> BaseTransform:
        """What adds random walks and patches to a graph."""
        return self._transform

    @property
    def reads_nodes(self) -> bool:
        """Not where whole graphs are predicted, from tokens of patches."""
        return not self.reads_tokens

    def run(self, state: Tensor, graph: LayerInput) -> Tensor:
        """Return the states of nodes after the last layer, or for a readout of graphs the tokens of patches."""
        graph_starts(graph.batch, graph.num_graphs, "GraphViT")
        member = read_patches(graph.data, state.size(0), self.patches)
        copies = copy_patches(member, graph.edge_index, graph.batch)
        filled = copies.filled
        if self.training and filled.numel() == 1:
            raise ValueError(
                "GraphViT has batch norms, which cannot be trained on a single patch; give it more graphs in one "
                "batch, or graphs of more nodes."
            )
        walks = read_rows(graph.data, "rwse", (state.size(0), self.walk_steps)).to(state.dtype)
        x = (state + self.walk_map(walks))[copies.node]
        edge_attr = None if graph.edge_attr is None else graph.edge_attr[copies.edge]
        for layer in self.layers:
            x = layer(x, copies, edge_attr, state.size(0))
        adjacency = overlap(member, graph.batch, graph.num_graphs).to(state.dtype)
        place = patch_walks(adjacency, self.patch_steps).flatten(0, 1)[filled]
        tokens = pool(x, copies.patch, filled.numel(), "mean") + self.patch_walk_map(place)
        tokens = self._mix(tokens, filled, adjacency)
        if self.reads_tokens:
            return tokens
        return pool(x + tokens[copies.patch], copies.node, state.size(0), "mean")

    def _mix(self, tokens: Tensor, filled: Tensor, adjacency: Tensor) -> Tensor:
        """Return the tokens after the transformer."""
        there = torch.zeros(adjacency.shape[:2], dtype=torch.bool, device=tokens.device)
        there.view(-1)[filled] = True
        all_tokens = tokens.new_zeros(there.numel(), tokens.size(1)).index_copy(0, filled, tokens)
        all_tokens = all_tokens.view(*there.shape, -1)
        if self.diffusion > 0:
            adjacency = torch.linalg.matrix_power(random_walk(adjacency), self.diffusion)
        for mixer in self.mixers:
            all_tokens = mixer(all_tokens, adjacency, there)
        return all_tokens.flatten(0, 1)[filled]

    def read(self, data: Data, state: Tensor, edge_attr: Tensor | None = None) -> Tensor:
        """Return what the readout predicts, from tokens or nodes."""
        if not self.reads_tokens:
            return super().read(data, state, edge_attr)
        level = levels_of(data)[0]
        member = read_patches(data, level.num_nodes, self.patches)
        node, own = member.nonzero().unbind(1)
        filled = torch.unique(level.batch[node] * self.patches + own)
        given = ReadoutInput(state, filled // self.patches, num_graphs_of(data), level.edge_index, edge_attr)
        return self.readout(given)  # type: ignore[no-any-return]


def read_patches(data: Data, num_nodes: int, count: int) -> Tensor:
    """Return which nodes are in which patches, or raise a ValueError if a node is in none."""
    member = read_rows(data, "patches", (num_nodes, count))
    if not bool(member.any(dim=1).all()):
        raise ValueError("A node is in no patch; prepare the graph anew: model.prepare(graph).")
    return member.bool()

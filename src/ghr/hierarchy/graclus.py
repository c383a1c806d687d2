"""Graclus: pooling by repeated greedy matching."""

from typing import Literal, get_args

import numpy as np
import torch
from torch import Tensor

from ghr.hierarchy import kernels
from ghr.hierarchy.data import check_edges
from ghr.hierarchy.permutation import random_state

Mode = Literal["min_degree", "heavy_edge", "random"]
_CODES = {"min_degree": kernels.MIN_DEGREE, "heavy_edge": kernels.HEAVY_EDGE, "random": kernels.RANDOM}


class Graclus:
    r"""Pairs every node with one of its neighbours, `rounds` times over.

    In one round the nodes are visited in random order. A node that is still free takes, among its free neighbours,

    - ``"min_degree"``: the one of lowest degree (the paper's rule),
    - ``"heavy_edge"``: the one over the edge of largest weight (weights of merged edges add up over the rounds),
    - ``"random"``: any one,

    and the pair becomes one cluster; a node without a free neighbour stays alone. So a round is a *maximal* matching,
    clusters have at most :math:`2^{\text{rounds}}` nodes, and every cluster is connected.
    Direction, repeats and self loops of the edges do not matter for who may pair with whom.

    Args:
        rounds: Number of matchings, each on the graph that the one before it left.
        mode: Which free neighbour a node takes; ties fall by lot.
        seed: Seed of the visiting order; ``None`` draws another one from PyTorch's generator at every call.

    Example:
        >>> path = torch.tensor([[0, 1, 2], [1, 2, 3]])
        >>> Graclus(rounds=1)(path, num_nodes=4)
        tensor([0, 0, 1, 1])
    """

    def __init__(self, rounds: int = 1, mode: Mode = "min_degree", seed: int | None = 0) -> None:
        if isinstance(rounds, bool) or not isinstance(rounds, int) or rounds < 1:
            raise ValueError(f"rounds must be a whole number of at least 1; got {rounds!r}.")
        if seed is not None and (not isinstance(seed, int) or seed < 0):
            raise ValueError(f"seed must be a whole number of at least 0, or None; got {seed!r}.")
        if mode not in get_args(Mode):
            raise ValueError(f"Unknown Graclus mode {mode!r}; known modes are {', '.join(get_args(Mode))}.")
        self.rounds = rounds
        self.mode: Mode = mode
        self.seed = seed

    @property
    def uses_edge_weight(self) -> bool:
        """Whether the matching reads edge weights."""
        return self.mode == "heavy_edge"

    def __call__(self, edge_index: Tensor, num_nodes: int, edge_weight: Tensor | None = None) -> Tensor:
        """Return the cluster of every node, numbered 0..C-1 without gaps.

        Args:
            edge_index: Edges :math:`(2, E)`.
            num_nodes: Number of nodes :math:`N`.
            edge_weight: Weights :math:`(E)`, read by ``"heavy_edge"``; ``None`` gives every edge weight one.
        """
        check_edges(edge_index, num_nodes)
        source, target = edge_index.cpu().numpy()
        weight = np.empty(0)
        if self.uses_edge_weight:
            weight = np.ones(source.size) if edge_weight is None else edge_weight.detach().cpu().double().numpy()
        seed = self.seed if self.seed is not None else int(torch.randint(2**31, ()))
        code, state = _CODES[self.mode], random_state(seed)
        cluster = kernels.graclus(source, target, weight, num_nodes, self.rounds, code, state)
        return torch.from_numpy(cluster).to(edge_index.device)

    def __repr__(self) -> str:
        return f"Graclus(rounds={self.rounds}, mode={self.mode!r}, seed={self.seed})"

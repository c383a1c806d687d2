"""Graclus: pooling by repeated greedy matching."""

from functools import lru_cache
from typing import Any, ClassVar, Literal, get_args

import numpy as np
import torch
from torch import Tensor

from ghr.checks import check_choice, check_whole
from ghr.hierarchy.kernels.matching import HEAVY_EDGE, MIN_DEGREE, RANDOM, cluster_nodes
from ghr.hierarchy.kernels.types import Floats, Ints
from ghr.hierarchy.level import read_weight
from ghr.hierarchy.tensors import MOST_NODES, check_edges, check_values, to_array, to_tensor
from ghr.memory import check_memory

Mode = Literal["min_degree", "heavy_edge", "random"]
MOST_ROUNDS = 64  # a round at least halves what it can: no graph is left after so many
SMALL = 4096  # nodes of graphs whose orders are kept, and for which there is always memory
_CODES = {"min_degree": MIN_DEGREE, "heavy_edge": HEAVY_EDGE, "random": RANDOM}


class Graclus:
    r"""Pairs every node with one of its neighbours, `rounds` times over.

    In one round the nodes are visited in random order. A node that is still free takes, among its free neighbours,

    - ``"min_degree"``: the one of lowest degree (the paper's rule),
    - ``"heavy_edge"``: the one over the edge of largest weight (weights of merged edges add up over the rounds),
    - ``"random"``: any one,

    and the pair becomes one cluster; a node without a free neighbour stays alone. So a round is a *maximal* matching,
    clusters have at most :math:`2^{\text{rounds}}` nodes, and every cluster is connected.
    Direction, repeats and self loops of the edges do not matter for who may pair with whom.

    The order is drawn once. In a later round a cluster is visited the earlier, the later its last member was visited
    in the round before, so that nodes without a partner come first.

    Args:
        rounds: Number of matchings, at most 64, each on the graph that the one before it left.
        mode: Which free neighbour a node takes; of equal ones the one that is visited first.
        seed: Seed of the visiting order; ``None`` takes another one from PyTorch's generator at every call.

    Example:
        >>> path = torch.tensor([[0, 1, 2], [1, 2, 3]])
        >>> Graclus(rounds=1)(path, num_nodes=4)
        tensor([0, 0, 1, 1])
    """

    options: ClassVar[tuple[str, ...]] = ("rounds", "mode", "seed")

    def __init__(self, rounds: int = 1, mode: Mode = "min_degree", seed: int | None = 0) -> None:
        self.rounds = check_whole("rounds", rounds, most=MOST_ROUNDS)
        self.mode: Mode = check_choice("mode", mode, get_args(Mode))
        self.seed = None if seed is None else check_whole("seed", seed, 0, also=", or None")

    @property
    def config(self) -> dict[str, Any]:
        """The options that build it again, as JSON holds them."""
        return {name: getattr(self, name) for name in self.options}

    @property
    def uses_edge_weight(self) -> bool:
        """Whether the matching reads edge weights."""
        return self.mode == "heavy_edge"

    def __call__(self, edge_index: Tensor, num_nodes: int, edge_weight: Tensor | None = None) -> Tensor:
        """Return the cluster of every node, numbered 0..C-1 without gaps.

        Args:
            edge_index: Edges :math:`(2, E)`.
            num_nodes: Number of nodes :math:`N`.
            edge_weight: Weights :math:`(E)` of at least zero, read by ``"heavy_edge"``; ``None`` gives every edge
                weight one. An edge of weight zero is still an edge, taken where nothing better is free.
        """
        num_nodes = check_whole("num_nodes", num_nodes, 1, MOST_NODES)
        check_edges(edge_index, num_nodes, look=False)
        check_values("edge_index", edge_index)
        edges = to_array(edge_index)
        if num_nodes > SMALL:
            check_memory(f"Graclus of num_nodes={num_nodes:,}", 32 * num_nodes, "give the number of nodes of the graph")
        weight = self._read_weight(edge_weight, edges.shape[1]) if self.uses_edge_weight else np.empty(0)
        seed = self.seed if self.seed is not None else int(torch.randint(2**31, ()))
        order = _draw_small(seed, num_nodes) if num_nodes <= SMALL else _draw_order(seed, num_nodes)
        cluster = cluster_nodes(edges, weight, order, self.rounds, _CODES[self.mode])
        if cluster.size == 0:
            check_edges(edge_index, num_nodes)
        return to_tensor(cluster, edge_index)

    @staticmethod
    def _read_weight(edge_weight: Tensor | None, num_edges: int) -> Floats:
        if edge_weight is None:
            return np.ones(num_edges)
        given = read_weight(edge_weight, num_edges)
        check_values("edge_weight", given)
        weight = given.detach().cpu().double().numpy()
        if weight.size and weight.min() < 0:
            raise ValueError(f"Weights must be at least 0 to be compared and summed; the smallest is {weight.min():g}.")
        return np.ascontiguousarray(weight)

    def __repr__(self) -> str:
        return f"Graclus(rounds={self.rounds}, mode={self.mode!r}, seed={self.seed})"


def _draw_order(seed: int, num_nodes: int) -> Ints:
    return np.random.default_rng(seed).permutation(num_nodes).astype(np.int32)


_draw_small = lru_cache(maxsize=256)(_draw_order)  # for data sets of small graphs: seeding takes as long as matching

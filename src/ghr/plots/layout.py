"""Places for the nodes of a graph in the plane."""

import math

import numpy as np
import torch
from numpy.typing import NDArray
from torch_geometric.data import Data

from ghr.datasets.generators.distances import hops_from
from ghr.hierarchy.lattice import lattice_edges


def is_lattice(graph: Data) -> bool:
    """Return whether a graph is a periodic square lattice, row by row."""
    size = math.isqrt(graph.num_nodes or 0)
    if size < 3 or size * size != graph.num_nodes or graph.num_edges != 4 * size * size:
        return False
    return torch.equal(graph["edge_index"], lattice_edges(size))


def place(graph: Data, *, rounds: int = 60) -> NDArray[np.float64]:
    r"""Return a place for every node: its own ``pos`` where it has one, else one that shows distances in hops.

    The places of a connected graph reduce the stress
    :math:`\sum_{i < j} (\lVert p_i - p_j \rVert - d_{ij})^2` from classical scaling by majorisation.

    Args:
        graph: The graph.
        rounds: Steps of majorisation.
    """
    if graph.pos is not None:
        return np.asarray(graph.pos[:, :2].numpy(), dtype=np.float64)
    size = int(graph.num_nodes or 0)
    edges = graph["edge_index"].numpy()
    hops = np.stack([hops_from(edges, size, node) for node in range(size)]).astype(np.float64)
    hops[hops < 0] = hops.max() + 2  # components stand apart
    centred = hops**2 - (hops**2).mean(axis=0)
    value, vector = np.linalg.eigh(-0.5 * (centred - centred.mean(axis=1, keepdims=True)))
    places = vector[:, -2:] * np.sqrt(np.maximum(value[-2:], 1e-9))
    if places.shape[1] < 2:  # a single node
        places = np.zeros((size, 2))
    places = places + 0.1 * np.random.default_rng(0).standard_normal(places.shape)  # leaves of one node are twins
    for _ in range(rounds):
        places = _majorise(places, hops)
    return np.asarray(places)


def stress(places: NDArray[np.float64], hops: NDArray[np.float64]) -> float:
    """Return how far distances in the plane are from distances in hops."""
    return float(((_distances(places) - hops) ** 2).sum() / 2)


def _majorise(places: NDArray[np.float64], hops: NDArray[np.float64]) -> NDArray[np.float64]:
    distance = _distances(places)
    ratio = np.divide(hops, distance, out=np.zeros_like(hops), where=distance > 1e-9)
    moved = ratio.sum(axis=1, keepdims=True) * places - ratio @ places
    return np.asarray(moved / len(places))


def _distances(places: NDArray[np.float64]) -> NDArray[np.float64]:
    return np.asarray(np.linalg.norm(places[:, None] - places[None], axis=2))

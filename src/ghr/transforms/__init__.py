"""What a model wants prepared of a graph besides its hierarchy."""

from ghr.transforms.hops import HopEdges
from ghr.transforms.laplacian import LaplacianEncoding
from ghr.transforms.patches import Patches
from ghr.transforms.random_walk import RandomWalkEncoding
from ghr.transforms.relative_random_walk import RelativeRandomWalk
from ghr.transforms.shortest_path import ShortestPathDistance

__all__ = [
    "HopEdges",
    "LaplacianEncoding",
    "Patches",
    "RandomWalkEncoding",
    "RelativeRandomWalk",
    "ShortestPathDistance",
]

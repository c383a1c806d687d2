"""What a model wants prepared of a graph besides its hierarchy."""

from ghr.transforms.hops import HopEdges
from ghr.transforms.laplacian import LaplacianEncoding

__all__ = ["HopEdges", "LaplacianEncoding"]

"""Partitions of a graph, the quotient graph, and the data class that carries both."""

from ghr.hierarchy.centres import CentrePaths
from ghr.hierarchy.coarsen import Coarsen
from ghr.hierarchy.data import HierarchicalData, Level
from ghr.hierarchy.graclus import Graclus
from ghr.hierarchy.grid import GridBlocks

__all__ = ["CentrePaths", "Coarsen", "Graclus", "GridBlocks", "HierarchicalData", "Level"]

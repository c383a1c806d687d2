"""Graph Hierarchical Recurrence: message passing on a graph and its pooled copy, inside one recurrence."""

from ghr.hierarchy import Coarsen, Graclus, GridBlocks, HierarchicalData, Level
from ghr.models import GHR, GPS, DeepGNN, State
from ghr.nn import EdgeReadout, GraphReadout, NodeReadout
from ghr.train import DiscountedLoss

__version__ = "0.1.0"

__all__ = [
    "GHR",
    "GPS",
    "Coarsen",
    "DeepGNN",
    "DiscountedLoss",
    "EdgeReadout",
    "Graclus",
    "GraphReadout",
    "GridBlocks",
    "HierarchicalData",
    "Level",
    "NodeReadout",
    "State",
]

"""Graph Hierarchical Recurrence: message passing on a graph and its pooled copy, inside one recurrence."""

from ghr.hierarchy import CentrePaths, Coarsen, Graclus, GridBlocks, HierarchicalData, Level
from ghr.models import GHR, GPS, DeepGNN, MinPlusGHR, Settled, State
from ghr.nn import EdgeReadout, GraphReadout, NodeReadout, ProportionalReadout
from ghr.train import DiscountedLoss

__version__ = "0.1.0"

__all__ = [
    "GHR",
    "GPS",
    "CentrePaths",
    "Coarsen",
    "DeepGNN",
    "DiscountedLoss",
    "EdgeReadout",
    "Graclus",
    "GraphReadout",
    "GridBlocks",
    "HierarchicalData",
    "Level",
    "MinPlusGHR",
    "NodeReadout",
    "ProportionalReadout",
    "Settled",
    "State",
]

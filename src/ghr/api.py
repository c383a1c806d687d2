"""Everything that stands in the package itself, such as ``ghr.GHR``: the one list of its public names."""

from ghr.datasets.metrics import Metric
from ghr.datasets.task import Task
from ghr.experiment import Experiment, fit
from ghr.hierarchy import CentrePaths, Coarsen, Graclus, GridBlocks, HierarchicalData, Level
from ghr.hierarchy.parts import Parts
from ghr.models import GHR, GPS, MODELS, DeepGNN, Entry, GraphModel, MinPlusGHR, Settled, State
from ghr.models.in_parts import InParts
from ghr.models.load import load
from ghr.nn import EdgeReadout, GraphReadout, NodeReadout, ProportionalReadout
from ghr.train import DiscountedLoss, Run, TrainConfig

__all__ = [
    "GHR",
    "GPS",
    "MODELS",
    "CentrePaths",
    "Coarsen",
    "DeepGNN",
    "DiscountedLoss",
    "EdgeReadout",
    "Entry",
    "Experiment",
    "Graclus",
    "GraphModel",
    "GraphReadout",
    "GridBlocks",
    "HierarchicalData",
    "InParts",
    "Level",
    "Metric",
    "MinPlusGHR",
    "NodeReadout",
    "Parts",
    "ProportionalReadout",
    "Run",
    "Settled",
    "State",
    "Task",
    "TrainConfig",
    "fit",
    "load",
]

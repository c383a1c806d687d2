"""Whole models: GHR, its extensions, and what it is compared with."""

from ghr.models.deep import DeepGNN
from ghr.models.ghr import GHR
from ghr.models.gps import GPS
from ghr.models.min_plus import MinPlusGHR
from ghr.models.recurrence import Recurrence
from ghr.models.settle import Settled
from ghr.models.state import Encoded, State

__all__ = ["GHR", "GPS", "DeepGNN", "Encoded", "MinPlusGHR", "Recurrence", "Settled", "State"]

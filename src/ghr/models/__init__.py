"""Whole models: GHR and what it is compared with."""

from ghr.models.deep import DeepGNN
from ghr.models.ghr import GHR
from ghr.models.gps import GPS
from ghr.models.state import Encoded, State

__all__ = ["GHR", "GPS", "DeepGNN", "Encoded", "State"]

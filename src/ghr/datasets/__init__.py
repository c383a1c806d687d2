"""Benchmarks with known distances, and the cached dataset they are built on."""

from ghr.datasets.cached import CachedDataset
from ghr.datasets.rgg import RGGSSSP, mae_by_distance

__all__ = ["RGGSSSP", "CachedDataset", "mae_by_distance"]

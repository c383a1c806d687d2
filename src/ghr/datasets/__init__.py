"""Benchmarks with known distances and energies, and the cached dataset they are built on."""

from ghr.datasets.cached import CachedDataset
from ghr.datasets.echo import ECHOSynth
from ghr.datasets.lrim import LRIM
from ghr.datasets.rgg import RGGSSSP, mae_by_distance
from ghr.datasets.sourced import SourcedDataset

__all__ = ["LRIM", "RGGSSSP", "CachedDataset", "ECHOSynth", "SourcedDataset", "mae_by_distance"]

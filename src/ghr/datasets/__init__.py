"""Benchmarks of long range, the cached dataset they are built on, and what their graphs need beforehand."""

from ghr.datasets.cached import CachedDataset
from ghr.datasets.city import CityNetworks
from ghr.datasets.eccentricity import hop_eccentricity, label_agreement, quantile_classes
from ghr.datasets.echo import ECHOSynth
from ghr.datasets.echo_chem import ECHOChem
from ghr.datasets.laplacian import LaplacianEncoding
from ghr.datasets.lrim import LRIM
from ghr.datasets.peptides import PeptidesStruct
from ghr.datasets.rgg import RGGSSSP, mae_by_distance
from ghr.datasets.sourced import SourcedDataset

__all__ = [
    "LRIM",
    "RGGSSSP",
    "CachedDataset",
    "CityNetworks",
    "ECHOChem",
    "ECHOSynth",
    "LaplacianEncoding",
    "PeptidesStruct",
    "SourcedDataset",
    "hop_eccentricity",
    "label_agreement",
    "mae_by_distance",
    "quantile_classes",
]

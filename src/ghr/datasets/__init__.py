"""Benchmarks of long range, the cached dataset they are built on, and what their graphs need beforehand."""

from ghr.datasets.benchmark import Benchmark
from ghr.datasets.city import CityNetworks, city_benchmark
from ghr.datasets.distance_errors import mae_by_distance
from ghr.datasets.echo import ECHOSynth, echo_benchmark
from ghr.datasets.echo_chem import ECHOChem, echo_chem_benchmark
from ghr.datasets.generators.eccentricity import hop_eccentricity, label_agreement, quantile_classes
from ghr.datasets.lrim import LRIM, lrim_benchmark
from ghr.datasets.metrics import METRICS, Metric
from ghr.datasets.peptides import PEPTIDES_STRUCT, PeptidesStruct
from ghr.datasets.rgg import RGGSSSP, rgg_benchmark
from ghr.datasets.splits import Splits, make_splits
from ghr.datasets.storage.cached import CachedDataset
from ghr.datasets.storage.sourced import SourcedDataset
from ghr.datasets.task import Task

BENCHMARKS: dict[str, Benchmark] = {
    # The small regime's updates are a choice made here; the paper states those of the large one.
    "rgg-sssp-small": rgg_benchmark(
        "small",
        {"graphs": "6000 / 1000 / 1000 [S]", "nodes": "40 to 60 [S]", "degree": "12 away from the border [S]"},
        t_high=2,
        t_low=2,
    ),
    "rgg-sssp-large": rgg_benchmark(
        "large",
        {
            "graphs": "6000 / 1000 / 1000 [S]",
            "nodes": "300 to 350, test to 500 [S]",
            "degree": "12 [S], by the code 6 [I]",
        },
        t_high=3,
        t_low=6,
    ),
    "rgg-sssp-huge": rgg_benchmark("huge", {}, t_high=3, t_low=6),
    # Numbers of updates, learning rates and batches as in the paper; readouts as in its published code.
    "echo-sssp": echo_benchmark(
        "sssp", "about 5.7 [V]", training={"lr": 1e-3}, suggested={"t_high": 3, "t_low": 6, "readout": "node"}
    ),
    "echo-ecc": echo_benchmark(
        "ecc",
        "about 5.3 to 5.5 [V]",
        training={"lr": 1e-3, "batch_size": 256},
        suggested={"t_high": 3, "t_low": 2, "readout": "node"},
    ),
    "echo-diam": echo_benchmark(
        "diam",
        "about 6.0 [V]",
        training={"lr": 1.8327e-3},
        suggested={"t_high": 2, "t_low": 2, "readout": "graph-mlp"},
    ),
    "echo-charge": echo_chem_benchmark("charge", "about 170000 in all [2]", lr=3.4076e-4, readout="node-mlp"),
    "echo-energy": echo_chem_benchmark("energy", "about 196000 in all [2]", lr=3.0004e-4, readout="graph-mlp"),
    "peptides-struct": PEPTIDES_STRUCT,
    "lrim-16-hard": lrim_benchmark(16, "hard", {"target mean": "-2.79 [V]", "target std": "4.66 [V]"}),
    "lrim-16-easy": lrim_benchmark(16, "easy"),
    "lrim-32-hard": lrim_benchmark(32, "hard"),
    "lrim-32-easy": lrim_benchmark(32, "easy"),
    "lrim-64-hard": lrim_benchmark(64, "hard"),
    "lrim-64-easy": lrim_benchmark(64, "easy"),
    "lrim-128-hard": lrim_benchmark(128, "hard"),
    "lrim-128-easy": lrim_benchmark(128, "easy"),
    "lrim-256-hard": lrim_benchmark(256, "hard"),
    "lrim-256-easy": lrim_benchmark(256, "easy"),
    "city-paris": city_benchmark("paris"),
    "city-shanghai": city_benchmark("shanghai"),
    "city-la": city_benchmark("la"),
    "city-london": city_benchmark("london"),
}

__all__ = [
    "BENCHMARKS",
    "LRIM",
    "METRICS",
    "RGGSSSP",
    "Benchmark",
    "CachedDataset",
    "CityNetworks",
    "ECHOChem",
    "ECHOSynth",
    "Metric",
    "PeptidesStruct",
    "SourcedDataset",
    "Splits",
    "Task",
    "hop_eccentricity",
    "label_agreement",
    "mae_by_distance",
    "make_splits",
    "quantile_classes",
]

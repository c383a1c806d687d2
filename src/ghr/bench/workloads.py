"""What is measured: the named workloads."""

from collections.abc import Sequence
from typing import Any, TypeAlias

from ghr.bench.attention_work import AttentionWork
from ghr.bench.batching import Batching
from ghr.bench.coarsening import Coarsening
from ghr.bench.graphs import GeometricGraphs, HubGraphs, Lattices
from ghr.bench.model_work import ModelWork
from ghr.bench.stack_work import StackWork
from ghr.bench.targets import Targets
from ghr.bench.value_work import ValueWork
from ghr.models import MinPlusGHR
from ghr.testing.plain_min_plus import PlainMinPlus

Workload: TypeAlias = ModelWork | Coarsening | AttentionWork | StackWork | ValueWork | Batching

_SHORTEST_PATHS: dict[str, Any] = {
    "in_channels": 1,
    "hidden_channels": 32,
    "out_channels": 1,
    "conv": "gated_gine",
    "start": "paper",
    "edge_dim": 1,
    "coarse_edge_dim": 2,
    "pool": "max",
    "steps": 4,
    "t_high": 3,
    "t_low": 6,
}
_LATTICE: dict[str, Any] = {
    "in_channels": 1,
    "hidden_channels": 256,
    "out_channels": 1,
    "conv": "gated_gcn",
    "start": "paper",
    "edge_dim": None,
    "coarse_edge_dim": 1,
    "pool": "sum",
    "steps": 3,
    "t_high": 3,
    "t_low": 3,
}

_CHOSEN: dict[str, Any] = {
    "in_channels": 1,
    "hidden_channels": 16,
    "out_channels": 1,
    "conv": None,
    "edge_dim": 1,
    "levels": 1,
    "values": "select",
    "value_channels": 8,
    "steps": 3,
    "t_low": 40,
}
_ADDED_UP: dict[str, Any] = {
    "in_channels": 1,
    "hidden_channels": 16,
    "out_channels": 1,
    "conv": None,
    "edge_dim": None,
    "share_coarse": True,
    "values": "sum",
    "value_channels": 12,
    "directions": True,
    "steps": 1,
}
_SMALLEST: dict[str, Any] = {"levels": 1, "steps": 3, "t_low": 40, "cap_jitter": 1.0}
_STEP = ModelWork(
    "A",
    "training step, 32 graphs of 325 nodes",
    GeometricGraphs(32, 325),
    _SHORTEST_PATHS,
    targets=Targets(speedup=5, memory=0.07),
)
_LATTICE_STEP = ValueWork(
    "V-sum", "training step, values added up on 32 lattices of 16 x 16", 32, 16, _ADDED_UP, Targets(speedup=3)
)

WORKLOADS: tuple[Workload, ...] = (
    _STEP,
    ModelWork(
        "Aw",
        "the same with edge weights",
        GeometricGraphs(32, 325, weighted=True),
        _SHORTEST_PATHS,
        targets=Targets(speedup=4, memory=0.12),
    ),
    ModelWork(
        "B",
        "training step, 128 graphs of 325 nodes",
        GeometricGraphs(128, 325),
        _SHORTEST_PATHS,
        targets=Targets(speedup=5, memory=0.10),
    ),
    ModelWork(
        "C",
        "training step, GatedGCN on 8 lattices of 16 x 16",
        Lattices(8, 16),
        _LATTICE,
        targets=Targets(speedup=1.8, memory=0.40),
    ),
    ModelWork(
        "D",
        "inference, one graph of 1,000,000 nodes",
        GeometricGraphs(1, 1_000_000),
        _SHORTEST_PATHS,
        train=False,
        targets=Targets(speedup=12, memory=0.15),
        max_repeats=2,
    ),
    *(
        ModelWork(
            f"A-{conv}",
            f"A with conv={conv}",
            GeometricGraphs(32, 325),
            {**_SHORTEST_PATHS, "conv": conv},
            targets=Targets(speedup=3),
        )
        for conv in ("gcn", "gat", "adgn")
    ),
    ModelWork(
        "C64", "C with 64 channels", Lattices(8, 16), {**_LATTICE, "hidden_channels": 64}, targets=Targets(speedup=3)
    ),
    ValueWork(
        "V-select", "training step, values chosen on 128 graphs of 96 nodes", 128, 96, _CHOSEN, Targets(speedup=3)
    ),
    _LATTICE_STEP,
    ValueWork(
        "V-min",
        "training step, min-plus on 128 graphs of 96 nodes",
        128,
        96,
        _SMALLEST,
        Targets(speedup=3),
        MinPlusGHR,
        PlainMinPlus,
    ),
    Coarsening("E", "coarsening 32 graphs of 325 nodes", 325, Targets(speedup=15), graphs=32),
    Coarsening("E", "coarsening 100,000 nodes", 100_000, Targets(speedup=15)),
    Coarsening("F", "coarsening 1,000,000 nodes", 1_000_000, Targets(seconds=3), ("ghr",)),
    AttentionWork("G", "training step, attention in 32 graphs of 40 to 60 nodes", 32, (40, 60), Targets(speedup=3)),
    AttentionWork("G", "training step, attention in 16 graphs of 60 to 150 nodes", 16, (60, 150), Targets(speedup=3)),
    ModelWork(
        "H",
        "training step, 128 graphs of 96 nodes with hubs",
        HubGraphs(128, 96),
        _SHORTEST_PATHS,
        targets=Targets(speedup=5),
    ),
    Batching("I", "making a batch of A; plain: the training step on it", _STEP, Targets(speedup=20)),
    Batching("I", "making a batch of V-sum; plain: the training step on it", _LATTICE_STEP, Targets(speedup=20)),
    StackWork("S", "training step, 5 layers of GCN", "gcn", GeometricGraphs(32, 325), Targets(speedup=1)),
    StackWork("S", "training step, 5 layers of GINE", "gine", GeometricGraphs(32, 325), Targets(speedup=1)),
)


def select(names: Sequence[str]) -> list[Workload]:
    """Return the workloads of these names, in their own order; all of them if no name is given."""
    known = list(dict.fromkeys(workload.name for workload in WORKLOADS))
    for name in names:
        if name not in known:
            raise ValueError(f"Unknown workload {name!r}; known are {', '.join(known)}.")
    return [workload for workload in WORKLOADS if not names or workload.name in names]

"""Whole models: GHR, its extensions, and what it is compared with. :data:`MODELS` has them by name."""

from ghr.models.base import GraphModel
from ghr.models.deep import DeepGNN
from ghr.models.entry import Entry
from ghr.models.ghr import GHR
from ghr.models.gps import GPS
from ghr.models.graph_vit import GraphViT
from ghr.models.grit import GRIT
from ghr.models.min_plus import MinPlusGHR
from ghr.models.recurrence import Recurrence
from ghr.models.settle import Settled
from ghr.models.state import Encoded, State

_GHR = "Carotti et al., 2026"
_GPS = "Rampášek et al., NeurIPS 2022"
_ABLATION = f"{_GHR}, ablations"

MODELS: dict[str, Entry] = {
    "ghr": Entry(GHR, {}, "GHR as the benchmark's recipe has it", _GHR),
    "ghr-gine": Entry(GHR, {"conv": "gine"}, "GHR with GINE", _GHR),
    "ghr-gated-gine": Entry(GHR, {"conv": "gated_gine"}, "GHR with gated GINE", _GHR),
    "ghr-gcn": Entry(GHR, {"conv": "gcn"}, "GHR with GCN", _ABLATION),
    "ghr-gated-gcn": Entry(GHR, {"conv": "gated_gcn"}, "GHR with GatedGCN", _GHR),
    "ghr-gat": Entry(GHR, {"conv": "gat"}, "GHR with GAT", _ABLATION),
    "ghr-adgn": Entry(GHR, {"conv": "adgn"}, "GHR with A-DGN", _ABLATION),
    "recurrent-gine": Entry(
        GHR, {"conv": "gine", "levels": 1, "steps": 1, "t_low": 20}, "one GINE layer, 20 times, no hierarchy", _ABLATION
    ),
    "recurrent-gated-gine": Entry(
        GHR,
        {"conv": "gated_gine", "levels": 1, "steps": 1, "t_low": 20},
        "one gated GINE layer, 20 times, no hierarchy",
        _ABLATION,
    ),
    "recurrent-gr-gine": Entry(
        GHR, {"conv": "gine", "levels": 1, "steps": 4, "t_low": 20}, "the same in 4 global steps", _ABLATION
    ),
    "recurrent-gr-gated-gine": Entry(
        GHR, {"conv": "gated_gine", "levels": 1, "steps": 4, "t_low": 20}, "the same in 4 global steps", _ABLATION
    ),
    "deep-gine": Entry(DeepGNN, {"conv": "gine"}, "a stack of distinct GINE layers", _ABLATION),
    "deep-gated-gine": Entry(DeepGNN, {"conv": "gated_gine"}, "a stack of distinct gated GINE layers", _ABLATION),
    "deep-gr-gine": Entry(DeepGNN, {"conv": "gine", "steps": 4}, "the stack in 4 global steps", _ABLATION),
    "deep-gr-gated-gine": Entry(DeepGNN, {"conv": "gated_gine", "steps": 4}, "the stack in 4 global steps", _ABLATION),
    "gps": Entry(GPS, {}, "message passing beside attention", _GPS),
    "ghr-select": Entry(
        GHR,
        {
            "values": "select",
            "conv": None,
            "levels": 1,
            "hidden_channels": 16,
            "value_channels": 4,
            "steps": 4,
            "t_low": 12,
        },
        "values chosen from neighbours, which keep their size",
        "not in the paper",
        {
            "lr": 1e-2,
            "schedule": "cosine",
            "min_lr": 1e-4,
            "gamma": 0.05,  # until the values have arrived, a step has nothing to be judged by
            "jitter": False,
            "batch_size": 16,
            "patience": None,
        },
    ),
    "ghr-sum": Entry(
        GHR,
        {"values": "sum", "conv": None, "share_coarse": True, "steps": 1, "value_channels": 12},
        "values added up over all levels, which keep their size",
        "not in the paper",
        {"lr": 3e-3, "schedule": "cosine", "min_lr": 3e-6, "log10": True, "jitter": False, "patience": None},
    ),
    "gps-rwse": Entry(
        GPS,
        {"encoding": "rwse", "layers": 4, "heads": 2},
        "message passing beside attention, told how random walks return",
        _GPS,
        budget=15_000,
    ),
    "gps-laplacian": Entry(
        GPS,
        {"encoding": "laplacian", "layers": 4, "heads": 2},
        "message passing beside attention, told eigenvectors of the Laplacian",
        _GPS,
        budget=15_000,
    ),
    "grit": Entry(
        GRIT, {}, "attention by states of all pairs, from random walks", "Ma et al., ICML 2023", budget=15_000
    ),
    "graph-vit": Entry(GraphViT, {}, "a transformer over overlapping patches", "He et al., ICML 2023", budget=15_000),
    "min-plus": Entry(MinPlusGHR, {}, "GHR with minima in place of sums, for shortest paths", "not in the paper"),
}

__all__ = [
    "GHR",
    "GPS",
    "GRIT",
    "MODELS",
    "DeepGNN",
    "Encoded",
    "Entry",
    "GraphModel",
    "GraphViT",
    "MinPlusGHR",
    "Recurrence",
    "Settled",
    "State",
]

"""Whole models: GHR, its extensions, and what it is compared with. :data:`MODELS` has them by name."""

from ghr.models.adgn import ADGN
from ghr.models.base import GraphModel
from ghr.models.cache_gnn import CacheGNN
from ghr.models.constant import Constant
from ghr.models.deep import DeepGNN
from ghr.models.drew import DRew
from ghr.models.entry import Entry
from ghr.models.gcnii import GCNII
from ghr.models.ghr import GHR
from ghr.models.gps import GPS
from ghr.models.graph_vit import GraphViT
from ghr.models.graphcon import GraphCON
from ghr.models.grit import GRIT
from ghr.models.lattice_unet import LatticeUNet
from ghr.models.min_plus import MinPlusGHR
from ghr.models.mlp import NodeMLP
from ghr.models.ph_dgn import PHDGN
from ghr.models.recurrence import Recurrence
from ghr.models.settle import Settled
from ghr.models.stack import Stack
from ghr.models.state import Encoded, State
from ghr.models.swan import SWAN
from ghr.models.torus_kernel import TorusKernel
from ghr.models.virtual_node import VirtualNode

_GHR = "Carotti et al., 2026"
_GPS = "Rampášek et al., NeurIPS 2022"
_ABLATION = f"{_GHR}, ablations"
_OURS = "not in the paper"
_BUDGET = 15_000  # parameters of a baseline, where a benchmark suggests no other number

MODELS: dict[str, Entry] = {
    # The paper's model.
    "ghr": Entry(GHR, {}, "GHR as the benchmark's recipe has it", _GHR),
    "ghr-gine": Entry(GHR, {"conv": "gine"}, "GHR with GINE", _GHR),
    "ghr-gated-gine": Entry(GHR, {"conv": "gated_gine"}, "GHR with gated GINE", _GHR),
    "ghr-gcn": Entry(GHR, {"conv": "gcn"}, "GHR with GCN", _ABLATION),
    "ghr-gated-gcn": Entry(GHR, {"conv": "gated_gcn"}, "GHR with GatedGCN", _GHR),
    "ghr-gat": Entry(GHR, {"conv": "gat"}, "GHR with GAT", _ABLATION),
    "ghr-adgn": Entry(GHR, {"conv": "adgn"}, "GHR with A-DGN", _ABLATION),
    # Beyond the paper.
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
        _OURS,
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
        _OURS,
        {"lr": 3e-3, "schedule": "exponential", "min_lr": 3e-6, "log10": True, "jitter": False, "patience": None},
    ),
    "min-plus": Entry(MinPlusGHR, {}, "GHR with minima in place of sums, for shortest paths", _OURS),
    # The flat models of the paper's ablations.
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
    # Plain stacks.
    "gcn": Entry(
        Stack,
        {"conv": "gcn"},
        "a stack of GCN, edges as one weight each",
        "Kipf and Welling, ICLR 2017",
        budget=_BUDGET,
    ),
    "gin": Entry(
        Stack, {"conv": "gin"}, "a stack of GIN, which reads no edge features", "Xu et al., ICLR 2019", budget=_BUDGET
    ),
    "gine": Entry(Stack, {"conv": "gine"}, "a stack of GINE", "Hu et al., ICLR 2020", budget=_BUDGET),
    "gat": Entry(
        Stack, {"conv": "gat"}, "a stack of attention over neighbours, GATv2", "Brody et al., ICLR 2022", budget=_BUDGET
    ),
    "gated-gcn": Entry(
        Stack,
        {"conv": "gated_gcn", "residual": True},
        "a stack of GatedGCN, edges with states",
        "Bresson and Laurent, 2017",
        budget=_BUDGET,
    ),
    "sage": Entry(
        Stack,
        {"conv": "sage"},
        "a stack of GraphSAGE, which reads no edge features",
        "Hamilton et al., NeurIPS 2017",
        budget=_BUDGET,
    ),
    "pna": Entry(
        Stack,
        {"conv": "pna"},
        "a stack of PNA, several sums scaled by degree",
        "Corso et al., NeurIPS 2020",
        budget=_BUDGET,
    ),
    "transformer-conv": Entry(
        Stack,
        {"conv": "transformer"},
        "a stack of dot-product attention over neighbours",
        "Shi et al., IJCAI 2021",
        budget=_BUDGET,
    ),
    "gcnii": Entry(
        GCNII, {}, "a deep GCN with initial residual and identity map", "Chen et al., ICML 2020", budget=_BUDGET
    ),
    # Virtual nodes, and layers that reach farther.
    "gcn-vn": Entry(
        VirtualNode,
        {"conv": "gcn", "mode": "pre"},
        "GCN and a virtual node that pools what a layer is given",
        "Gilmer et al., ICML 2017; Hu et al., NeurIPS 2020",
        budget=_BUDGET,
    ),
    "gated-gcn-vn": Entry(
        VirtualNode,
        {"conv": "gated_gcn", "mode": "post", "residual": True},
        "GatedGCN and a virtual node that pools what a layer returns (VN_G)",
        "after Southern et al., ICLR 2025",
        budget=_BUDGET,
    ),
    "drew": Entry(
        DRew, {}, "layers that reach farther one by one, with delay", "Gutteridge et al., ICML 2023", budget=_BUDGET
    ),
    # Dynamical systems, and a recurrence with a memory.
    "a-dgn": Entry(
        ADGN,
        {},
        "an antisymmetric differential equation on the nodes",
        "Gravina, Bacciu and Gallicchio, ICLR 2023",
        budget=_BUDGET,
    ),
    "swan": Entry(
        SWAN,
        {},
        "an equation that is antisymmetric for the whole graph",
        "Gravina et al., AAAI 2025",
        budget=_BUDGET,
    ),
    "graphcon": Entry(
        GraphCON, {}, "coupled, damped oscillators on the nodes", "Rusch et al., ICML 2022", budget=_BUDGET
    ),
    "ph-dgn": Entry(
        PHDGN, {}, "a Hamiltonian system on the nodes, damped and driven", "Heilig et al., ICLR 2025", budget=_BUDGET
    ),
    "cache-gnn": Entry(
        CacheGNN,
        {},
        "recurrence with a cache of past states; a reconstruction: no code or equations were published",
        "reconstruction after Ma et al., KDD 2023",
        budget=_BUDGET,
    ),
    # Attention.
    "gps": Entry(GPS, {"layers": 4, "heads": 2}, "message passing beside attention", _GPS, budget=_BUDGET),
    "gps-rwse": Entry(
        GPS,
        {"encoding": "rwse", "layers": 4, "heads": 2},
        "message passing beside attention, told how random walks return",
        _GPS,
        budget=_BUDGET,
    ),
    "gps-laplacian": Entry(
        GPS,
        {"encoding": "laplacian", "layers": 4, "heads": 2},
        "message passing beside attention, told eigenvectors of the Laplacian",
        _GPS,
        budget=_BUDGET,
    ),
    "grit": Entry(
        GRIT, {}, "attention by states of all pairs, from random walks", "Ma et al., ICML 2023", budget=_BUDGET
    ),
    "graph-vit": Entry(GraphViT, {}, "a transformer over overlapping patches", "He et al., ICML 2023", budget=_BUDGET),
    # Floors.
    "mlp": Entry(NodeMLP, {}, "a floor: every node by itself, no graph", _OURS, budget=_BUDGET),
    "constant": Entry(
        Constant, {}, "a floor: the best constant", _OURS, {"lr": 0.1, "schedule": "cosine", "min_lr": 1e-5}
    ),
    # Floors that know the lattice.
    "lattice-unet": Entry(
        LatticeUNet,
        {},
        "a floor on lattices: a convolutional U-Net around the torus",
        "after Ronneberger, Fischer and Brox, MICCAI 2015",
        budget=_BUDGET,
    ),
    "torus-kernel": Entry(
        TorusKernel,
        {},
        "a floor on lattices: one linear kernel over the torus, by least squares",
        _OURS,
        {"epochs": 1, "patience": None},
    ),
}

__all__ = [
    "ADGN",
    "GCNII",
    "GHR",
    "GPS",
    "GRIT",
    "MODELS",
    "PHDGN",
    "SWAN",
    "CacheGNN",
    "Constant",
    "DRew",
    "DeepGNN",
    "Encoded",
    "Entry",
    "GraphCON",
    "GraphModel",
    "GraphViT",
    "LatticeUNet",
    "MinPlusGHR",
    "NodeMLP",
    "Recurrence",
    "Settled",
    "Stack",
    "State",
    "TorusKernel",
    "VirtualNode",
]

"""The parts that models are made of."""

from ghr.nn.conv import ADGN, CONVS, GAT, GCN, GINE, Conv, GatedGCN, GatedGINE
from ghr.nn.min_plus import EdgeLength, MinPlusCell
from ghr.nn.mlp import MLP
from ghr.nn.readout import EdgeReadout, GraphReadout, NodeReadout, ProportionalReadout
from ghr.nn.swiglu import SwiGLU

__all__ = [
    "ADGN",
    "CONVS",
    "GAT",
    "GCN",
    "GINE",
    "MLP",
    "Conv",
    "EdgeLength",
    "EdgeReadout",
    "GatedGCN",
    "GatedGINE",
    "GraphReadout",
    "MinPlusCell",
    "NodeReadout",
    "ProportionalReadout",
    "SwiGLU",
]

"""Values: states that are never normalised, only moved along edges and between levels."""

from ghr.nn.values.select import GATES, Candidates, Gate, Holder, SelectCell
from ghr.nn.values.stencil import Hops, Stencil
from ghr.nn.values.sum import SumCell, SumLevel

__all__ = ["GATES", "Candidates", "Gate", "Holder", "Hops", "SelectCell", "Stencil", "SumCell", "SumLevel"]

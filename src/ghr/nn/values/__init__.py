"""Values: states that are never normalised, only moved along edges and between levels."""

from ghr.nn.values.carry import CarryCell
from ghr.nn.values.select import Candidates, Holder, SelectCell
from ghr.nn.values.stencil import Hops, Stencil
from ghr.nn.values.sum import SumCell, SumLevel
from ghr.nn.values.sweep import SweepCell

__all__ = ["Candidates", "CarryCell", "Holder", "Hops", "SelectCell", "Stencil", "SumCell", "SumLevel", "SweepCell"]

"""The tables and figures of the paper that ``ghr reproduce`` makes again, and one past it, one a file."""

from ghr.paper.item import Item
from ghr.paper.items.ablations import AblationFigure, AblationTable
from ghr.paper.items.cells import CellsTable
from ghr.paper.items.diameter import Diameter
from ghr.paper.items.echo_range import EchoRange
from ghr.paper.items.equal import ECHO, LRGB, LRIM
from ghr.paper.items.extension import ExtensionTable
from ghr.paper.items.memory import Memory
from ghr.paper.items.parameters import Parameters
from ghr.paper.items.prediction import Prediction
from ghr.paper.items.questions import Questions
from ghr.paper.items.sensitivity import SensitivityTable
from ghr.paper.items.shift import ShiftTable
from ghr.paper.items.small_range import SmallRange
from ghr.paper.items.start import Start
from ghr.paper.items.transfer import Transfer

_ALL: tuple[Item, ...] = (
    SmallRange(),
    AblationTable(),
    AblationFigure(),
    Prediction(),
    Diameter(),
    Memory(),
    Parameters(),
    ECHO,
    EchoRange(),
    LRIM,
    Transfer(),
    LRGB,
    ShiftTable(),
    SensitivityTable(),
    ExtensionTable(),
    CellsTable(),
    Questions(),
    Start(),
)
ITEMS: dict[str, Item] = {item.name: item for item in _ALL}

__all__ = ["ITEMS"]

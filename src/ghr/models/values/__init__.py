"""How values move within a global step, beside the state that controls them."""

from ghr.models.values.carry import CarryValues
from ghr.models.values.options import SMALLEST, ValueOptions
from ghr.models.values.readout import make_value_readout
from ghr.models.values.select import Gate, SelectValues, explain_sweeps
from ghr.models.values.step import begin_values
from ghr.models.values.sum import SumValues
from ghr.models.values.update import ValueState, ValueUpdate

__all__ = [
    "SMALLEST",
    "CarryValues",
    "Gate",
    "SelectValues",
    "SumValues",
    "ValueOptions",
    "ValueState",
    "ValueUpdate",
    "begin_values",
    "explain_sweeps",
    "make_value_readout",
]

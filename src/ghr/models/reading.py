"""What is predicted from a state, in the order of the nodes as they were given."""

import torch
from torch import Tensor

from ghr.models.state import Encoded, State
from ghr.nn.readout import NodeReadout, Readout, ReadoutInput
from ghr.nn.readout.scaled import ScaledReadout


def read_out(readout: Readout, encoded: Encoded, state: State) -> Tensor:
    """Return the predictions of a readout that sees the state of the graph itself, its values and its input.

    Where nodes are computed in another order, a readout gets them as they were given. One that maps every node by
    itself asks for no order: its predictions are put into that of the nodes, since they are smaller than states.

    Args:
        readout: The readout.
        encoded: The batch.
        state: Its state.
    """
    finest, x, shown = encoded.levels[0], encoded.given, encoded.shown
    low, values = state.low, state.values[0] if state.values else None
    inner = readout.inner if isinstance(readout, ScaledReadout) else readout
    node_by_node = type(inner) is NodeReadout  # one derived from it may read edges
    if shown is not None and not node_by_node:
        finest, x, low = shown.finest, shown.given, low.index_select(0, shown.place)
        values = None if values is None else values.index_select(0, shown.place)
    if values is not None:
        low = torch.cat([low, values], dim=1) if low.size(1) else values
    given = ReadoutInput(low, finest.batch, encoded.num_graphs, finest.edge_index, encoded.edge_attr, values, x)
    prediction: Tensor = readout(given)
    return prediction.index_select(0, shown.place) if shown is not None and node_by_node else prediction

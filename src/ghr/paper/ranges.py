"""How far the trained models of rows look, kept in a file of their runs."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ghr.analysis import measure_exchange, measure_range
from ghr.analysis.range import Through
from ghr.datasets import BENCHMARKS
from ghr.models import GraphModel
from ghr.paper.row import AS_TRAINED, Loops
from ghr.paper.runs import RowRun


@dataclass(frozen=True)
class RangeTest:
    """The range of a model on the first test graphs of a benchmark.

    Args:
        benchmark: Its name in ``BENCHMARKS``.
        graphs: How many graphs.
        nodes: How many predictions of each.
        through: As in :func:`~ghr.analysis.measure_range`.
        exchange: Whether features of nodes are exchanged, in place of taking derivatives.
        options: Options of the data, where they are not the usual ones.
    """

    benchmark: str
    graphs: int = 16
    nodes: int = 16
    through: Through = "readout"
    exchange: bool = False
    options: Mapping[str, Any] = field(default_factory=dict)

    @property
    def name(self) -> str:
        """Such as ``range, 16 graphs, 16 nodes of each``."""
        kind = "range by exchange" if self.exchange else "range"
        words = [f"{kind}, {self.graphs} graphs, {self.nodes} nodes of each"]
        words += [f"through its {self.through}"] if self.through != "readout" else []
        return ", ".join([*words, *(f"{name}={value}" for name, value in self.options.items())])

    def evaluate(self, model: GraphModel, data: Path, loops: Mapping[str, Any]) -> dict[str, Any]:
        """Return the range and the influence by distance; a range of ``None`` with the reason where there is none."""
        graphs = BENCHMARKS[self.benchmark].load(
            data, "test", num_graphs=self.graphs, pre_transform=model.transform, **self.options
        )
        given = {"sample": self.graphs, "nodes": self.nodes, **loops}
        try:
            if self.exchange:
                return measure_exchange(model, graphs, graphs.task, **given).describe()
            found = measure_range(model, graphs, graphs.task, through=self.through, **given)
        except ValueError as error:
            return {"range": None, "why": str(error)}
        return found.describe()


def read_range(
    run: RowRun, data: str | Path, *, loops: Loops = AS_TRAINED, graphs: int = 16, exchange: bool = False
) -> float | None:
    """Return how far the model of a finished run looks, in hops, measured where it is not known yet.

    ``None`` where it has no range, or none is known and the weights are lost.

    Args:
        run: The run.
        data: Folder of the generated graphs.
        loops: Loops of the model.
        graphs: On how many test graphs.
        exchange: Whether features of nodes are exchanged, in place of taking derivatives.
    """
    options = run.experiment.data.describe()["options"]
    found = run.ask(RangeTest(run.row.setup.benchmark, graphs, exchange=exchange, options=options), loops, data)
    value = None if found is None else found["range"]
    return None if value is None else float(value)

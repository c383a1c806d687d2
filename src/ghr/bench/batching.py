"""The workload that makes a batch, against the training step that uses it."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

from torch_geometric.data import Batch, Data

from ghr.bench.model_work import ModelWork, Work
from ghr.bench.targets import NO_TARGETS, Targets
from ghr.bench.value_work import ValueWork
from ghr.train.collate import collate
from ghr.train.sharing import share_equal


@dataclass(frozen=True)
class Batching:
    """Putting coarsened graphs into one batch, as training does before every step; what it is held against is the step.

    Args:
        name: What selects it.
        title: What it is, for the table.
        step: The training step.
        targets: What it shall reach: twenty times faster than the step is five per cent of it.
    """

    name: str
    title: str
    step: ModelWork | ValueWork
    targets: Targets = NO_TARGETS
    implementations: tuple[str, ...] = ("ghr", "plain")
    max_repeats: int | None = None

    def quick(self) -> "Batching":
        """Return the same on tiny graphs, where the targets mean nothing."""
        return replace(self, title=f"{self.title}, shrunk", step=self.step.quick(), targets=NO_TARGETS)

    def load(self) -> Data:
        """Return the batch."""
        return self.step.load()

    def facts(self, data: Data, result: Any) -> dict[str, int]:
        """Return the sizes that matter."""
        return self.step.facts(data, result)

    def prepare(self, implementation: str, data: Any) -> Callable[[], Any] | Work:
        """Return the making of the batch or, as what is plain, our training step."""
        if implementation == "plain":
            return self.step.prepare("ghr", data)
        assert isinstance(data, Batch)
        listed: list[Any] = data.to_data_list()
        graphs = share_equal(listed)
        return lambda: collate(graphs, list(range(len(graphs))))

    def errors(self, works: dict[str, Callable[[], Any]], results: dict[str, Any]) -> dict[str, float]:
        """Return nothing: there is no other way to make a batch."""
        return {}

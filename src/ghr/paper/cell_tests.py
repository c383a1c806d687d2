"""Past the paper: graphs on which cells are tested beside those of their benchmark, and on which nothing was chosen."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

import torch

from ghr.datasets import LRIM, ECHOSynth, mae_by_distance
from ghr.datasets.echo import LARGEST
from ghr.datasets.lrim import SIGMAS
from ghr.datasets.splits import Examples
from ghr.files import write_text
from ghr.models import GraphModel
from ghr.paper.extension import TEST_SEED, FarTest
from ghr.paper.row import Loops
from ghr.paper.runs import RowRun
from ghr.train import collect, evaluate
from ghr.train.directory import jsonable

TESTS = "tests.json"  # in a run directory, so that a table can be made again without the weights


class CellTest(Protocol):
    """Graphs on which a trained model is tested beside those of its benchmark."""

    @property
    def name(self) -> str:
        """What the file of a run calls it; all that changes its numbers is in it."""
        ...

    def evaluate(self, model: GraphModel, data: Path, loops: Mapping[str, Any]) -> dict[str, Any]:
        """Return the errors of a model by name.

        Args:
            model: The model.
            data: Folder of the generated graphs.
            loops: Numbers for its loops.
        """
        ...


@dataclass(frozen=True)
class FarHops:
    """Shortest paths on graphs that are larger than those of the benchmark.

    Args:
        graphs: The graphs.
        in_range: Largest distance in training.
    """

    graphs: FarTest
    in_range: int

    @property
    def name(self) -> str:
        """Such as ``large, 100 graphs, to 40 hops``."""
        return f"{self.graphs.regime}, {self.graphs.graphs} graphs, to {self.graphs.distance} hops"

    def evaluate(self, model: GraphModel, data: Path, loops: Mapping[str, Any]) -> dict[str, Any]:
        """Return the errors in hops: at every distance, in the trained range and out of it."""
        dataset = self.graphs.load(data, transform=model.transform)
        graphs: Examples = dataset
        prediction, target = collect(model, graphs, dataset.task, batch_size=10, **loops)
        hops = torch.cat([graphs[index].hops[graphs[index].mask] for index in range(len(graphs))])
        return {**mae_by_distance(prediction, target, hops, self.in_range)}


@dataclass(frozen=True)
class EchoDiameters:
    """Shortest paths on fresh graphs of ECHO, by the diameter of the graphs.

    Args:
        graphs: How many.
        in_range: Largest diameter that counts as in range.
    """

    graphs: int
    in_range: int

    @property
    def name(self) -> str:
        """Such as ``400 graphs, diameters to 28 and beyond``."""
        return f"{self.graphs} graphs, diameters to {self.in_range} and beyond"

    def evaluate(self, model: GraphModel, data: Path, loops: Mapping[str, Any]) -> dict[str, Any]:
        """Return the errors in hops: over all graphs, on those with diameters in range and on the others."""
        options: dict[str, Any] = {"split": "test", "num_graphs": self.graphs, "seed": TEST_SEED}
        graphs = ECHOSynth(data, "sssp", pre_transform=model.transform, **options)
        every, inside = [*range(len(graphs))], find_narrow(data, self.in_range, **options)
        chosen = {"mae": every, "in_range": inside, "out_of_range": sorted({*every} - {*inside})}
        return {name: evaluate(model, graphs.index_select(part), graphs.task, **loops) for name, part in chosen.items()}


@dataclass(frozen=True)
class Lattices:
    """Local energies on Ising lattices of another side.

    Args:
        size: Their side.
        graphs: How many.
    """

    size: int
    graphs: int

    @property
    def name(self) -> str:
        """Such as ``side 64, 10 lattices``."""
        return f"side {self.size}, {self.graphs} lattices"

    def evaluate(self, model: GraphModel, data: Path, loops: Mapping[str, Any]) -> dict[str, Any]:
        """Return the logarithm of the mean squared error."""
        graphs = LRIM(
            data,
            self.size,
            SIGMAS["hard"],
            "test",
            num_graphs=self.graphs,
            seed=TEST_SEED,
            pre_transform=model.transform,
        )
        return {"log10_mse": evaluate(model, graphs, graphs.task, batch_size=1, **loops)}


def find_narrow(data: str | Path, largest: int, **options: Any) -> list[int]:
    """Return which graphs of a set of ECHO are at most so wide; all of its tasks share their graphs.

    Args:
        data: Folder of the generated graphs.
        largest: The largest diameter.
        **options: Of :class:`~ghr.datasets.ECHOSynth`.
    """
    graphs: Examples = ECHOSynth(data, "diam", **options)
    return [index for index in range(len(graphs)) if round(LARGEST * float(graphs[index].y)) <= largest]


def evaluate_run(run: RowRun, test: CellTest, loops: Loops, data: Path) -> dict[str, Any]:
    """Return the errors of a finished run on further graphs, from its directory where they are known already.

    Args:
        run: The run.
        test: The graphs.
        loops: Loops of the model.
        data: Folder of the generated graphs.
    """
    file, key = run.path / TESTS, f"{test.name}; {loops.label}"
    try:
        known = dict(json.loads(file.read_text())) if file.exists() else {}
    except (ValueError, TypeError) as error:
        raise ValueError(f"{file} is damaged ({error}); delete it to have it computed again.") from error
    if key not in known:
        known[key] = jsonable(test.evaluate(run.open().model, data, loops.given))
        write_text(file, json.dumps(known))
    return dict(known[key])

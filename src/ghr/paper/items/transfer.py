"""The paper's table of transfer: trained on lattices of side 16, tested on larger ones."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ghr.datasets import LRIM
from ghr.datasets.generators.ising import couplings, hop_oracle, local_energies
from ghr.datasets.lrim import SIGMAS
from ghr.datasets.splits import Examples
from ghr.paper.cell_tests import Lattices
from ghr.paper.equal import Column, System
from ghr.paper.extension import TEST_SEED
from ghr.paper.item import Place, Report
from ghr.paper.markdown import markdown_table, number
from ghr.paper.results import gather
from ghr.paper.row import AS_TRAINED, Row
from ghr.paper.runs import RowRun
from ghr.paper.systems import LARGER, LRIM_COLUMNS, LRIM_SYSTEMS, TRANSFER_PUBLISHED

_SETTING = """\
The runs of [`table-lrim`](table-lrim.md) on side 16, tested unchanged on fresh, larger lattices: every system at equal
cost, one seed. The logarithm to base 10 of the mean squared error, beside that of the paper. A dash stands where a
model was not asked: attention over all pairs of lattices of side 128 and 256 would take hours. The oracle knows all
couplings, but sees only spins within some hops: what a perfect model of that range would reach. `sum` knows places and
directions on the lattice, which no system of the literature does; so do two floors, which show what the lattice alone
gives: a convolutional U-Net, and one linear kernel over the torus, which is exact on side 16 and takes for zero what is
more than 8 rows or columns away."""

HOPS = (8, 15)


@dataclass(frozen=True)
class Transfer:
    """Errors of models that were trained on side 16 on larger lattices."""

    name: str = "table-lrim-transfer"
    title: str = "LRIM: trained on side 16, tested on larger lattices"
    systems: tuple[System, ...] = LRIM_SYSTEMS
    column: Column = LRIM_COLUMNS[0]
    larger: tuple[Lattices, ...] = LARGER

    @property
    def rows(self) -> tuple[Row, ...]:
        """Those of ``table-lrim`` on side 16 with one seed."""
        return tuple(row for system in self.systems if (row := self.column.row(system)))

    def report(self, place: Place) -> Report:
        """List the errors on all sides, and those of the oracle."""
        header = ["system", "16", *(f"{test.size} / published" for test in self.larger)]
        lines: list[list[str]] = []
        record: list[dict[str, Any]] = []
        for system in self.systems:
            errors = self._read(system, place)
            told = [TRANSFER_PUBLISHED.get(test.size, {}).get(system.key, "-") for test in self.larger]
            cells = [f"{number(error, 2)} / {word}" for error, word in zip(errors[1:], told, strict=True)]
            lines.append([system.title, "not run" if errors[0] is None else number(errors[0], 2), *cells])
            sides = [16, *(test.size for test in self.larger)]
            record.append({"system": system.key, "errors": dict(zip(sides, errors, strict=True))})
        if any(row["errors"][16] is not None for row in record):
            for hops in HOPS:
                found = [_oracle(test, hops, place) for test in self.larger]
                lines.append([f"oracle of {hops} hops", "-", *(f"{number(error, 2)} / -" for error in found)])
                record.append(
                    {"system": f"oracle-{hops}", "errors": {t.size: e for t, e in zip(self.larger, found, strict=True)}}
                )
        return Report("\n\n".join([_SETTING, markdown_table(header, lines)]), {"rows": record})

    def _read(self, system: System, place: Place) -> list[float | None]:
        row = self.column.row(system)
        results = None if row is None else gather([row], place.runs, place.seeds)[0]
        if row is None or results is None or not results.results:
            return [None] * (1 + len(self.larger))
        seed, result = next(iter(results.results.items()))
        run = RowRun(row, seed, place.runs)
        found = [run.ask(test, AS_TRAINED, place.data) if test in row.tests else None for test in self.larger]
        return [result["metrics"]["log10_mse"], *(None if errors is None else errors["log10_mse"] for errors in found)]


def _oracle(test: Lattices, hops: int, place: Place) -> float:
    """Return the error of a model that knows all couplings but sees only so far."""
    options: dict[str, Any] = {"num_graphs": test.graphs, "seed": TEST_SEED}
    graphs: Examples = LRIM(place.data, test.size, SIGMAS["hard"], "test", **options)
    spins: NDArray[Any] = np.stack([graphs[index].x.view(test.size, test.size).numpy() for index in range(len(graphs))])
    coupling = couplings(test.size, SIGMAS["hard"])
    error = hop_oracle(spins, coupling, hops) - local_energies(spins, coupling)
    return float(np.log10(np.mean(error**2)))

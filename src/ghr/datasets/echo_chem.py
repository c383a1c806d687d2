"""ECHO-Chem: charges of atoms and energies of long molecules."""

from collections.abc import Iterator, Mapping
from functools import partial
from itertools import islice
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import torch
from torch import Tensor
from torch_geometric.data import Data
from typing_extensions import Unpack

from ghr.checks import check_choice
from ghr.datasets.benchmark import Benchmark
from ghr.datasets.echo import ECHO_SUGGESTED, ECHO_TRAINING
from ghr.datasets.generators.molecules.fragments import draw_molecule
from ghr.datasets.generators.molecules.needs import need
from ghr.datasets.generators.molecules.smiles import diameter, file_digest, parse, read_smiles
from ghr.datasets.generators.molecules.split import SPLITS, choose_split
from ghr.datasets.metrics import METRICS
from ghr.datasets.storage.cached import Preparation
from ghr.datasets.storage.resumable import compute
from ghr.datasets.storage.sourced import SourcedDataset, expect, refuse_choices
from ghr.datasets.task import Task
from ghr.progress import track

REPOSITORY = "lucamiglior/echo-benchmark"
DIAMETERS = (17, 40)
NUM_MOLECULES = {"train": 800, "val": 100, "test": 100}


TASKS = {
    "charge": Task("node", metric=METRICS["mae"].scale(1e3, "1e-3 e"), name="charge"),
    "energy": Task("graph", metric="mae_of_powers", name="log10 energy"),
}


class ECHOChem(SourcedDataset):
    r"""Partial charges of atoms, or the energy of the molecule, on molecules 17 to 40 bonds across.

    ======  =============================================================  =====  ==============================
    task    target                                                         level  metric
    ======  =============================================================  =====  ==============================
    charge  partial charge of the atom, in elementary charges              node   mean absolute error, 1e-3 e
    energy  :math:`\log_{10}` of the energy's magnitude                    graph  mean absolute error after 10**
    ======  =============================================================  =====  ==============================

    ``source="hub"`` is the published benchmark, labelled by density functional theory.

    ``source="generate"`` needs ``pip install rdkit tblite``. **Its labels are GFN2-xTB, not DFT**, a semi-empirical
    method, and its molecules are others; features and tasks are alike, but errors cannot be compared with published
    ones. Molecules come from a file of SMILES that you have, or are random chains of common fragments. Each gets one
    ETKDG conformation, is relaxed by at most 500 steps of MMFF94 (UFF where that has no parameters), which larger ones
    mostly exhaust short of the minimum, and computed once, by tblite, in about 1.5 s of CPU time for 90 atoms; the
    energy is the magnitude of the total energy in Hartree. Hydrogens are atoms of the graph and count for its diameter;
    whether they do in the published files is not known here. A molecule's split follows from a hash of its SMILES, 8 in
    10 are for training, so no molecule is in two splits. What cannot be computed is left out, counted in a warning, and
    listed in a file beside the cache.

    Attributes of a graph: ``x`` :math:`(N, 2)` atomic number and distance from the centroid in ångström, ``edge_index``
    both directions, ``edge_attr`` :math:`(E, 2)` bond order (1.5 for aromatic) and length in ångström, ``y``
    :math:`(N, 1)`, or :math:`(1, 1)` for ``energy``.

    Args:
        root: Folder of the cache. Computed molecules are kept in it too: both tasks share them, and a stopped rebuild
            goes on where it was.
        task: ``"charge"`` or ``"energy"``; the attribute ``target`` keeps this name.
        split: ``"train"``, ``"val"`` or ``"test"``.
        source: ``"hub"`` for the published files, ``"generate"`` to compute here.
        smiles: Of a rebuilt set, a file of molecules (:func:`~ghr.datasets.generators.molecules.smiles.read_smiles`);
            those with another diameter or in several pieces are passed over, repeated ones counted once.
        num_graphs: Graphs of this split, of a rebuilt set the molecules to compute; by default all that are published,
            all of a file, or 800, 100 and 100 random ones.
        seed: Of random molecules, conformations and splits.
        workers: Processes that compute; the graphs do not depend on it.
        **preparation: ``transform``, ``pre_transform`` and ``pre_filter`` as in :class:`CachedDataset`.
    """

    sizes: ClassVar[Mapping[str, int]] = NUM_MOLECULES

    def __init__(
        self,
        root: str | Path,
        task: str = "charge",
        split: str = "train",
        source: str = "generate",
        *,
        smiles: str | Path | None = None,
        num_graphs: int | None = None,
        seed: int = 0,
        workers: int = 1,
        **preparation: Unpack[Preparation],
    ) -> None:
        self.target = check_choice("task", task, TASKS)
        self.task = TASKS[task]
        self.target_scale = 1e3 if task == "charge" else 1.0
        refuse_choices(source, smiles=smiles)
        self.smiles = None if smiles is None else Path(smiles)
        super().__init__(root, split, source, num_graphs=num_graphs, seed=seed, workers=workers, **preparation)

    def default_size(self) -> int | None:
        """Return how many graphs there are by default; ``None`` for all of a file."""
        return super().default_size() if self.smiles is None else None

    def options(self) -> dict[str, Any]:
        """Return every option that changes the content; a file counts by what is in it."""
        file = {} if self.smiles is None else {"smiles": file_digest(self.smiles)}
        return super().options() | {"target": self.target} | file

    def published_file(self) -> tuple[str, str]:
        """Return the repository on the hub and the file in it."""
        return REPOSITORY, f"echo-chem/{self.target}/{self.split}_data.pt"

    def convert(self, graphs: Mapping[int, dict[str, Tensor]]) -> list[Data]:
        """Check the published graphs and keep what belongs to the benchmark."""
        converted = []
        for place, graph in graphs.items():
            tensors = expect(graph, place, x=2, edge_index=None, edge_attr=2, y=1)
            rows = tensors["x"].size(0) if self.task.level == "node" else 1
            if tensors["y"].size(0) != rows:
                raise ValueError(f"Graph {place} of the published file has {tensors['y'].size(0)} targets, not {rows}.")
            floats = {name: tensors[name].float() for name in ("x", "edge_attr", "y")}
            converted.append(Data(edge_index=tensors["edge_index"].long(), **floats))
        return converted

    def rebuild(self) -> list[Data]:
        """Compute this split's molecules with GFN2-xTB."""
        molecules = self._draw() if self.smiles is None else self._read(self.smiles)
        items = [{"smiles": smiles, "seed": self.seed} for smiles in molecules]
        folder = Path(self.root, "molecules")
        name = f"ECHO-Chem {self.split} (GFN2-xTB)"
        outcome = compute("charges_and_energy", items, folder, workers=self.workers, description=name)
        outcome.report("molecules", molecules)
        outcome.write(Path(self.processed_dir, f"{self.raw_key}.left_out.json"), molecules)
        return [self._graph(tensors) for tensors in outcome.results if tensors is not None]

    def _graph(self, tensors: dict[str, Tensor]) -> Data:
        y = tensors["charge"].unsqueeze(1) if self.target == "charge" else torch.log10(-tensors["energy"]).unsqueeze(0)
        names = ("x", "edge_index", "edge_attr")
        return Data(**{name: tensors[name] for name in names}, y=y.float())

    def _draw(self) -> list[str]:
        """Draw molecules until each belongs to this split, each from its own random stream."""
        chosen = []
        for number in track(self.numbers(), f"Molecules for {self.split}"):
            stream = np.random.SeedSequence(self.seed, spawn_key=(SPLITS.index(self.split), number))
            rng = np.random.default_rng(stream)
            smiles = draw_molecule(rng, DIAMETERS)
            while choose_split(smiles, self.seed) != self.split:
                smiles = draw_molecule(rng, DIAMETERS)
            chosen.append(smiles)
        return chosen

    def _read(self, path: Path) -> list[str]:
        """Read the first molecules of a file that belong to this split, repeated ones once."""

        def suitable() -> Iterator[str]:
            seen = set()
            for smiles in track(read_smiles(path), f"Molecules for {self.split}"):
                canonical = accept(smiles)
                if canonical is not None and canonical not in seen and choose_split(canonical, self.seed) == self.split:
                    seen.add(canonical)
                    yield canonical

        chosen = list(islice(suitable(), self.num_graphs))
        if not chosen:
            raise ValueError(
                f"{path} has no molecule for the split {self.split!r} that RDKit accepts, that is in one piece, "
                f"and that is {DIAMETERS[0]} to {DIAMETERS[1]} bonds across with its hydrogens."
            )
        return chosen


def accept(smiles: str) -> str | None:
    """Return the canonical SMILES of a molecule with a diameter in range, and nothing for any other."""
    chem = need("rdkit.Chem")
    try:
        molecule = parse(smiles)
    except ValueError:
        return None
    across = diameter(chem.AddHs(molecule))
    if across is None or not DIAMETERS[0] <= across <= DIAMETERS[1]:
        return None
    return str(chem.MolToSmiles(molecule))


def echo_chem_benchmark(target: str, count: str, *, lr: float, readout: str) -> Benchmark:
    """Return the benchmark of one task.

    Args:
        target: ``"charge"`` or ``"energy"``.
        count: How many graphs are published.
        lr: Learning rate of the published code.
        readout: Readout of the published code.
    """
    what = {"charge": "partial charges of the atoms", "energy": "energy"}[target]
    return Benchmark(
        title=f"ECHO-Chem, {target}",
        summary=f"{what} of molecules 17 to 40 bonds across",
        task=TASKS[target],
        dataset=partial(ECHOChem, task=target),
        sizes=NUM_MOLECULES,
        comparable="no: other molecules, and labels by GFN2-xTB instead of DFT",
        options=("smiles",),
        training={**ECHO_TRAINING, "lr": lr},
        # Stated by the paper and its published code.
        suggested={**ECHO_SUGGESTED, "pool": "sum", "t_high": 1, "t_low": 3, "readout": readout},
        published={"graphs": count, "diameter": "17 to 40 [2]"},
    )

"""ECHO-Chem: charges of atoms and energies of long molecules."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor
from torch_geometric.data import Data

from ghr.datasets.cached import progress
from ghr.datasets.metrics import mean_absolute_error
from ghr.datasets.molecules.fragments import draw_molecule
from ghr.datasets.molecules.needs import need
from ghr.datasets.molecules.smiles import diameter, file_digest, parse, read_smiles
from ghr.datasets.molecules.split import SPLITS, hashed_split
from ghr.datasets.options import one_of, whole
from ghr.datasets.resumable import compute
from ghr.datasets.sourced import SourcedDataset, expect

REPOSITORY = "lucamiglior/echo-benchmark"
TASKS = ("charge", "energy")
DIAMETERS = (17, 40)
NUM_MOLECULES = {"train": 800, "val": 100, "test": 100}


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
        task: ``"charge"`` or ``"energy"``.
        split: ``"train"``, ``"val"`` or ``"test"``.
        source: ``"hub"`` for the published files, ``"generate"`` to compute here.
        smiles: Of a rebuilt set, a file of molecules (:func:`~ghr.datasets.molecules.smiles.read_smiles`); those
            with another diameter or in several pieces are passed over, repeated ones counted once.
        num_graphs: Of a rebuilt set, the molecules to compute for this split; by default 800, 100 and 100 random ones,
            or all of a file.
        seed: Of random molecules, conformations and splits.
        workers: Processes that compute; the graphs do not depend on it.
        transform: Applied at every access.
        pre_transform: Applied once, before the graphs are stored.
        pre_filter: Keeps only the graphs for which it is true.
    """

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
        transform: Callable[[Any], Any] | None = None,
        pre_transform: Callable[[Any], Any] | None = None,
        pre_filter: Callable[[Any], bool] | None = None,
    ) -> None:
        one_of("task", task, TASKS)
        one_of("split", split, SPLITS)
        if source == "hub" and (smiles, num_graphs, seed) != (None, None, 0):
            raise ValueError("The published graphs have no choice of molecules, number and seed; leave them out.")
        self.target = task
        self.task = "node" if task == "charge" else "graph"
        self.split = split
        self.smiles = None if smiles is None else Path(smiles)
        if num_graphs is None and smiles is None:
            num_graphs = NUM_MOLECULES[split]
        self.num_graphs = None if num_graphs is None else whole("num_graphs", num_graphs, 1)
        self.seed = whole("seed", seed, 0)
        super().__init__(
            root, source, workers=workers, transform=transform, pre_transform=pre_transform, pre_filter=pre_filter
        )

    def options(self) -> dict[str, Any]:
        """Return every option that changes the content; a file counts by what is in it."""
        if self.source == "hub":
            return {"target": self.target, "split": self.split, "source": self.source}
        names = ("target", "split", "source", "num_graphs", "seed")
        return {name: getattr(self, name) for name in names} | {"smiles": self.smiles and file_digest(self.smiles)}

    def published_file(self) -> tuple[str, str]:
        """Return the repository on the hub and the file in it."""
        return REPOSITORY, f"echo-chem/{self.target}/{self.split}_data.pt"

    def convert(self, graphs: list[dict[str, Tensor]]) -> list[Data]:
        """Check the published graphs and keep what belongs to the benchmark."""
        converted = []
        for index, graph in enumerate(graphs):
            tensors = expect(graph, index, x=2, edge_index=None, edge_attr=2, y=1)
            rows = tensors["x"].size(0) if self.task == "node" else 1
            if tensors["y"].size(0) != rows:
                raise ValueError(f"Graph {index} of the published file has {tensors['y'].size(0)} targets, not {rows}.")
            floats = {name: tensors[name].float() for name in ("x", "edge_attr", "y")}
            converted.append(Data(edge_index=tensors["edge_index"].long(), **floats))
        return converted

    def rebuild(self) -> list[Data]:
        """Compute this split's molecules with GFN2-xTB."""
        molecules = self._listed() if self.smiles is not None else self._drawn()
        items = [{"smiles": smiles, "seed": self.seed} for smiles in molecules]
        folder = Path(self.root, "molecules")
        name = f"ECHO-Chem {self.split} (GFN2-xTB)"
        outcome = compute("charges_and_energy", items, folder, workers=self.workers, description=name)
        outcome.report("molecules", molecules)
        outcome.write(Path(self.processed_dir, f"{self.key}.left_out.json"), molecules)
        return [self._graph(tensors) for tensors in outcome.results if tensors is not None]

    def _graph(self, tensors: dict[str, Tensor]) -> Data:
        y = tensors["charge"].unsqueeze(1) if self.target == "charge" else torch.log10(-tensors["energy"]).unsqueeze(0)
        names = ("x", "edge_index", "edge_attr")
        return Data(**{name: tensors[name] for name in names}, y=y.float())

    def _drawn(self) -> list[str]:
        assert self.num_graphs is not None
        chosen = []
        for index in progress(range(self.num_graphs), f"Molecules for {self.split}"):
            stream = np.random.SeedSequence(self.seed, spawn_key=(SPLITS.index(self.split), index))
            rng = np.random.default_rng(stream)
            smiles = draw_molecule(rng, DIAMETERS)
            while hashed_split(smiles, self.seed) != self.split:
                smiles = draw_molecule(rng, DIAMETERS)
            chosen.append(smiles)
        return chosen

    def _listed(self) -> list[str]:
        assert self.smiles is not None
        chosen: dict[str, None] = {}
        for smiles in progress(read_smiles(self.smiles), f"Molecules for {self.split}"):
            if len(chosen) == self.num_graphs:
                break
            if (canonical := accepted(smiles)) is not None and hashed_split(canonical, self.seed) == self.split:
                chosen[canonical] = None
        if not chosen:
            raise ValueError(
                f"{self.smiles} has no molecule for the split {self.split!r} that RDKit accepts, that is in one piece, "
                f"and that is {DIAMETERS[0]} to {DIAMETERS[1]} bonds across with its hydrogens."
            )
        return list(chosen)

    def metric(self, prediction: Tensor, target: Tensor) -> float:  # type: ignore[override]  # depends on the task
        """Return the benchmark's mean absolute error: in 1e-3 e for charges, of 10**x for energies."""
        if self.target == "charge":
            return 1e3 * mean_absolute_error(prediction, target)
        return mean_absolute_error(10 ** prediction.double(), 10 ** target.double())


def accepted(smiles: str) -> str | None:
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

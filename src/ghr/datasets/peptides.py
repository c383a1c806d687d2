"""Peptides-struct of the Long Range Graph Benchmark: the shape of a peptide from its graph."""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, Literal

import numpy as np
import torch
from torch import Tensor
from torch_geometric.data import Data

from ghr.datasets.archives import fetch, unpacked
from ghr.datasets.hub import load_content
from ghr.datasets.metrics import mean_absolute_error
from ghr.datasets.molecules.sequences import draw_peptide
from ghr.datasets.molecules.shape import TARGETS
from ghr.datasets.molecules.smiles import file_digest, read_smiles
from ghr.datasets.molecules.split import SPLITS, Split, read_split
from ghr.datasets.options import one_of, whole
from ghr.datasets.resumable import Outcome, compute
from ghr.datasets.sourced import SourcedDataset

ADDRESS = "https://www.dropbox.com/s/zgv4z8fcpmknhs8/peptidesstruct.zip?dl=1"
RANDOM_PEPTIDES = {"train": 700, "val": 150, "test": 150}


class PeptidesStruct(SourcedDataset):
    r"""Eleven numbers about the shape of a peptide in space, from the graph of its heavy atoms.

    The targets are three moments of inertia of the mass and three of the hydrogens, three lengths, spherocity and
    plane of best fit (:func:`~ghr.datasets.molecules.shape.shape_targets`), each normalised to mean 0 and standard
    deviation 1 (with :math:`n - 1`) over all splits together.

    ``source="hub"`` is the benchmark of LRGB: 15,535 peptides, 10,873 / 2,331 / 2,331 in the splits. They are
    published as pickles in a zip file and read without unpickling anything but tensors.

    ``source="generate"`` needs ``pip install rdkit`` and computes features, conformations and targets by RDKit:
    for a file of SMILES that you have (about 3 s of CPU time per published peptide on average, and more than linear in
    its size), or for random sequences of natural amino acids otherwise. **Errors on a rebuilt set cannot be compared
    with published ones**: where the published positions came from is unknown, and ours are one ETKDG conformation
    without a force field. Molecules and split are the published ones if your files are. Molecules that RDKit cannot
    embed are left out and counted in a warning.

    Attributes of a graph: ``x`` :math:`(N, 9)` and ``edge_attr`` :math:`(E, 3)` the integer codes of OGB
    (:func:`~ghr.datasets.molecules.features.ogb_graph`), ``edge_index``, ``y`` :math:`(1, 11)`. Some molecules are in
    several pieces.

    Args:
        root: Folder of the cache. Computed molecules are kept in it too, so a stopped rebuild goes on where it was.
        split: ``"train"``, ``"val"`` or ``"test"``.
        source: ``"hub"`` for the published files, ``"generate"`` to compute here.
        smiles: Of a rebuilt set, a file of molecules (:func:`~ghr.datasets.molecules.smiles.read_smiles`).
        split_file: Which of its rows belong where (:func:`~ghr.datasets.molecules.split.read_split`); by default 70 /
            15 / 15 % at random.
        num_graphs: Of a rebuilt set, at most this many molecules of every split; normalisation is over these.
        seed: Of conformations, of random peptides and of a random split.
        workers: Processes that rebuild; the graphs do not depend on it.
        transform: Applied at every access.
        pre_transform: Applied once, before the graphs are stored.
        pre_filter: Keeps only the graphs for which it is true.
    """

    task: Literal["node", "graph"] = "graph"
    targets = TARGETS
    address = ADDRESS

    def __init__(
        self,
        root: str | Path,
        split: str = "train",
        source: str = "generate",
        *,
        smiles: str | Path | None = None,
        split_file: str | Path | None = None,
        num_graphs: int | None = None,
        seed: int = 0,
        workers: int = 1,
        transform: Callable[[Any], Any] | None = None,
        pre_transform: Callable[[Any], Any] | None = None,
        pre_filter: Callable[[Any], bool] | None = None,
    ) -> None:
        one_of("split", split, SPLITS)
        if source == "hub" and (smiles, split_file, num_graphs, seed) != (None, None, None, 0):
            raise ValueError(
                "The published graphs have no choice of molecules, split, number and seed; leave them out."
            )
        if split_file is not None and smiles is None:
            raise ValueError(f"The split file {split_file} needs the file of molecules that it divides; give smiles.")
        self.split = split
        self.smiles = None if smiles is None else Path(smiles)
        self.split_file = None if split_file is None else Path(split_file)
        self.num_graphs = None if num_graphs is None else whole("num_graphs", num_graphs, 1)
        self.seed = whole("seed", seed, 0)
        super().__init__(
            root, source, workers=workers, transform=transform, pre_transform=pre_transform, pre_filter=pre_filter
        )

    def options(self) -> dict[str, Any]:
        """Return every option that changes the content; files count by what is in them."""
        if self.source == "hub":
            return {"split": self.split, "source": self.source}
        files = {"smiles": self.smiles, "split_file": self.split_file}
        names = ("split", "source", "num_graphs", "seed")
        return {name: getattr(self, name) for name in names} | {
            name: path and file_digest(path) for name, path in files.items()
        }

    def generate(self) -> list[Data]:
        """Make the graphs from the chosen source."""
        if self.source == "generate":
            return self.rebuild()
        offline = "Without a connection, source='generate' rebuilds the benchmark from a file of SMILES or at random."
        archive = fetch(self.address, Path(self.root, "hub", "lrgb", "peptidesstruct.zip"), offline=offline)
        member = f"peptidesstruct/{self.split}.pt"
        with unpacked(archive, [member]) as copies:
            return [_published(index, graph) for index, graph in enumerate(load_content(copies[member]))]

    def rebuild(self) -> list[Data]:
        """Compute all splits, whose targets are normalised together, and return this one."""
        molecules, split = self._molecules()
        rows = [row for name in SPLITS for row in split[name][: self.num_graphs]]
        items = [{"smiles": molecules[row], "seed": self.seed} for row in rows]
        outcome = compute(
            "peptide", items, Path(self.root, "molecules"), workers=self.workers, description="Peptides-struct"
        )
        outcome.report("peptides", [molecules[row] for row in rows])
        mean, deviation = normalisation(outcome)
        wanted = set(split[self.split])
        return [
            Data(
                x=tensors["x"],
                edge_index=tensors["edge_index"],
                edge_attr=tensors["edge_attr"],
                y=((tensors["targets"] - mean) / deviation).float().unsqueeze(0),
            )
            for row, tensors in zip(rows, outcome.results, strict=True)
            if row in wanted and tensors is not None
        ]

    def _molecules(self) -> tuple[Sequence[str], Split]:
        if self.smiles is not None:
            molecules = read_smiles(self.smiles)
            if self.split_file is not None:
                return molecules, read_split(self.split_file, len(molecules))
            order = np.random.default_rng(self.seed).permutation(len(molecules)).tolist()
            bounds = [round(0.7 * len(order)), round(0.85 * len(order))]
            return molecules, {
                "train": order[: bounds[0]],
                "val": order[bounds[0] : bounds[1]],
                "test": order[bounds[1] :],
            }
        counts = {name: self.num_graphs or count for name, count in RANDOM_PEPTIDES.items()}
        molecules, split = [], {}
        for number, (name, count) in enumerate(counts.items()):
            split[name] = list(range(len(molecules), len(molecules) + count))
            streams = [np.random.SeedSequence(self.seed, spawn_key=(number, index)) for index in range(count)]
            molecules += [draw_peptide(np.random.default_rng(stream)) for stream in streams]
        return molecules, split

    @staticmethod
    def metric(prediction: Tensor, target: Tensor) -> float:
        """Return the mean absolute error over molecules and targets, in standard deviations."""
        return mean_absolute_error(prediction, target)


def normalisation(outcome: Outcome) -> tuple[Tensor, Tensor]:
    """Return mean and standard deviation of the targets; where a target does not vary, the deviation is taken as 1."""
    found = [tensors["targets"] for tensors in outcome.results if tensors is not None]
    if not found:
        raise ValueError("No molecule could be computed; see the warning for reasons.")
    targets = torch.stack(found)
    deviation = targets.std(dim=0) if len(found) > 1 else torch.zeros(len(TARGETS), dtype=targets.dtype)
    return targets.mean(dim=0), torch.where(deviation > 1e-12, deviation, torch.ones_like(deviation))


def _published(index: int, graph: Any) -> Data:
    names = ("x", "edge_attr", "edge_index", "y")
    if not isinstance(graph, (list, tuple)) or len(graph) != 4 or not all(type(part) is Tensor for part in graph):
        raise ValueError(f"Graph {index} of the published file is not the four tensors {', '.join(names)}.")
    tensors = dict(zip(names, graph, strict=True))
    for name, columns in {"x": 9, "edge_attr": 3, "y": len(TARGETS)}.items():
        if tensors[name].dim() != 2 or tensors[name].size(1) != columns:
            raise ValueError(
                f"{name!r} of graph {index} of the published file has the shape {tuple(tensors[name].shape)}; "
                f"a matrix with {columns} columns was expected."
            )
    return Data(
        x=tensors["x"].long(),
        edge_index=tensors["edge_index"].long(),
        edge_attr=tensors["edge_attr"].long(),
        y=tensors["y"].float(),
    )

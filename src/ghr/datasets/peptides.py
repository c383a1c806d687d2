"""Peptides-struct of the Long Range Graph Benchmark: the shape of a peptide from its graph."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import torch
from torch import Tensor
from torch_geometric.data import Data
from torch_geometric.data.data import BaseData
from typing_extensions import Unpack

from ghr.checks import check_choice
from ghr.datasets.benchmark import Benchmark
from ghr.datasets.generators.molecules.features import ATOM_CODES, BOND_CODES, ogb_graph
from ghr.datasets.generators.molecules.given import GivenFile
from ghr.datasets.generators.molecules.sequences import draw_peptide
from ghr.datasets.generators.molecules.shape import REFERENCE, TARGETS
from ghr.datasets.generators.molecules.smiles import file_digest, parse, read_smiles
from ghr.datasets.generators.molecules.split import SPLITS, Split, read_split
from ghr.datasets.storage.archives import fetch, unpack
from ghr.datasets.storage.cached import Preparation
from ghr.datasets.storage.hub import load_content
from ghr.datasets.storage.resumable import Outcome, compute
from ghr.datasets.storage.sourced import SourcedDataset, refuse_choices
from ghr.datasets.task import Task

ADDRESS = "https://www.dropbox.com/s/zgv4z8fcpmknhs8/peptidesstruct.zip?dl=1"
RANDOM_PEPTIDES = {"train": 700, "val": 150, "test": 150}
# By the name of the set, the options that the files stand for; the hashes are those of the files that LRGB publishes.
GIVEN: Mapping[str, Mapping[str, GivenFile]] = {
    "lrgb": {
        "smiles": GivenFile(
            "peptides/peptide_multi_class_dataset.csv.gz",
            "e314f7dfb1ac46ef83fe5f5aa4fe502ad4527da633b64e6b997cb0c452511de3",
            "the peptides of LRGB (licence CC BY-NC 4.0)",
        ),
        "split_file": GivenFile(
            "peptides/splits_random_stratified_peptide.pickle",
            "4573079852cce8867ad2d734c5dd22d77538bbe9f628223a8d4b3b531f6fffd0",
            "the split of the peptides of LRGB (licence CC BY-NC 4.0)",
        ),
    }
}


class PeptidesStruct(SourcedDataset):
    r"""Eleven numbers about the shape of a peptide in space, from the graph of its heavy atoms.

    The targets are three moments of inertia of the mass and three of the hydrogens, three lengths, spherocity and
    plane of best fit (:func:`~ghr.datasets.generators.molecules.shape.shape_targets`), each normalised to about mean 0
    and standard deviation 1. In the published set, and in a rebuild of a whole file, that is over all splits together
    (with :math:`n - 1`). A part of a file and random peptides are normalised by the means and deviations of
    300 random peptides instead, so that the targets of a molecule never depend on how many others there are.

    ``source="hub"`` is the benchmark of LRGB: 15,535 peptides, 10,873 / 2,331 / 2,331 in the splits. They are
    published as pickles in a zip file and read without unpickling anything but tensors.

    ``source="generate"`` needs ``pip install rdkit`` and computes features, conformations and targets by RDKit:
    for a file of SMILES that you have (about 3 s of CPU time per published peptide on average, and more than linear in
    its size), or for random sequences of natural amino acids otherwise. **Errors on a rebuilt set cannot be compared
    with published ones**: where the published positions came from is unknown, and ours are one ETKDG conformation
    without a force field. Molecules and split are the published ones if your files are. Molecules that RDKit cannot
    embed are left out and counted in a warning.

    Attributes of a graph: ``x`` :math:`(N, 9)` and ``edge_attr`` :math:`(E, 3)` the integer codes of OGB
    (:func:`~ghr.datasets.generators.molecules.features.ogb_graph`), ``edge_index``, ``y`` :math:`(1, 11)`. Some
    molecules are in several pieces.

    Args:
        root: Folder of the cache. Computed molecules are kept in it too, so a stopped rebuild goes on where it was.
        split: ``"train"``, ``"val"`` or ``"test"``.
        source: ``"hub"`` for the published files, ``"generate"`` to compute here.
        smiles: Of a rebuilt set, a file of molecules (:func:`~ghr.datasets.generators.molecules.smiles.read_smiles`).
        split_file: Which of its rows belong where (:func:`~ghr.datasets.generators.molecules.split.read_split`); by
            default 70 / 15 / 15 % at random.
        molecules: In place of both, ``"lrgb"`` for the published peptides and their split, whose files you have put
            into ``root/peptides`` under their published names. Other files in their place are refused.
        num_graphs: Graphs of this split; by default all that are published, all of a file, or 700, 150 and 150 random
            ones.
        seed: Of conformations, of random peptides and of a random split.
        workers: Processes that rebuild; the graphs do not depend on it.
        **preparation: ``transform``, ``pre_transform`` and ``pre_filter`` as in :class:`CachedDataset`.
    """

    sizes: ClassVar[Mapping[str, int]] = RANDOM_PEPTIDES
    task = Task("graph", len(TARGETS), loss="l1", name="shape")
    targets = TARGETS
    node_codes = ATOM_CODES
    edge_codes = BOND_CODES
    address = ADDRESS

    def __init__(
        self,
        root: str | Path,
        split: str = "train",
        source: str = "generate",
        *,
        smiles: str | Path | None = None,
        split_file: str | Path | None = None,
        molecules: str | None = None,
        num_graphs: int | None = None,
        seed: int = 0,
        workers: int = 1,
        **preparation: Unpack[Preparation],
    ) -> None:
        refuse_choices(source, smiles=smiles, split_file=split_file, molecules=molecules)
        self.given = {} if molecules is None else GIVEN[check_choice("molecules", molecules, GIVEN)]
        if self.given and (smiles is not None or split_file is not None):
            raise ValueError(f"molecules={molecules!r} says which files are read; leave out smiles and split_file.")
        if split_file is not None and smiles is None:
            raise ValueError(f"The split file {split_file} needs the file of molecules that it divides; give smiles.")
        places = {name: Path(root, file.place) for name, file in self.given.items()}
        self.smiles = places.get("smiles") if smiles is None else Path(smiles)
        self.split_file = places.get("split_file") if split_file is None else Path(split_file)
        super().__init__(root, split, source, num_graphs=num_graphs, seed=seed, workers=workers, **preparation)

    def default_size(self) -> int | None:
        """Return how many graphs there are by default; ``None`` for all of a file."""
        return super().default_size() if self.smiles is None else None

    def options(self) -> dict[str, Any]:
        """Return every option that changes the content; files count by what is in them."""
        if self.given:  # graphs that are computed already need no files
            return super().options() | {name: file.sha256 for name, file in self.given.items()}
        files = {"smiles": self.smiles, "split_file": self.split_file}
        return super().options() | {name: file_digest(path) for name, path in files.items() if path is not None}

    def list_smiles(self) -> list[str]:
        """Return the SMILES of every graph of a rebuilt set.

        Raises:
            ValueError: Where the molecules are not those of the graphs.
        """
        if self.source == "hub":
            raise ValueError("The published graphs come without SMILES; source='generate' has them.")
        listed: list[str] = []
        for smiles in self._name_molecules():  # in the order of the graphs, which lack those that were left out
            if len(listed) < self.len() and _is_graph_of(smiles, self.get(len(listed))):
                listed.append(smiles)
        if len(listed) < self.len():
            raise ValueError(
                f"Graph {len(listed)} of the split {self.split!r} belongs to none of its molecules: RDKit reads them "
                f"otherwise than when the graphs were computed. Delete {self.processed_dir} to compute them again."
            )
        return [listed[place] for place in self.indices()]

    def read_published(self) -> list[Data]:
        """Download the published archive, unless it is there, and read the graphs of this split."""
        offline = "Without a connection, source='generate' rebuilds the benchmark from a file of SMILES or at random."
        archive = fetch(self.address, Path(self.root, "hub", "lrgb", "peptidesstruct.zip"), offline=offline)
        member = f"peptidesstruct/{self.split}.pt"
        with unpack(archive, [member]) as copies:
            graphs = load_content(copies[member])
        return [_published(place, graphs[place]) for place in self.choose(len(graphs))]

    def rebuild(self) -> list[Data]:
        """Compute this split's peptides; all splits of a whole file, whose targets are normalised together."""
        if self.smiles is None or self.num_graphs is not None:
            outcome = self._compute(self._name_molecules())
            return self._graphs(outcome, torch.tensor(REFERENCE, dtype=torch.float64))
        split = self._read_splits(self.smiles)
        outcome = self._compute([smiles for name in SPLITS for smiles in split[name]])
        start = sum(len(split[name]) for name in SPLITS[: SPLITS.index(self.split)])
        own = outcome.results[start : start + len(split[self.split])]
        return self._graphs(Outcome(own, {}), normalisation(outcome))

    def _name_molecules(self) -> list[str]:
        """Return the SMILES of this split, also of molecules that cannot be computed."""
        return self._draw() if self.smiles is None else self._read_splits(self.smiles)[self.split][: self.num_graphs]

    def _read_splits(self, path: Path) -> dict[str, list[str]]:
        """Return the SMILES of all splits of a file."""
        for file in self.given.values():
            file.find(self.root)
        molecules = read_smiles(path)
        return {name: [molecules[row] for row in rows] for name, rows in self._divide(molecules).items()}

    def _compute(self, molecules: Sequence[str]) -> Outcome:
        items = [{"smiles": smiles, "seed": self.seed} for smiles in molecules]
        folder = Path(self.root, "molecules")
        outcome = compute("peptide", items, folder, workers=self.workers, description="Peptides-struct")
        outcome.report("peptides", molecules)
        return outcome

    def _graphs(self, outcome: Outcome, scale: Tensor) -> list[Data]:
        mean, deviation = scale
        return [
            Data(
                x=tensors["x"],
                edge_index=tensors["edge_index"],
                edge_attr=tensors["edge_attr"],
                y=((tensors["targets"] - mean) / deviation).float().unsqueeze(0),
            )
            for tensors in outcome.results
            if tensors is not None
        ]

    def _draw(self) -> list[str]:
        """Draw random peptides, each from its own random stream."""
        key = SPLITS.index(self.split)
        streams = [np.random.SeedSequence(self.seed, spawn_key=(key, number)) for number in self.numbers()]
        return [draw_peptide(np.random.default_rng(stream)) for stream in streams]

    def _divide(self, molecules: Sequence[str]) -> Split:
        if self.split_file is not None:
            return read_split(self.split_file, len(molecules))
        order = np.random.default_rng(self.seed).permutation(len(molecules)).tolist()
        val, test = round(0.7 * len(order)), round(0.85 * len(order))
        return {"train": order[:val], "val": order[val:test], "test": order[test:]}


def normalisation(outcome: Outcome) -> Tensor:
    """Return mean and standard deviation of the targets; where a target does not vary, the deviation is taken as 1.

    Shapes:
        - **output:** :math:`(2, 11)`
    """
    found = [tensors["targets"] for tensors in outcome.results if tensors is not None]
    if not found:
        raise ValueError("No molecule could be computed; see the warning for reasons.")
    targets = torch.stack(found)
    deviation = targets.std(dim=0) if len(found) > 1 else torch.zeros(len(TARGETS), dtype=targets.dtype)
    return torch.stack([targets.mean(dim=0), torch.where(deviation > 1e-12, deviation, torch.ones_like(deviation))])


def _is_graph_of(smiles: str, data: BaseData) -> bool:
    try:
        graph = ogb_graph(parse(smiles))
    except ValueError:
        return False
    return all(np.array_equal(getattr(graph, name), data[name]) for name in graph._fields)


def _name_files(options: Mapping[str, Any]) -> dict[str, str]:
    """Return the hashes of the files that stand for molecules with a name, by their places in the data folder."""
    name = options.get("molecules")
    if name is None:
        return {}
    return {file.place: file.sha256 for file in GIVEN[check_choice("molecules", name, GIVEN)].values()}


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


PEPTIDES_STRUCT = Benchmark(
    title="Peptides-struct",
    summary="eleven numbers about the shape of a peptide",
    task=PeptidesStruct.task,
    dataset=PeptidesStruct,
    sizes=RANDOM_PEPTIDES,
    comparable="no: conformations of another origin, and random peptides unless others are given",
    options=("smiles", "split_file", "molecules"),
    files=_name_files,
    # Stated by the published code, but for the jitter, of which it says nothing here. It also adds 16 eigenvectors of
    # the Laplacian to the features.
    training={
        "epochs": 200,
        "batch_size": 64,
        "lr": 1e-3,
        "optimizer": "adamw",
        "weight_decay": 1e-4,
        "schedule": "plateau",
        "plateau_factor": 0.5,
        "plateau_patience": 10,
        "patience": 25,
        "gamma": 0.8,
        "jitter": False,
    },
    # Stated by the paper and its published code.
    suggested={
        "budget": 500_000,
        "hidden_channels": 32,
        "conv": "gated_gine",
        "pool": "sum",
        "steps": 5,
        "t_high": 2,
        "t_low": 2,
        "readout": "graph",
        "partition": "graclus",
        "rounds": 1,
    },
    published={
        "graphs": "10873 / 2331 / 2331 [S]",
        "nodes": "150.94 [S]",
        "edges": "307.30 [S]",
        "diameter": "56.99 [S]",
    },
)

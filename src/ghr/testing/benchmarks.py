"""Every benchmark in small, made on this machine, for tests of models on all of them."""

import io
import tarfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from ghr.checks import check_choice
from ghr.datasets import BENCHMARKS, Splits, hop_eccentricity, quantile_classes
from ghr.datasets.city import CITIES
from ghr.files import write_bytes, write_text
from ghr.testing.graphs import random_graph

COUNTS = {"train": 12, "val": 3, "test": 3}
FEW = {"train": 1, "val": 1, "test": 1}
LARGE = 1500  # nodes from which on a few graphs must do

# Molecules that are computed fast: for their length of few atoms, or short.
LONG_MOLECULES = [
    f"{first}{'C#C' * triples}{last}"
    for triples in (7, 8, 9, 10)
    for first in ("", "F", "N#C", "C", "Cl")
    for last in ("", "F", "C#N", "C", "Cl")
]
SHORT_PEPTIDES = [
    f"NC{first}C(=O)NC{last}C(=O)O"
    for first in ("", "(C)", "(CO)", "(CS)", "(CCC)")
    for last in ("", "(C)", "(CO)", "(CS)", "(CCC)")
]


def tiny_splits(name: str, root: str | Path) -> Splits:
    """Return a benchmark with a handful of graphs, made offline in seconds and kept in a folder.

    Molecules need RDKit and tblite. Of large graphs there is one in each split; of a city a small road network in the
    published format.

    Args:
        name: A name in :data:`~ghr.datasets.BENCHMARKS`.
        root: Folder of the cache; a second call with it reads what the first made.
    """
    benchmark = BENCHMARKS[check_choice("benchmark", name, BENCHMARKS)]
    root = Path(root)
    if benchmark.one_graph:
        for city in CITIES:
            if not (root / "hub" / "city" / f"{city}.tar.gz").exists():
                write_city(root, city)
        return benchmark.splits(root)
    options: dict[str, Any] = {}
    if "smiles" in benchmark.options:
        molecules = SHORT_PEPTIDES if "split_file" in benchmark.options else LONG_MOLECULES
        options["smiles"] = root / f"{name}.smi"
        root.mkdir(parents=True, exist_ok=True)
        write_text(options["smiles"], "\n".join(molecules) + "\n")
    large = benchmark.load(root, "train", num_graphs=1, **options).x.size(0) >= LARGE
    return benchmark.splits(root, graphs=FEW if large else COUNTS, **options)


def write_city(root: str | Path, name: str, changes: Mapping[str, Any] | None = None, *, num_nodes: int = 60) -> None:
    """Write a small road network where :class:`~ghr.datasets.CityNetworks` looks for the published file.

    Args:
        root: Folder of the cache.
        name: The city.
        changes: Content of files of the archive, in place of what :func:`make_roads` gives; ``None`` leaves one out.
        num_nodes: Number of junctions.
    """
    folder = Path(root, "hub", "city")
    folder.mkdir(parents=True, exist_ok=True)
    content = make_roads(num_nodes) | dict(changes or {})
    write_bytes(folder / f"{name}.tar.gz", pack_city(name, content))


def make_roads(num_nodes: int = 60) -> dict[str, Tensor]:
    """Return a random road network by the files of a published archive; one in ten nodes is for training."""
    data = random_graph(num_nodes, 5 * num_nodes // 3, in_channels=5, seed=0)
    x, edge_index = data["x"], data["edge_index"]
    length = torch.rand(edge_index.size(1) // 2, generator=torch.Generator().manual_seed(0)).repeat(2)
    order = torch.randperm(num_nodes, generator=torch.Generator().manual_seed(1))
    split = (10 * order // num_nodes).clamp(max=2)  # one in ten, one in ten, the rest
    return {
        "node_features.pt": x,
        "node_features_augmented.pt": torch.cat([x, x], dim=1),
        "edge_indices.pt": edge_index,
        "10-chunk_16-hop_node_labels.pt": quantile_classes(hop_eccentricity(edge_index, num_nodes, length)),
        "train_mask.pt": split == 0,
        "valid_mask.pt": split == 1,
        "test_mask.pt": split == 2,
        "edge_features.pt": torch.stack([length, torch.ones_like(length)], dim=1),
    }


def pack_city(name: str, content: Mapping[str, Any]) -> bytes:
    """Return an archive as City-Networks publishes it, without the files whose content is ``None``."""
    archive = io.BytesIO()
    with tarfile.open(fileobj=archive, mode="w:gz") as tar:
        for file, value in content.items():
            if value is None:
                continue
            inner = io.BytesIO()
            torch.save(value, inner)
            entry = tarfile.TarInfo(f"{name}/{file}")
            entry.size = len(inner.getvalue())
            tar.addfile(entry, io.BytesIO(inner.getvalue()))
    return archive.getvalue()

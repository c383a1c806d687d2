"""City-Networks: how hard every junction of a city is to reach from its surroundings."""

from functools import partial
from pathlib import Path
from typing import Any

import torch
from torch import Tensor
from torch_geometric.data import Data
from typing_extensions import Unpack

from ghr.checks import check_choice, check_flag
from ghr.datasets.benchmark import Benchmark
from ghr.datasets.metrics import METRICS
from ghr.datasets.storage.archives import fetch, members, unpack
from ghr.datasets.storage.cached import CachedDataset, Preparation
from ghr.datasets.storage.hub import load_content
from ghr.datasets.task import Task

ADDRESS = "https://github.com/LeonResearch/City-Networks/raw/refs/heads/main/data/"
CITIES = {"paris": 114_127, "shanghai": 183_917, "la": 240_587, "london": 568_795}  # junctions
FILES = {
    "x": "node_features.pt",
    "edge_index": "edge_indices.pt",
    "y": "10-chunk_16-hop_node_labels.pt",
    "train_mask": "train_mask.pt",
    "val_mask": "valid_mask.pt",
    "test_mask": "test_mask.pt",
}
LENGTHS = "edge_features.pt"  # beside the others in some editions; its first column is the length of the road


class CityNetworks(CachedDataset):
    """Ten classes of junctions by their 16-hop eccentricity, on the road network of one city.

    One graph with the official split of its nodes, 10 / 10 / 80 %:

    ========  =========
    name      junctions
    ========  =========
    paris     114,127
    shanghai  183,917
    la        240,587
    london    568,795
    ========  =========

    The published files are read as plain tensors. There is no way to rebuild them without a connection; but
    :func:`~ghr.datasets.generators.eccentricity.hop_eccentricity` computes the target on any road graph, and
    :func:`~ghr.datasets.generators.eccentricity.label_agreement` checks published labels against it.

    Attributes of the graph: ``x``, ``edge_index``, ``y`` :math:`(N)` class, ``train_mask``, ``val_mask`` and
    ``test_mask``, and ``edge_attr`` :math:`(E, D)` with the length of the road first, if the published archive has it.

    Args:
        root: Folder of the cache.
        name: ``"paris"``, ``"shanghai"``, ``"la"`` or ``"london"``.
        augmented: Whether features of adjoining roads are among those of a junction.
        **preparation: ``transform``, ``pre_transform`` and ``pre_filter`` as in :class:`CachedDataset`.
    """

    task = Task("node", 10, loss="cross_entropy", metric=METRICS["accuracy"].scale(100, "%"), name="class")
    address = ADDRESS

    def __init__(
        self,
        root: str | Path,
        name: str = "paris",
        *,
        augmented: bool = True,
        **preparation: Unpack[Preparation],
    ) -> None:
        self.name = check_choice("name", name, CITIES)
        self.augmented = check_flag("augmented", augmented)
        super().__init__(root, **preparation)

    def options(self) -> dict[str, Any]:
        """Return every option that changes the content."""
        return {"name": self.name, "augmented": self.augmented}

    def generate(self) -> list[Data]:
        """Download the archive of the city and read its tensors."""
        path = Path(self.root, "hub", "city", f"{self.name}.tar.gz")
        offline = "City-Networks has no offline alternative."
        archive = fetch(f"{self.address}{self.name}.tar.gz", path, offline=offline)
        files = {key: f"{self.name}/{file}" for key, file in FILES.items()}
        if self.augmented:
            files["x"] = f"{self.name}/node_features_augmented.pt"
        if f"{self.name}/{LENGTHS}" in members(archive):
            files["edge_attr"] = f"{self.name}/{LENGTHS}"
        with unpack(archive, list(files.values())) as copies:
            tensors = {key: _tensor(load_content(copies[file]), file) for key, file in files.items()}
        return [_graph(tensors)]


def _tensor(content: Any, file: str) -> Tensor:
    if type(content) is not Tensor:
        raise ValueError(f"{file} of the published archive holds a {type(content).__name__} instead of a tensor.")
    return content


def _graph(tensors: dict[str, Tensor]) -> Data:
    num_nodes = tensors["x"].size(0)
    masks = {key: _mask(tensors[key], num_nodes) for key in ("train_mask", "val_mask", "test_mask")}
    if not bool((torch.stack(list(masks.values())).sum(dim=0) == 1).all()):
        raise ValueError("The published split does not put every node into exactly one of training, validation, test.")
    if tensors["y"].numel() != num_nodes:
        raise ValueError(f"The published archive has {tensors['y'].numel()} labels for {num_nodes} nodes.")
    roads = {"edge_attr": tensors["edge_attr"].float()} if "edge_attr" in tensors else {}
    return Data(
        x=tensors["x"].float(),
        edge_index=tensors["edge_index"].long(),
        y=tensors["y"].reshape(-1).long(),
        **roads,
        **masks,
    )


def _mask(value: Tensor, num_nodes: int) -> Tensor:
    """A split as one flag per node; some editions list the nodes instead."""
    if value.dtype == torch.bool:
        return value.reshape(num_nodes)
    mask = torch.zeros(num_nodes, dtype=torch.bool)
    mask[value.reshape(-1).long()] = True
    return mask


def city_benchmark(name: str) -> Benchmark:
    """Return the benchmark of one city, a name in :data:`CITIES`."""
    return Benchmark(
        title=f"City-Networks, {name}",
        summary="class of every junction of a road network by its 16-hop eccentricity",
        task=CityNetworks.task,
        dataset=partial(_load, name),
        sizes={"train": 1, "val": 1, "test": 1},
        comparable="yes: it is the published graph",
        sources=("hub",),
        options=("augmented",),
        # The paper has no number on City-Networks. Its published code has, for the eccentricity itself in Paris,
        # 4 steps of 2 and 3 updates and a width of 32; everything else is a choice made here.
        training={"epochs": 300, "batch_size": 1, "lr": 1e-3, "patience": 50, "gamma": 0.8, "jitter": False},
        suggested={
            "hidden_channels": 32,
            "conv": "gated_gine",
            "pool": "max",
            "steps": 4,
            "t_high": 2,
            "t_low": 3,
            "partition": "graclus",
            "rounds": 3,
        },
        published={"graphs": "1 [S]", "nodes": f"{CITIES[name]} [S]"},
        one_graph=True,
    )


def _load(
    name: str, root: Path, *, split: str, source: str, num_graphs: None, workers: int, **options: Any
) -> CityNetworks:
    """Load the whole graph, which has all splits and nothing to generate."""
    return CityNetworks(root, name, **options)

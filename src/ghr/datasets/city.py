"""City-Networks: how hard every junction of a city is to reach from its surroundings."""

from collections.abc import Callable
from pathlib import Path
from typing import Any, Literal

import torch
from torch import Tensor
from torch_geometric.data import Data

from ghr.datasets.archives import fetch, members, unpacked
from ghr.datasets.cached import CachedDataset
from ghr.datasets.hub import load_content
from ghr.datasets.options import one_of

ADDRESS = "https://github.com/LeonResearch/City-Networks/raw/refs/heads/main/data/"
CITIES = ("paris", "shanghai", "la", "london")
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
    :func:`~ghr.datasets.eccentricity.hop_eccentricity` computes the target on any road graph, and
    :func:`~ghr.datasets.eccentricity.label_agreement` checks published labels against it.

    Attributes of the graph: ``x``, ``edge_index``, ``y`` :math:`(N)` class, ``train_mask``, ``val_mask`` and
    ``test_mask``, and ``edge_attr`` :math:`(E, D)` with the length of the road first, if the published archive has it.

    Args:
        root: Folder of the cache.
        name: ``"paris"``, ``"shanghai"``, ``"la"`` or ``"london"``.
        augmented: Whether features of adjoining roads are among those of a junction.
        transform: Applied at every access.
        pre_transform: Applied once, before the graph is stored.
    """

    task: Literal["node", "graph"] = "node"
    address = ADDRESS

    def __init__(
        self,
        root: str | Path,
        name: str = "paris",
        *,
        augmented: bool = True,
        transform: Callable[[Any], Any] | None = None,
        pre_transform: Callable[[Any], Any] | None = None,
    ) -> None:
        one_of("name", name, CITIES)
        self.name = name
        self.augmented = bool(augmented)
        super().__init__(root, transform=transform, pre_transform=pre_transform)

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
        with unpacked(archive, list(files.values())) as copies:
            tensors = {key: _tensor(load_content(copies[file]), file) for key, file in files.items()}
        return [_graph(tensors)]

    @staticmethod
    def metric(prediction: Tensor, target: Tensor) -> float:
        """Return the percentage of nodes whose class is right.

        Args:
            prediction: Scores of the classes :math:`(N, 10)`, or classes :math:`(N)`.
            target: Classes :math:`(N)`.
        """
        classes = prediction.argmax(dim=1) if prediction.dim() == 2 else prediction
        if classes.shape != target.shape or not target.numel():
            raise ValueError(
                f"Scores (N, classes) or classes (N) are needed for N > 0 targets (N); got {tuple(prediction.shape)} "
                f"and {tuple(target.shape)}."
            )
        return 100.0 * float((classes == target).double().mean())


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

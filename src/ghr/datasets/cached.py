"""The base of all datasets: generated once, kept as one file of plain tensors, checked on every load."""

import errno
import hashlib
import json
import logging
import os
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any, ClassVar, Literal, TypeVar, cast

import torch
from safetensors import SafetensorError, safe_open
from safetensors.torch import save
from torch import Tensor
from torch_geometric.data import Data, InMemoryDataset
from tqdm import tqdm

from ghr.files import explained, write_bytes
from ghr.hierarchy import HierarchicalData

FORMAT_VERSION = 1
DATA_CLASSES: dict[str, type[Data]] = {"Data": Data, "HierarchicalData": HierarchicalData}

logger = logging.getLogger(__name__)
Item = TypeVar("Item")


class CachedDataset(InMemoryDataset):
    """A dataset that is generated on first use and read from a checked file of plain tensors afterwards.

    The file is ``root/<class name>/<key>.safetensors``, where the key is a hash of everything that decides the
    content: class, :attr:`version`, options, ``pre_filter`` and ``pre_transform``. Nothing is ever pickled. A damaged
    or foreign file is reported by a warning and built again.

    A subclass sets its attributes, then calls this constructor, and provides :attr:`task`, :meth:`options`,
    :meth:`generate` and :meth:`metric`.

    Args:
        root: Folder of the cache.
        transform: Applied at every access.
        pre_transform: Applied once, before the graphs are stored; it may turn ``Data`` into ``HierarchicalData``.
        pre_filter: Keeps only the generated graphs for which it is true.
    """

    task: Literal["node", "graph"]
    target_scale: ClassVar[float] = 1.0  # what targets are multiplied by to have the unit of the metric
    version: ClassVar[int] = 1  # a subclass raises it when generate() gives other graphs for the same options

    def __init__(
        self,
        root: str | Path,
        *,
        transform: Callable[[Any], Any] | None = None,
        pre_transform: Callable[[Any], Any] | None = None,
        pre_filter: Callable[[Any], bool] | None = None,
    ) -> None:
        super().__init__(str(root), transform, pre_transform, pre_filter)
        self._options = _canonical(self.options())
        self.key = self._identify()
        path = Path(self.processed_paths[0])
        stored = self._load(path)
        data_class, tensors = self._build(path) if stored is None else stored
        self.data = DATA_CLASSES[data_class].from_dict(_below("data/", tensors))
        self.slices = _below("slices/", tensors) or None

    def options(self) -> Mapping[str, Any]:
        """Return every option that changes the content, as values that JSON can hold."""
        raise NotImplementedError

    def generate(self) -> list[Data]:
        """Make the graphs; all have the same attributes, and every attribute is a tensor."""
        raise NotImplementedError

    @staticmethod
    def metric(prediction: Tensor, target: Tensor) -> float:
        """Return the benchmark's own score of a prediction."""
        raise NotImplementedError

    @property
    def processed_dir(self) -> str:
        """Folder of the cached files of this class."""
        return os.path.join(self.root, type(self).__name__)

    @property
    def processed_file_names(self) -> str:
        """Name of the cached file."""
        return f"{self.key}.safetensors"

    def _identify(self) -> str:
        for name, call in (("pre_transform", self.pre_transform), ("pre_filter", self.pre_filter)):
            if " at 0x" in repr(call):
                raise ValueError(
                    f"The {name} {call!r} needs a stable repr, because the cached file is found by it; "
                    "give it a class with a __repr__ that names its options and no memory address."
                )
        identity = {
            "format": FORMAT_VERSION,
            "class": type(self).__name__,
            "version": self.version,
            "options": self.options(),
            "pre_transform": repr(self.pre_transform),
            "pre_filter": repr(self.pre_filter),
        }
        return hashlib.sha256(_canonical(identity).encode()).hexdigest()[:16]

    def _header(self) -> dict[str, str]:
        return {"format": "pt", "format_version": str(FORMAT_VERSION), "key": self.key, "options": self._options}

    def _load(self, path: Path) -> tuple[str, dict[str, Tensor]] | None:
        if not os.path.exists(path):
            return None
        try:
            return _read(path, self._header())
        except (SafetensorError, OSError, ValueError, TypeError, KeyError, RuntimeError) as error:
            logger.warning("The cached file %s cannot be used and is built again: %s", path, error)
            return None

    def _build(self, path: Path) -> tuple[str, dict[str, Tensor]]:
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            if not os.access(path.parent, os.W_OK):  # asked before the work, not after it
                raise PermissionError(errno.EACCES, "the folder is not writable")
        except OSError as error:
            raise explained("use the cache folder", path.parent, error) from error
        logger.info("Generating %s with %s.", type(self).__name__, self._options)
        data_class, tensors = _collate(self._prepare(self.generate()))
        header = self._header() | {"data_class": data_class, "sha256": _digest(data_class, tensors)}
        write_bytes(path, save(tensors, header))  # save_file() would make the file unreadable for other users
        return data_class, tensors

    def _prepare(self, graphs: list[Data]) -> list[Data]:
        if self.pre_filter is not None:
            graphs = [graph for graph in graphs if self.pre_filter(graph)]
        if self.pre_transform is not None:
            graphs = [self.pre_transform(graph) for graph in graphs]
        return graphs


def progress(items: Iterable[Item], description: str) -> Iterable[Item]:
    """Show a progress bar if the loop takes long, stands in a terminal, and logging is not switched off."""
    return cast(Iterable[Item], tqdm(items, desc=description, delay=2, leave=False, disable=bars_disabled()))


def bars_disabled() -> bool | None:
    """Return what tqdm takes for ``disable``: true where logging is off, ``None`` to hide bars outside terminals."""
    return None if logger.isEnabledFor(logging.WARNING) else True


def _canonical(value: Mapping[str, Any]) -> str:
    return json.dumps(value, sort_keys=True, separators=(",", ":"), allow_nan=False)


def _below(prefix: str, tensors: Mapping[str, Tensor]) -> dict[str, Tensor]:
    return {name.removeprefix(prefix): tensors[name] for name in sorted(tensors) if name.startswith(prefix)}


def _collate(graphs: list[Data]) -> tuple[str, dict[str, Tensor]]:
    """Put all graphs into one set of tensors, the slices of every graph beside them."""
    if not graphs:
        raise ValueError("The dataset has no graphs; generate() gave none or pre_filter removed all of them.")
    data_class, names = type(graphs[0]), set(graphs[0].keys())
    if data_class not in DATA_CLASSES.values():
        raise TypeError(f"Graphs of class {data_class.__name__} cannot be stored; known are {', '.join(DATA_CLASSES)}.")
    for index, graph in enumerate(graphs):
        if type(graph) is not data_class or set(graph.keys()) != names:
            raise TypeError(
                f"All graphs must be alike, but graph {index} is a {type(graph).__name__} with {sorted(graph.keys())} "
                f"and the first a {data_class.__name__} with {sorted(names)}."
            )
        for name, value in graph.to_dict().items():
            if not isinstance(value, Tensor):
                raise TypeError(
                    f"Only tensors can be stored, but {name!r} of graph {index} is a {type(value).__name__}; "
                    "turn it into a tensor or drop it."
                )
    data, slices = InMemoryDataset.collate(graphs)
    tensors = {f"data/{name}": value.detach().cpu().contiguous() for name, value in data.to_dict().items()}
    if slices is None:  # a single graph: PyG hands it back as it is, and its tensors may share memory
        tensors = {name: value.clone() for name, value in tensors.items()}
    return data_class.__name__, tensors | {f"slices/{name}": value for name, value in (slices or {}).items()}


def _digest(data_class: str, tensors: Mapping[str, Tensor]) -> str:
    digest = hashlib.sha256(data_class.encode())
    for name in sorted(tensors):
        value = tensors[name]
        digest.update(f"{name} {value.dtype} {tuple(value.shape)}".encode())
        digest.update(value.reshape(-1).view(torch.uint8).numpy().data)
    return digest.hexdigest()


def _read(path: Path, header: Mapping[str, str]) -> tuple[str, dict[str, Tensor]]:
    with safe_open(path, framework="pt") as file:
        found = file.metadata() or {}
        for field, value in header.items():
            if found.get(field) != value:
                raise ValueError(f"its {field} is {found.get(field)!r} instead of {value!r}.")
        tensors = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118 (the file is no dictionary)
    data_class = found.get("data_class", "")
    if data_class not in DATA_CLASSES or found.get("sha256") != _digest(data_class, tensors):
        raise ValueError("its content does not match its checksum.")
    return data_class, tensors

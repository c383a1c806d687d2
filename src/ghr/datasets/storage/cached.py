"""The base of all datasets: generated once, kept as files of plain tensors, checked on every load."""

import errno
import hashlib
import json
import logging
import os
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, ClassVar, NamedTuple, TypedDict, cast

import torch
from safetensors import SafetensorError, safe_open
from safetensors.torch import save
from torch import Tensor
from torch_geometric.data import Data, InMemoryDataset

from ghr.datasets.task import Task
from ghr.files import explained, making_folder, write_bytes
from ghr.hierarchy import HierarchicalData
from ghr.progress import track

FORMAT_VERSION = 2
DATA_CLASSES: dict[str, type[Data]] = {"Data": Data, "HierarchicalData": HierarchicalData}

logger = logging.getLogger(__name__)


class Preparation(TypedDict, total=False):
    """What every dataset may be told to do with its graphs, named as in PyTorch Geometric.

    Args:
        transform: Applied at every access.
        pre_transform: Applied once, before the graphs are stored; it may turn ``Data`` into ``HierarchicalData``.
        pre_filter: Keeps only the generated graphs for which it is true.
    """

    transform: Callable[[Any], Any] | None
    pre_transform: Callable[[Any], Any] | None
    pre_filter: Callable[[Any], bool] | None


class CachedDataset(InMemoryDataset):
    """A dataset that is generated on first use and read from a checked file of plain tensors afterwards.

    There are two stages, each with a file ``root/<class name>/<key>.safetensors``. The first holds the graphs as they
    were generated; its key is a hash of class, :attr:`version`, options and ``pre_filter``. The second, where there is
    a ``pre_transform``, is made from the first, so another ``pre_transform`` does not generate the graphs again.
    Nothing is ever pickled. A damaged or foreign file is reported by a warning and built again.

    A subclass sets its attributes, :attr:`task` among them, then calls this constructor, and provides :meth:`options`
    and :meth:`generate`.

    Args:
        root: Folder of the cache.
        transform: Applied at every access.
        pre_transform: Applied once, before the graphs are stored; it may turn ``Data`` into ``HierarchicalData``.
        pre_filter: Keeps only the generated graphs for which it is true.

    Attributes:
        task: What is asked of the graphs.
        digest: SHA-256 of all that is stored, which tells these graphs from any others.
        target_scale: What targets are multiplied by to have the unit of the metric.
        node_codes: For ``x`` of integer codes, how many codes each column has; ``None`` for real features.
        edge_codes: The same for ``edge_attr``.
    """

    version: ClassVar[int] = 1  # a subclass raises it when generate() gives other graphs for the same options

    task: Task
    target_scale: float = 1.0
    node_codes: tuple[int, ...] | None = None
    edge_codes: tuple[int, ...] | None = None

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
        self.raw_key = self._identify()
        self.key = self.raw_key
        if pre_transform is not None:
            self.key = _hash({"raw": self.raw_key, "pre_transform": _stable_repr("pre_transform", pre_transform)})
        stored = self._obtain(self.key, self._generate if pre_transform is None else self._prepare)
        self.digest = stored.digest
        self._hold(stored)

    def options(self) -> Mapping[str, Any]:
        """Return every option that changes the content, as values that JSON can hold."""
        raise NotImplementedError

    def generate(self) -> list[Data]:
        """Make the graphs; all have the same attributes, and every attribute is a tensor."""
        raise NotImplementedError

    def metric(self, prediction: Tensor, target: Tensor) -> float:
        """Return the score of a prediction, by the metric of the task."""
        return self.task.score(prediction, target)

    @property
    def processed_dir(self) -> str:
        """Folder of the cached files of this class."""
        return os.path.join(self.root, type(self).__name__)

    @property
    def processed_file_names(self) -> str:
        """Name of the cached file."""
        return f"{self.key}.safetensors"

    def _identify(self) -> str:
        return _hash(
            {
                "format": FORMAT_VERSION,
                "class": type(self).__name__,
                "version": self.version,
                "options": self.options(),
                "pre_filter": _stable_repr("pre_filter", self.pre_filter),
            }
        )

    def _obtain(self, key: str, make: Callable[[], list[Data]]) -> "_Stored":
        """Read the file of a key, or make its graphs and write it."""
        path = Path(self.processed_dir, f"{key}.safetensors")
        header = {"format": "pt", "format_version": str(FORMAT_VERSION), "key": key, "options": self._options}
        if os.path.exists(path):
            try:
                return _read(path, header)
            except (SafetensorError, OSError, ValueError, TypeError, KeyError, RuntimeError) as error:
                logger.warning("The cached file %s cannot be used and is built again: %s", path, error)
        with making_folder(path.parent):
            if not os.access(path.parent, os.W_OK):  # asked before the work, not after it
                refusal = PermissionError(errno.EACCES, "the folder is not writable")
                raise explained("use the cache folder", path.parent, refusal)
            data_class, tensors = _collate(make())
            stored = _Stored(data_class, tensors, _digest(data_class, tensors))
            header |= {"data_class": data_class, "sha256": stored.digest}
            path.parent.mkdir(parents=True, exist_ok=True)  # another process that failed may have taken it away
            write_bytes(path, save(tensors, header))  # save_file() would make the file unreadable for other users
        return stored

    def _generate(self) -> list[Data]:
        logger.info("Generating %s with %s.", type(self).__name__, self._options)
        graphs = self.generate()
        return graphs if self.pre_filter is None else [graph for graph in graphs if self.pre_filter(graph)]

    def _prepare(self) -> list[Data]:
        self._hold(self._obtain(self.raw_key, self._generate))
        logger.info("Preparing %s by %r.", type(self).__name__, self.pre_transform)
        change = cast(Callable[[Any], Data], self.pre_transform)
        return [change(self.get(index)) for index in track(range(self.len()), f"Preparing {type(self).__name__}")]

    def _hold(self, stored: "_Stored") -> None:
        self.data = DATA_CLASSES[stored.data_class].from_dict(_below("data/", stored.tensors))
        self.slices = _below("slices/", stored.tensors) or None


class _Stored(NamedTuple):
    data_class: str
    tensors: dict[str, Tensor]
    digest: str


def _stable_repr(name: str, call: Any) -> str:
    if " at 0x" in repr(call):
        raise ValueError(
            f"The {name} {call!r} needs a stable repr, because the cached file is found by it; "
            "give it a class with a __repr__ that names its options and no memory address."
        )
    return repr(call)


def _canonical(value: Mapping[str, Any]) -> str:
    return json.dumps(value, sort_keys=True, separators=(",", ":"), allow_nan=False)


def _hash(identity: Mapping[str, Any]) -> str:
    return hashlib.sha256(_canonical(identity).encode()).hexdigest()[:16]


def _below(prefix: str, tensors: Mapping[str, Tensor]) -> dict[str, Tensor]:
    return {name.removeprefix(prefix): tensors[name] for name in sorted(tensors) if name.startswith(prefix)}


def _collate(graphs: list[Data]) -> tuple[str, dict[str, Tensor]]:
    """Put all graphs into one set of tensors, the slices of every graph beside them."""
    if not graphs:
        raise ValueError("The dataset has no graphs; generate() gave none or pre_filter removed all of them.")
    _check_alike(graphs)
    data, slices = InMemoryDataset.collate(graphs)
    tensors = {f"data/{name}": value.detach().cpu().contiguous() for name, value in data.to_dict().items()}
    if slices is None:  # a single graph: PyG hands it back as it is, and its tensors may share memory
        tensors = {name: value.clone() for name, value in tensors.items()}
    return type(graphs[0]).__name__, tensors | {f"slices/{name}": value for name, value in (slices or {}).items()}


def _check_alike(graphs: list[Data]) -> None:
    """Raise a TypeError or ValueError unless all graphs have the same class, attributes, types and widths."""
    data_class, names = type(graphs[0]), set(graphs[0].keys())
    if data_class not in DATA_CLASSES.values():
        raise TypeError(f"Graphs of class {data_class.__name__} cannot be stored; known are {', '.join(DATA_CLASSES)}.")
    wanted: dict[str, tuple[Any, ...]] = {}
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
            if wanted.setdefault(name, _width(graph, name, value)) != _width(graph, name, value):
                first = graphs[0][name]
                raise ValueError(
                    f"{name!r} must have the same type and width in all graphs, but that of graph {index} is "
                    f"{value.dtype} of shape {tuple(value.shape)} and that of the first {first.dtype} of shape "
                    f"{tuple(first.shape)}."
                )


def _width(graph: Data, name: str, value: Tensor) -> tuple[Any, ...]:
    """Type and shape of a tensor without the dimension along which graphs are put together."""
    shape, along = list(value.shape), graph.__cat_dim__(name, value)
    if along is not None and shape:
        shape[along] = -1
    return (value.dtype, *shape)


def _digest(data_class: str, tensors: Mapping[str, Tensor]) -> str:
    digest = hashlib.sha256(data_class.encode())
    for name in sorted(tensors):
        value = tensors[name]
        digest.update(f"{name} {value.dtype} {tuple(value.shape)}".encode())
        digest.update(value.reshape(-1).view(torch.uint8).numpy().data)
    return digest.hexdigest()


def _read(path: Path, header: Mapping[str, str]) -> _Stored:
    with safe_open(path, framework="pt") as file:
        found = file.metadata() or {}
        for field, value in header.items():
            if found.get(field) != value:
                raise ValueError(f"its {field} is {found.get(field)!r} instead of {value!r}.")
        tensors = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118 (the file is no dictionary)
    stored = _Stored(found.get("data_class", ""), tensors, found.get("sha256", ""))
    if stored.data_class not in DATA_CLASSES or stored.digest != _digest(stored.data_class, tensors):
        raise ValueError("its content does not match its checksum.")
    return stored

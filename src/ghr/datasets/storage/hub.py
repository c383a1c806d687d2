"""Published files: where they are, and how to read them without running what is in them."""

import pickletools
import threading
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import torch
from torch import Tensor
from torch.serialization import add_safe_globals, clear_safe_globals, get_safe_globals

from ghr.datasets.storage.download import download

__all__ = ["check_archive", "download", "hub_address", "load_content", "load_tensors"]


class _Holder:
    """Stands for a class of PyG in a file: keeps the values and has no behaviour."""


def _nothing(*_: Any) -> None:
    """Stands for a value that nobody needs."""


def _dictionary(*_: Any) -> dict[Any, Any]:
    """Stands for a dictionary with a default, of which only the entries are of interest."""
    return {}


# What a list of PyG graphs asks for besides tensors, of any version. The last two belong to caches that PyG may leave
# in a graph. Each is replaced by something that does nothing, so not even PyG's own code sees the values of others.
STAND_INS: dict[str, Any] = {
    "torch_geometric.data.data.Data": _Holder,
    "torch_geometric.data.storage.GlobalStorage": _Holder,
    "torch_geometric.data.data.DataEdgeAttr": _nothing,
    "torch_geometric.data.data.DataTensorAttr": _nothing,
    "torch_geometric.data.storage.AttrType": _nothing,
    "collections.defaultdict": _dictionary,
}
ALLOWED = frozenset(
    [*STAND_INS, "torch._utils._rebuild_tensor_v2", "collections.OrderedDict", "builtins.set", "__builtin__.set"]
    + [f"torch.{name}Storage" for name in ("Float", "Double", "Half", "BFloat16")]
    + [f"torch.{name}Storage" for name in ("Long", "Int", "Short", "Char", "Byte", "Bool")]
)
_exchange = threading.Lock()


def hub_address(repository: str, file: str) -> str:
    """Return the address of a file in a dataset repository on Hugging Face.

    Example:
        >>> hub_address("someone/graphs", "folder/train.pt")
        'https://huggingface.co/datasets/someone/graphs/resolve/main/folder/train.pt'
    """
    return f"https://huggingface.co/datasets/{repository}/resolve/main/{file}"


def load_tensors(path: str | Path) -> list[dict[str, Tensor]]:
    """Read a list of graphs that others wrote with ``torch.save``, as plain tensors by name.

    Such a file is a program that builds its content. Only the building of tensors and of PyG's ``Data`` is allowed;
    a file that asks for anything else is refused before any of it is read. Of a graph only the mapping from names
    to values is looked at. Numbers become tensors of shape (1); what is neither tensor nor number is left out.

    Args:
        path: File with a ``Data``, or with a list of them or of dictionaries.

    Raises:
        ValueError: Where the file asks for more than that, or is damaged, or is something else.
    """
    path = Path(path)
    content = load_content(path)
    if type(content) is _Holder:  # a single graph
        content = [content]
    if not isinstance(content, (list, tuple)):
        raise _unreadable(path, f"it holds a {type(content).__name__} instead of a list of graphs")
    return [_tensors(path, index, graph) for index, graph in enumerate(content)]


def load_content(path: str | Path) -> Any:
    """Read what others wrote with ``torch.save``: tensors, numbers and text, alone or in containers.

    Graphs in it come as objects without behaviour; :func:`load_tensors` makes tensors of them.

    Args:
        path: File to read.

    Raises:
        ValueError: Where the file asks for more than that, or is damaged, or is something else.
    """
    path = Path(path)
    check_archive(path)
    asked = sorted(_globals(path) - ALLOWED)
    if asked:
        raise ValueError(
            f"{path} is refused: it asks for {', '.join(asked)}, which could run code. "
            "Only tensors and graphs of PyTorch Geometric are read."
        )
    try:
        with _stand_ins():
            return torch.load(path, map_location="cpu", weights_only=True)
    except Exception as error:  # a damaged file can fail in any way
        raise _unreadable(path, f"it cannot be read ({type(error).__name__})") from error


def check_archive(path: Path) -> None:
    """Refuse what ``torch.save`` cannot have written, such as a page of text, or a file that is cut off."""
    try:
        with zipfile.ZipFile(path) as archive:
            programs = [name for name in archive.namelist() if name.endswith("/data.pkl")]
    except (zipfile.BadZipFile, ValueError) as error:
        raise _unreadable(path, f"{error}".rstrip(".")) from error
    if len(programs) != 1:
        raise _unreadable(path, f"it has {len(programs)} entries data.pkl instead of one")


def _globals(path: Path) -> set[str]:
    """Names of everything outside the file that its program asks for."""
    names, strings = set(), [""]
    try:
        with zipfile.ZipFile(path) as archive:
            program = archive.read(next(name for name in archive.namelist() if name.endswith("/data.pkl")))
        for operation, argument, _ in pickletools.genops(program):
            if operation.name in ("GLOBAL", "INST"):
                names.add(str(argument).replace(" ", "."))
            elif operation.name == "STACK_GLOBAL":
                names.add(".".join(strings[-2:]))
            elif operation.name in ("REDUCE", "BUILD", "NEWOBJ"):
                strings = [""]
            elif isinstance(argument, str):
                strings.append(argument)
    except Exception as error:  # a damaged file can fail in any way
        raise _unreadable(path, f"{error}".rstrip(".")) from error
    return names


@contextmanager
def _stand_ins() -> Iterator[None]:
    """Let the restricted reader of PyTorch know the stand-ins, and nothing that others have told it to trust."""
    with _exchange:
        trusted = get_safe_globals()
        clear_safe_globals()
        try:
            add_safe_globals([(stand_in, name) for name, stand_in in STAND_INS.items()])
            yield
        finally:
            clear_safe_globals()
            add_safe_globals(trusted)


def _tensors(path: Path, index: int, graph: Any) -> dict[str, Tensor]:
    mapping: Any = graph
    if type(graph) is _Holder:
        store = vars(graph).get("_store")  # PyG 1 had the values in the graph itself
        mapping = vars(store).get("_mapping") if type(store) is _Holder else vars(graph)
    if type(mapping) is not dict:
        raise _unreadable(path, f"entry {index} is not a graph")
    tensors = {}
    for name, value in mapping.items():
        if isinstance(value, (bool, int, float)):
            value = torch.tensor([value])
        if isinstance(name, str) and type(value) is Tensor and value.layout == torch.strided:
            tensors[name] = value.detach()
    return tensors


def _unreadable(path: Path, reason: str) -> ValueError:
    return ValueError(f"{path} is not a file of tensors as torch.save writes it: {reason}.")

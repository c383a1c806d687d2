"""References in docstrings: every object is documented once, and is found by whatever name it can be imported by."""

import importlib
from typing import Any

from sphinx.util import logging

import ghr

HOME = "api/ghr"  # the page of all that `import ghr` gives
logger = logging.getLogger(__name__)


def setup(app: Any) -> None:
    """Connect both rules."""
    app.connect("autodoc-skip-member", _skip_public)
    app.connect("missing-reference", _resolve)


def _skip_public(app: Any, what: str, name: str, value: Any, skip: bool, options: Any) -> bool | None:
    """Leave out of the pages of rooms what the page of the package has, and fields that their class describes."""
    if type(value).__name__ == "_tuplegetter":
        return True
    public = what == "module" and getattr(ghr, name, None) is value and name in ghr.__all__
    return True if public and app.env.docname != HOME else None


def _resolve(app: Any, env: Any, node: Any, content: Any) -> Any:
    """Return a reference to the page of an object that is named by another of its paths; warn of what is nowhere."""
    target = node.get("reftarget", "")
    if node.get("refdomain") != "py" or not target.startswith("ghr."):
        return None
    found = _import(target)
    if found is None:
        logger.warning("%s is referred to, but there is no such thing.", target, location=node, type="ref")
        return None
    python = env.get_domain("py")
    last = target.rpartition(".")[2]
    for path, entry in python.objects.items():
        if path.rpartition(".")[2] == last and _import(path) is found:
            return python.resolve_xref(env, node["refdoc"], app.builder, "obj", path, node, content) if entry else None
    return None  # it exists, but has no page


def _import(path: str) -> Any:
    """Return the object of a dotted path, or ``None``."""
    parts = path.split(".")
    for count in range(len(parts), 0, -1):
        try:
            found: Any = importlib.import_module(".".join(parts[:count]))
        except ImportError:
            continue
        for name in parts[count:]:
            declared = getattr(found, "__annotations__", {})  # a field of a dataclass may have no value, or None
            found = declared[name] if name in declared else getattr(found, name, None)
        return found
    return None

"""Graph Hierarchical Recurrence: message passing on a graph and its pooled copy, inside one recurrence."""

from typing import TYPE_CHECKING, Any

__version__ = "0.2.0"

if TYPE_CHECKING:
    from ghr.api import *  # noqa: F403 (one list of names)
else:
    # PyTorch takes seconds to import, in which `ghr --version` need not wait and Ctrl-C ends a command in one line.
    def __getattr__(name: str) -> Any:
        """Import everything public when the first name of it is asked for."""
        import importlib

        # Python asks for some names of its own, such as __path__, while it imports.
        if name == "api" or (name.startswith("__") and name != "__all__"):
            raise AttributeError(f"module 'ghr' has no attribute {name!r}")
        api = importlib.import_module("ghr.api")
        globals().update({public: getattr(api, public) for public in api.__all__}, __all__=api.__all__)
        if name not in globals():
            raise AttributeError(f"module 'ghr' has no attribute {name!r}; it has {', '.join(api.__all__)}")
        return globals()[name]

    def __dir__() -> list[str]:
        return sorted({*globals(), *__getattr__("__all__")})

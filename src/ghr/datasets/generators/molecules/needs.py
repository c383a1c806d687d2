"""One sentence for everyone who lacks the extra packages."""

from importlib import import_module
from types import ModuleType


def need(module: str) -> ModuleType:
    """Import a module of RDKit or tblite, or say how to get it.

    Args:
        module: Full name, such as ``"rdkit.Chem"``.

    Raises:
        ImportError: With the command that installs what is missing.
    """
    try:
        return import_module(module)
    except ImportError as error:
        package = module.partition(".")[0]
        raise ImportError(
            f"Molecules need {package}, which cannot be imported ({error}); install it with: pip install {package}."
        ) from error

"""Molecules as text: files of SMILES, and one SMILES as a molecule."""

import csv
import gzip
import hashlib
from pathlib import Path
from typing import Any

from ghr.datasets.generators.molecules.needs import need


def read_smiles(path: str | Path) -> list[str]:
    """Return the SMILES of a file, in its order.

    A name that ends in ``.csv`` is a table with a header and a column ``smiles``; any other file has one SMILES per
    line, and what follows it after a space is ignored. A further ``.gz`` means compressed.

    Args:
        path: File to read.

    Raises:
        ValueError: Where the table has no such column, or the file no SMILES.
    """
    path = Path(path)
    name = path.name.lower().removesuffix(".gz")
    opened: Any = gzip.open if path.name.lower().endswith(".gz") else open
    try:
        with opened(path, "rt", encoding="utf-8", newline="") as file:
            found = _column(path, file) if name.endswith(".csv") else [line.split()[0] for line in file if line.strip()]
    except (UnicodeDecodeError, EOFError, gzip.BadGzipFile) as error:
        raise ValueError(f"{path} is not a readable text file: {error}.") from error
    if not found:
        raise ValueError(f"{path} has no SMILES.")
    return found


def file_digest(path: str | Path) -> str:
    """Return a hash of a file's content, which stands for the file in the names of what was computed from it."""
    return hashlib.sha256(Path(path).read_bytes()).hexdigest()


def parse(smiles: str) -> Any:
    """Return a molecule of RDKit for a SMILES; several pieces are fine.

    Raises:
        ValueError: Where RDKit does not accept it.
    """
    chem, log = need("rdkit.Chem"), need("rdkit.rdBase")
    with log.BlockLogs():
        molecule = chem.MolFromSmiles(smiles)
    if molecule is None or not molecule.GetNumAtoms():
        raise ValueError("RDKit does not accept the SMILES")
    return molecule


def diameter(molecule: Any) -> int | None:
    """Return the largest number of bonds between two atoms; ``None`` where the molecule is in several pieces."""
    chem = need("rdkit.Chem")
    furthest = float(chem.GetDistanceMatrix(molecule).max())
    return int(furthest) if furthest < molecule.GetNumAtoms() else None


def _column(path: Path, file: Any) -> list[str]:
    table = csv.DictReader(file)
    names = {name.strip().lower(): name for name in table.fieldnames or () if name is not None}
    if "smiles" not in names:
        raise ValueError(f"{path} needs a column named smiles; it has {', '.join(names) or 'none'}.")
    return [(row[names["smiles"]] or "").strip() for row in table]

"""Files that a user puts into the data folder, because they may not be shipped."""

from dataclasses import dataclass
from pathlib import Path

from ghr.datasets.generators.molecules.smiles import file_digest


@dataclass(frozen=True)
class GivenFile:
    """One file that is known by its content.

    Args:
        place: Where it belongs, below the data folder.
        sha256: Hash of its content.
        what: What it is and on which terms it may be had, in a few words.
    """

    place: str
    sha256: str
    what: str

    def find(self, root: str | Path) -> Path:
        """Return the file in a data folder.

        Raises:
            FileNotFoundError: Where it is missing.
            ValueError: Where another file has its place.
        """
        path = Path(root, self.place)
        if not path.is_file():
            raise FileNotFoundError(
                f"{path} is missing: put {self.what} there, the file with the SHA-256 {self.sha256}; it is not part of "
                "this package."
            )
        found = file_digest(path)
        if found != self.sha256:
            raise ValueError(
                f"{path} is another file than {self.what}: its SHA-256 is {found}, but should be {self.sha256}."
            )
        return path

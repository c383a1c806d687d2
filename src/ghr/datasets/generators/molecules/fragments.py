"""Long molecules out of common pieces, for when there is no list of real ones."""

import numpy as np

from ghr.datasets.generators.molecules.needs import need
from ghr.datasets.generators.molecules.smiles import diameter

# Pieces with one bond at the front and one at the back, where their own text ends: concatenation joins them.
LINKS = (
    "C", "CC", "CCC", "CCCC", "O", "OC", "OCC", "OCCO", "N(C)", "NC", "S", "SC", "C=C", "C#C", "C(=O)", "C(=O)N",
    "NC(=O)", "C(=O)O", "OC(=O)", "NC(=O)N", "C(=O)NC", "S(=O)(=O)N", "NS(=O)(=O)", "C(F)(F)", "C(C)(C)", "C(O)C",
    "C(N)C", "C(C#N)C", "OP(=O)(O)OC",
)  # fmt: skip
RINGS = (
    "c1ccc(cc1)", "c1cccc(c1)", "c1ccnc(c1)", "c1ccc(nc1)", "c1ccc(s1)", "c1ccc(o1)", "c1cnc(nc1)", "c1csc(n1)",
    "c1cc(F)cc(c1)", "c1cc(OC)c(cc1)", "c1cc(Cl)cc(c1)", "c1cc2ccc(cc2cc1)", "C1CCN(CC1)", "N1CCN(CC1)", "C1CCC(CC1)",
    "N1CCC(CC1)", "C1CC1", "c1cn(nn1)", "c1cc([N+](=O)[O-])cc(c1)",
)  # fmt: skip
ENDS = (
    "C", "CC", "C(C)C", "C(C)(C)C", "O", "N", "F", "Cl", "Br", "C#N", "C(=O)O", "C(=O)N", "OC", "N(C)C", "C(F)(F)F",
    "S(=O)(=O)C", "c1ccccc1", "c1ccncc1", "c1ccc(F)cc1", "C1CCCCC1", "N1CCOCC1", "c1ccsc1",
)  # fmt: skip
# The first end is written from its far side, so that its last atom is the one that bonds.
FIRST_ENDS = (
    "C", "CC", "CC(C)", "CC(C)(C)", "O", "N", "F", "Cl", "N#C", "OC(=O)", "NC(=O)", "CO", "CN(C)", "FC(F)(F)",
    "CS(=O)(=O)", "c1ccccc1", "C1CCCCC1",
)  # fmt: skip
MAX_DRAWS = 1000


def draw_molecule(rng: np.random.Generator, diameters: tuple[int, int]) -> str:
    """Return the canonical SMILES of a random chain of rings and links with a graph diameter in a range.

    A chain grows until it reaches a length that is uniform in the range, and is drawn again if it overshoots the range
    or RDKit does not accept it. Hydrogens count as atoms.

    Args:
        rng: Where the choices come from.
        diameters: Least and largest diameter of the graph with hydrogens.

    Raises:
        ValueError: Where no molecule is found; the range is too narrow or too low then.
    """
    chem, log = need("rdkit.Chem"), need("rdkit.rdBase")
    with log.BlockLogs():
        for _ in range(MAX_DRAWS):
            wanted = int(rng.integers(*diameters, endpoint=True))
            chain, end, found = _pick(rng, FIRST_ENDS), _pick(rng, ENDS), 0
            while 0 <= found < wanted:
                chain += _pick(rng, RINGS if rng.random() < 0.45 else LINKS)
                molecule = chem.MolFromSmiles(chain + end)
                found = -1 if molecule is None else diameter(chem.AddHs(molecule)) or -1
            if wanted <= found <= diameters[1]:
                return str(chem.MolToSmiles(molecule))
    raise ValueError(
        f"No molecule with a diameter of {diameters[0]} to {diameters[1]} was found in {MAX_DRAWS} draws; "
        "take a wider range, or a higher one."
    )


def _pick(rng: np.random.Generator, pieces: tuple[str, ...]) -> str:
    return pieces[int(rng.integers(len(pieces)))]

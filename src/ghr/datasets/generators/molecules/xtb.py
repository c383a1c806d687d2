"""Charges and energy of a molecule by the semi-empirical method GFN2-xTB, which is not DFT."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ghr.datasets.generators.molecules.needs import need

BOHR = 0.529177210903  # in ångström
METHOD = "GFN2-xTB"


def gfn2_xtb(molecule: Any) -> tuple[float, NDArray[np.float64]]:
    """Return the total energy in Hartree and the partial charge of every atom in elementary charges.

    The charges add up to the molecule's formal charge. One calculation at the given positions, nothing is relaxed.

    Args:
        molecule: A molecule of RDKit with all hydrogens and a conformation.

    Raises:
        ValueError: Where the calculation does not converge or the method has no parameters for an element.
    """
    tblite = need("tblite.interface")
    chem = need("rdkit.Chem")
    numbers = np.array([atom.GetAtomicNum() for atom in molecule.GetAtoms()])
    unpaired = sum(atom.GetNumRadicalElectrons() for atom in molecule.GetAtoms())
    try:
        calculator = tblite.Calculator(
            METHOD,
            numbers,
            molecule.GetConformer().GetPositions() / BOHR,
            charge=float(chem.GetFormalCharge(molecule)),
            uhf=unpaired,
        )
        calculator.set("verbosity", 0)
        result = calculator.singlepoint()
    except (tblite.TBLiteRuntimeError, tblite.TBLiteValueError) as error:
        raise ValueError(f"{METHOD} gave no result") from error
    return float(result.get("energy")), np.asarray(result.get("charges"), dtype=np.float64)

"""The 11 numbers about the shape of a molecule that Peptides-struct asks for."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ghr.datasets.generators.molecules.needs import need

TARGETS = (
    "inertia_mass_a",
    "inertia_mass_b",
    "inertia_mass_c",
    "inertia_valence_a",
    "inertia_valence_b",
    "inertia_valence_c",
    "length_a",
    "length_b",
    "length_c",
    "spherocity",
    "plane_best_fit",
)
# Means and standard deviations of the targets over the first 300 random training peptides of seed 0, rounded.
REFERENCE = (
    (109.0, 94.36, 62.88, 97.67, 84.94, 56.70, 2.237, 1.745, 1.403, 0.4926, 2.530),
    (112.7, 98.87, 48.77, 104.3, 92.06, 44.02, 0.6047, 0.5240, 0.5126, 0.1940, 0.8714),
)
CARBON = 12.011
LEAST_WEIGHT = 1e-6  # keeps the moments defined where no atom has a hydrogen


def shape_targets(molecule: Any) -> NDArray[np.float64]:
    r"""Return what LRGB computes from the positions of a molecule's atoms, not yet normalised.

    With positions :math:`p_i` in nanometres and weights :math:`w_i`, the moments of inertia are the eigenvalues of
    :math:`\sum_i w_i (|q_i|^2 I - q_i q_i^\top)`, :math:`q_i = p_i - \sum_j w_j p_j / \sum_j w_j`, largest first: once
    with masses relative to carbon, once with the number of attached hydrogens. Lengths are the extents along the
    principal axes of the positions, the axis of largest variance first. Spherocity and plane of best fit are RDKit's,
    in ångström.

    Args:
        molecule: A molecule of RDKit with a conformation.

    Shapes:
        - **output:** :math:`(11)`, in the order of ``TARGETS``
    """
    descriptors = need("rdkit.Chem.rdMolDescriptors")
    positions = molecule.GetConformer().GetPositions() / 10
    masses = np.array([atom.GetMass() / CARBON for atom in molecule.GetAtoms()])
    hydrogens = np.array([float(atom.GetTotalNumHs()) for atom in molecule.GetAtoms()])
    few = len(positions) < 2  # RDKit divides by zero where there is no direction
    spherocity = 0.0 if few else float(np.nan_to_num(descriptors.CalcSpherocityIndex(molecule)))
    return np.array(
        [
            *_moments(positions, masses + LEAST_WEIGHT),
            *_moments(positions, hydrogens + LEAST_WEIGHT),
            *_lengths(positions),
            spherocity,
            0.0 if few else descriptors.CalcPBF(molecule),
        ]
    )


def _moments(positions: NDArray[np.float64], weights: NDArray[np.float64]) -> NDArray[np.float64]:
    centred = positions - (weights @ positions) / weights.sum()
    spread = (centred * weights[:, None]).T @ centred
    return np.linalg.eigvalsh(np.trace(spread) * np.eye(3) - spread)[::-1]


def _lengths(positions: NDArray[np.float64]) -> NDArray[np.float64]:
    centred = positions - positions.mean(axis=0)
    axes = np.linalg.eigh(centred.T @ centred)[1][:, ::-1]
    extents: NDArray[np.float64] = np.ptp(centred @ axes, axis=0)
    return extents

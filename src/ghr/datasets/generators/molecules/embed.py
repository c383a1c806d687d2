"""Positions in space for a molecule that is only known as a graph."""

from typing import Any

from ghr.datasets.generators.molecules.needs import need

TRIES = 4  # conformations per way of embedding
RELAX_STEPS = 500


def embed(molecule: Any, *, seed: int = 0, relax: bool = False) -> Any:
    """Return a copy of a molecule with one conformation.

    ETKDG of RDKit is tried from the distances first, then from random positions, then plain distance geometry. Large
    molecules without hydrogens mostly fail at their stereocentres, and all hydrogens make them ten times slower; so
    hydrogens are added at stereocentres only, and taken away again. The pieces of a disconnected molecule are embedded
    one by one, around the same point.

    Args:
        molecule: A molecule of RDKit, with hydrogens or without.
        seed: Seed of the conformation; the same seed gives the same positions.
        relax: Whether to relax by up to 500 steps of the force field MMFF94, or UFF where that has no parameters,
            whether or not it comes to rest. Needs hydrogens.

    Raises:
        ValueError: Where no conformation is found.
    """
    chem = need("rdkit.Chem")
    unspecified = chem.ChiralType.CHI_UNSPECIFIED
    centres = [atom.GetIdx() for atom in molecule.GetAtoms() if atom.GetChiralTag() != unspecified]
    helped = chem.AddHs(molecule, onlyOnAtoms=centres) if centres else chem.Mol(molecule)
    if not _find(helped, seed):
        raise ValueError("no conformation was found")
    if relax:
        _relax(helped)
    conformer = chem.Conformer(molecule.GetNumAtoms())
    positions = helped.GetConformer().GetPositions()[: molecule.GetNumAtoms()]  # added hydrogens come last
    for index, position in enumerate(positions):
        conformer.SetAtomPosition(index, position.tolist())
    result = chem.Mol(molecule)
    result.RemoveAllConformers()
    result.AddConformer(conformer)
    return result


def _find(molecule: Any, seed: int) -> bool:
    geometry, log = need("rdkit.Chem.rdDistGeom"), need("rdkit.rdBase")
    for random_start, knowledge in ((False, True), (True, True), (True, False)):
        options = geometry.ETKDGv3()
        options.randomSeed = seed
        options.maxIterations = TRIES
        options.useRandomCoords = random_start
        options.useExpTorsionAnglePrefs = options.useBasicKnowledge = knowledge
        with log.BlockLogs():
            if geometry.EmbedMolecule(molecule, options) == 0:
                return True
    return False


def _relax(molecule: Any) -> None:
    fields = need("rdkit.Chem.rdForceFieldHelpers")
    if fields.MMFFHasAllMoleculeParams(molecule):
        fields.MMFFOptimizeMolecule(molecule, maxIters=RELAX_STEPS)
    elif fields.UFFHasAllMoleculeParams(molecule):
        fields.UFFOptimizeMolecule(molecule, maxIters=RELAX_STEPS)
    else:
        raise ValueError("no force field has parameters for it")

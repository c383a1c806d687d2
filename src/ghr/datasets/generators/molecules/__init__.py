"""Molecules as graphs: features, 3D positions, shapes, quantum-chemical labels, by RDKit and tblite (extra ``chem``).

Nothing here imports PyTorch, so that the processes that compute labels start quickly.
"""

"""Evidence that a set of Ising lattices is the right one: decorrelated, and with the published oracle errors."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ghr.datasets.benchmark import TextTable
from ghr.datasets.generators.ising import (
    autocorrelation_time,
    couplings,
    flip_clusters,
    hop_oracle,
    local_energies,
    sample_spins,
)
from ghr.progress import track

# Published log10 MSE on the test graphs, by number of hops. Only these sizes are published.
PUBLISHED_ORACLE: dict[tuple[int, float], dict[int, float]] = {
    (16, 0.6): {1: 0.976, 2: 0.558, 4: -0.047, 8: -1.218, 12: -2.919, 15: -5.479},
    (16, 1.5): {1: 0.365, 2: -0.386, 4: -1.331, 8: -2.802, 12: -4.650, 15: -7.375},
    (32, 0.6): {1: 0.817, 2: 0.430, 4: -0.054, 8: -0.695, 16: -1.850, 24: -3.502, 31: -7.044},
    (32, 1.5): {1: 0.354, 2: -0.382, 4: -1.252, 8: -2.270, 16: -3.747, 24: -5.570, 31: -9.482},
}


def oracle_table(spins: NDArray[Any], sigma: float) -> TextTable:
    """Return the errors of the model that knows all couplings but sees only spins within some hops.

    Args:
        spins: Lattices :math:`(G, L, L)`.
        sigma: Decay of the coupling.
    """
    count, size = spins.shape[:2]
    coupling = couplings(size, sigma)
    energy = local_energies(spins, coupling)
    published = PUBLISHED_ORACLE.get((size, sigma), {})
    rows = []
    for hops in track(published or [2**power for power in range(size.bit_length() - 1)], "Oracle"):
        error = np.log10(np.mean((hop_oracle(spins, coupling, hops) - energy) ** 2))
        rows.append([f"{hops}", f"{error:.3f}", f"{published[hops]:.3f} [S]" if published else "-"])
    return TextTable([f"hops seen by the oracle ({count} graphs)", "log10 MSE", "published"], rows)


def autocorrelation_table(
    size: int, sigma: float, temperature: float, *, before: int, updates: int = 3000
) -> TextTable:
    """Return the autocorrelation times of magnetisation and energy in a long chain, in cluster updates.

    Args:
        size: Side of the lattice.
        sigma: Decay of the coupling.
        temperature: Temperature.
        before: Updates before a graph is taken.
        updates: Length of the chain.
    """
    rng, coupling = np.random.default_rng(0), couplings(size, sigma)
    spins = sample_spins(size, sigma, temperature, updates=before, rng=rng)
    magnetisation, energy = np.empty(updates), np.empty(updates)
    for step in track(range(updates), "Autocorrelation"):
        flip_clusters(spins, sigma, temperature, updates=1, rng=rng)
        magnetisation[step] = abs(spins.mean())
        energy[step] = local_energies(spins, coupling).mean()
    header = [f"autocorrelation time ({updates} cluster updates)", "updates", "updates before a graph is taken"]
    series = {"magnitude of the magnetisation": magnetisation, "energy": energy}
    rows = [[name, f"{autocorrelation_time(values):.1f}", f"{before}"] for name, values in series.items()]
    return TextTable(header, rows)

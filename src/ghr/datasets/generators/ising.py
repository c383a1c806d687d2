r"""The long-range Ising model on a periodic square lattice: couplings, local energies and equilibrium samples.

.. math::
    H = -\tfrac{1}{2} \sum_{i, j} J_{ij} s_i s_j, \qquad J_{ij} = r_{ij}^{-(2 + \sigma)}

with spins :math:`s_i = \pm 1` and :math:`r_{ij}` the Euclidean distance, the shorter way round the torus.
"""

from functools import lru_cache
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy import fft

from ghr.jit import compiled

Floats: TypeAlias = NDArray[np.float64]
Spins: TypeAlias = NDArray[np.int8]


def hop_distances(size: int) -> NDArray[np.int64]:
    """Return the number of lattice steps from the first node to every node, shape (size, size)."""
    step = _shorter_way(size)
    return step[:, None] + step[None, :]


def couplings(size: int, sigma: float) -> Floats:
    """Return the coupling of the first node with every node, shape (size, size); zero with itself."""
    step = _shorter_way(size).astype(np.float64)
    square = step[:, None] ** 2 + step[None, :] ** 2
    square[0, 0] = np.inf
    return np.asarray(square ** (-(2 + sigma) / 2))


def local_energies(spins: NDArray[Any], coupling: Floats) -> Floats:
    r"""Return :math:`y_i = -s_i \sum_j J_{ij} s_j` of every spin, by Fourier transforms.

    Flipping spin :math:`i` changes the energy by :math:`-2 y_i`.

    Args:
        spins: Lattices of spins.
        coupling: Coupling of the first node with every node; another than :func:`couplings` gives the energies that
            another model would predict, such as one that sees only nearby spins.

    Shapes:
        - **spins:** :math:`(*, L, L)`
        - **coupling:** :math:`(L, L)`
        - **output:** :math:`(*, L, L)`
    """
    wide = np.asarray(spins, dtype=np.float64)
    field = fft.irfft2(fft.rfft2(wide) * fft.rfft2(coupling), s=coupling.shape)
    return np.asarray(-wide * field)


def hop_oracle(spins: NDArray[Any], coupling: Floats, hops: int) -> Floats:
    """Return the energies that the true couplings give when only spins within some lattice steps are seen."""
    return local_energies(spins, np.where(hop_distances(len(coupling)) <= hops, coupling, 0.0))


def sample_spins(size: int, sigma: float, temperature: float, *, updates: int, rng: np.random.Generator) -> Spins:
    r"""Return one lattice in equilibrium, by Wolff's cluster updates from an ordered start of random sign.

    A cluster grows over bonds that are open with probability :math:`1 - e^{-2 J_{ij} / T}` between equal spins. That is
    the probability that a Poisson process of rate :math:`2 J_{ij} / T` has an event. So from each spin of the cluster
    the number of events to all other spins together is drawn, and for each event its target, from a table that takes
    constant time: the cost of a spin is the mean number of open bonds, not the number of spins.

    Args:
        size: Side of the lattice.
        sigma: Decay of the coupling.
        temperature: Temperature :math:`T`.
        updates: Clusters that are flipped, one after the other.
        rng: Source of all randomness.

    Shapes:
        - **output:** :math:`(L, L)`
    """
    spins = np.full((size, size), 1 if rng.random() < 0.5 else -1, dtype=np.int8)
    flip_clusters(spins, sigma, temperature, updates=updates, rng=rng)
    return spins


def flip_clusters(
    spins: Spins, sigma: float, temperature: float, *, updates: int, rng: np.random.Generator
) -> NDArray[np.int64]:
    """Flip clusters in a lattice, one after the other, and return their sizes; see :func:`sample_spins`."""
    keep, alias, total = _bond_table(len(spins), float(sigma))
    sizes = np.empty(updates, np.int64)
    _wolff(spins, keep, alias, 2.0 * total / temperature, sizes, rng)
    return sizes


def autocorrelation_time(series: NDArray[Any], *, window: float = 6.0) -> float:
    r"""Return the integrated autocorrelation time :math:`\tfrac{1}{2} + \sum_{t \geq 1} \rho(t)` of a series.

    The sum ends at the first lag of at least ``window`` times its value so far (Sokal's rule), where what follows is
    noise. Independent entries have one half.
    """
    centred = np.asarray(series, dtype=np.float64) - np.mean(series)
    spectrum = np.abs(fft.rfft(centred, 2 * len(centred))) ** 2
    correlation = fft.irfft(spectrum)[: len(centred)]
    time = 0.5
    for lag in range(1, len(centred)):
        time += correlation[lag] / correlation[0]
        if lag >= window * time:
            break
    return float(time)


def _shorter_way(size: int) -> NDArray[np.int64]:
    step = np.arange(size)
    return np.asarray(np.minimum(step, size - step))


@lru_cache(maxsize=8)
def _bond_table(size: int, sigma: float) -> tuple[Floats, NDArray[np.int32], float]:
    weight = couplings(size, sigma).reshape(-1)
    keep, alias = alias_table(weight)
    return keep, alias, float(weight.sum())


@compiled
def alias_table(weight: Floats) -> tuple[Floats, NDArray[np.int32]]:
    """Return Walker's table: cell k, drawn uniformly, stands for k with probability keep[k], else for alias[k]."""
    count = weight.size
    keep = weight * (count / weight.sum())
    alias = np.arange(count).astype(np.int32)
    small, large = np.empty(count, np.int64), np.empty(count, np.int64)
    num_small, num_large = 0, 0
    for k in range(count):
        if keep[k] < 1.0:
            small[num_small] = k
            num_small += 1
        else:
            large[num_large] = k
            num_large += 1
    while num_small > 0 and num_large > 0:
        num_small -= 1
        poor, rich = small[num_small], large[num_large - 1]
        alias[poor] = rich
        keep[rich] -= 1.0 - keep[poor]
        if keep[rich] < 1.0:
            num_large -= 1
            small[num_small] = rich
            num_small += 1
    for k in small[:num_small]:  # by rounding alone: these are one
        keep[k] = 1.0
    for k in large[:num_large]:
        keep[k] = 1.0
    return keep, alias


@compiled
def _wolff(
    spins: Spins,
    keep: Floats,
    alias: NDArray[np.int32],
    rate: float,
    sizes: NDArray[np.int64],
    rng: np.random.Generator,
) -> None:
    size = spins.shape[0]
    count = size * size
    spin = spins.reshape(count)
    pending = np.empty(count, np.int32)
    for update in range(sizes.size):
        first = int(rng.random() * count)
        sign = spin[first]
        spin[first] = -sign
        pending[0], waiting, flipped = first, 1, 1
        while waiting > 0:
            waiting -= 1
            row, column = divmod(pending[waiting], size)
            passed = rng.standard_exponential()
            while passed < rate:
                draw = rng.random() * count
                cell = int(draw)
                if draw - cell >= keep[cell]:
                    cell = alias[cell]
                down, right = divmod(cell, size)
                down += row
                right += column
                if down >= size:
                    down -= size
                if right >= size:
                    right -= size
                other = down * size + right
                if spin[other] == sign:
                    spin[other] = -sign
                    pending[waiting] = other
                    waiting += 1
                    flipped += 1
                passed += rng.standard_exponential()
        sizes[update] = flipped

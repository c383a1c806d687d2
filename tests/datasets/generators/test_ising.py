import itertools
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ghr.datasets.generators.ising import (
    alias_table,
    autocorrelation_time,
    couplings,
    flip_clusters,
    hop_distances,
    hop_oracle,
    local_energies,
    sample_spins,
)


def shorter(a, b, size):
    return min(abs(a - b), size - abs(a - b))


def slow_energies(spins, sigma, within=None):
    """The definition, pair by pair."""
    size = len(spins)
    nodes = list(itertools.product(range(size), repeat=2))
    result = np.zeros((size, size))
    for i in nodes:
        for j in nodes:
            if i == j:
                continue
            down, right = shorter(i[0], j[0], size), shorter(i[1], j[1], size)
            if within is None or down + right <= within:
                result[i] -= spins[i] * spins[j] / math.sqrt(down**2 + right**2) ** (2 + sigma)
    return result


@given(size=st.integers(2, 6), sigma=st.sampled_from([0.6, 1.5]), seed=st.integers(0, 99), within=st.integers(0, 7))
def test_energies_and_oracle_are_the_sums_over_pairs(size, sigma, seed, within):
    spins = np.random.default_rng(seed).choice([-1, 1], (size, size)).astype(np.int8)
    coupling = couplings(size, sigma)
    np.testing.assert_allclose(local_energies(spins, coupling), slow_energies(spins, sigma), rtol=0, atol=1e-12)
    seen = hop_oracle(spins, coupling, within)
    np.testing.assert_allclose(seen, slow_energies(spins, sigma, within), rtol=0, atol=1e-12)


def test_many_lattices_at_once_are_each_on_its_own():
    spins = np.random.default_rng(0).choice([-1, 1], (2, 3, 8, 8))
    coupling = couplings(8, 0.6)
    together = local_energies(spins, coupling)
    for place in np.ndindex(2, 3):
        np.testing.assert_allclose(together[place], local_energies(spins[place], coupling), atol=1e-12)


def test_flipping_a_spin_costs_minus_two_local_energies():
    spins = np.random.default_rng(1).choice([-1, 1], (6, 6))
    coupling = couplings(6, 0.6)
    before = local_energies(spins, coupling)
    spins[2, 3] *= -1
    change = (local_energies(spins, coupling).sum() - before.sum()) / 2
    assert change == pytest.approx(-2 * before[2, 3])


def test_hops_go_the_shorter_way_round():
    assert hop_distances(4).tolist() == [[0, 1, 2, 1], [1, 2, 3, 2], [2, 3, 4, 3], [1, 2, 3, 2]]


@given(st.lists(st.floats(0, 10), min_size=1, max_size=40).filter(lambda weights: sum(weights) > 1e-3))
def test_table_stands_for_the_weights(weights):
    weight = np.array(weights)
    keep, alias = alias_table(weight)
    chance = np.zeros(len(weight))
    for cell in range(len(weight)):
        chance[cell] += keep[cell] / len(weight)
        chance[alias[cell]] += (1 - keep[cell]) / len(weight)
    np.testing.assert_allclose(chance, weight / weight.sum(), atol=1e-12)


@pytest.mark.parametrize("sigma", [0.6, 1.5])
@pytest.mark.parametrize("temperature", [4.0, 9.0])
def test_chain_visits_states_as_often_as_boltzmann_says(sigma, temperature):
    """All 512 states of nine spins; the chain is compared in the share of every (energy, magnetisation)."""
    coupling = couplings(3, sigma)
    states = np.array(list(itertools.product([-1, 1], repeat=9))).reshape(-1, 3, 3)
    energy = local_energies(states, coupling).sum((1, 2)) / 2
    weight = np.exp(-energy / temperature)
    exact = {}
    for state, share in zip(states, weight / weight.sum(), strict=True):
        key = (round(float(local_energies(state, coupling).sum()), 6), int(state.sum()))
        exact[key] = exact.get(key, 0.0) + share

    rng, spins, count = np.random.default_rng(3), np.ones((3, 3), np.int8), 12_000
    chain = np.empty((count, 3, 3), np.int8)
    for step in range(count):
        flip_clusters(spins, sigma, temperature, updates=1, rng=rng)
        chain[step] = spins
    found = {}
    for total, magnetisation in zip(
        local_energies(chain, coupling).sum((1, 2)), chain.sum((1, 2), dtype=int), strict=True
    ):
        key = (round(float(total), 6), int(magnetisation))
        found[key] = found.get(key, 0) + 1 / count
    assert set(found) <= set(exact)
    for key, share in exact.items():  # five standard errors; neighbouring samples are correlated
        assert found.get(key, 0.0) == pytest.approx(share, abs=5 * 2 * math.sqrt(share / count) + 1e-3)


def test_clusters_are_what_was_flipped():
    rng, spins = np.random.default_rng(0), np.ones((8, 8), np.int8)
    for _ in range(50):
        before = spins.copy()
        (size,) = flip_clusters(spins, 0.6, 8.0, updates=1, rng=rng)
        changed = before != spins
        assert changed.sum() == size >= 1
        assert len(set(before[changed].tolist())) == 1


def test_samples_depend_on_the_stream_alone():
    first, second, other = (
        sample_spins(8, 0.6, 8.0, updates=20, rng=np.random.default_rng(seed)) for seed in (5, 5, 6)
    )
    assert (first == second).all()
    assert (first != other).any()
    assert set(np.unique(first)) <= {-1, 1}


def test_ordered_when_cold_and_disordered_when_hot():
    rng = np.random.default_rng(0)
    cold = [sample_spins(16, 0.6, 2.0, updates=30, rng=rng).mean() for _ in range(20)]
    hot = [sample_spins(16, 0.6, 100.0, updates=3000, rng=rng).mean() for _ in range(20)]
    assert min(map(abs, cold)) > 0.9
    assert min(cold) < 0 < max(cold)
    assert max(map(abs, hot)) < 0.3


def test_autocorrelation_time_of_known_series():
    rng, share = np.random.default_rng(0), 0.8
    noise = rng.standard_normal(100_000)
    series = np.empty_like(noise)
    series[0] = noise[0]
    for step in range(1, len(noise)):
        series[step] = share * series[step - 1] + noise[step]
    assert autocorrelation_time(series) == pytest.approx((1 + share) / (1 - share) / 2, rel=0.1)
    assert autocorrelation_time(noise) == pytest.approx(0.5, abs=0.05)


def test_clusters_decorrelate_the_lattice_long_before_it_is_used():
    """The hard 16 x 16 lattice: ``updates`` of a graph are at least ten times the autocorrelation time."""
    from ghr.datasets.lrim import TEMPERATURES, UPDATES

    rng = np.random.default_rng(0)
    spins = sample_spins(16, 0.6, TEMPERATURES[16, 0.6], updates=100, rng=rng)
    size = []
    for _ in range(3000):
        flip_clusters(spins, 0.6, TEMPERATURES[16, 0.6], updates=1, rng=rng)
        size.append(abs(float(spins.mean())))
    assert 2 < autocorrelation_time(np.array(size)) < UPDATES / 10

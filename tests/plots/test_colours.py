from itertools import combinations

import numpy as np
import pytest
from matplotlib.colors import to_rgb

from ghr.plots.colours import COLOURS

# What people see who lack one kind of cone, of linear RGB (Viénot, Brettel and Mollon, 1999).
SEEN = {
    "all cones": np.eye(3),
    "no long": np.array([[0.11238, 0.88762, 0], [0.11238, 0.88762, 0], [0.00401, -0.00401, 1]]),
    "no middle": np.array([[0.29275, 0.70725, 0], [0.29275, 0.70725, 0], [-0.02234, 0.02234, 1]]),
}


def linear(colour):
    value = np.array(to_rgb(colour))
    return np.where(value <= 0.04045, value / 12.92, ((value + 0.055) / 1.055) ** 2.4)


def bend(value):
    value = np.clip(value, 0, 1)
    return np.where(value <= 0.0031308, 12.92 * value, 1.055 * value ** (1 / 2.4) - 0.055)


@pytest.mark.parametrize("eye", SEEN)
def test_no_two_colours_look_alike(eye):
    seen = [bend(SEEN[eye] @ linear(colour)) for colour in COLOURS]
    assert min(np.linalg.norm(one - other) for one, other in combinations(seen, 2)) > 0.1  # of colours from zero to one


def test_red_and_green_of_one_lightness_would_fail():
    one, other = (bend(SEEN["no middle"] @ linear(colour)) for colour in ("#a06030", "#608030"))
    assert np.linalg.norm(one - other) < 0.1

import numpy as np

from ghr.analysis import Profile
from ghr.cli.ranges import range_table


def test_it_says_the_range_and_every_distance():
    said = range_table("range", Profile.of([np.array([2.0, 1.0, 1.0, 0.0])], [np.array([0, 1, 1, 2])]))
    assert said.splitlines()[0] == "Range: 0.50 hops (1.00 if all nodes counted alike)."
    lines = [line.split() for line in said.splitlines()[2:]]
    assert lines[0] == ["hops", "0", "1", "2"]
    assert lines[-2] == ["share", "of", "the", "influence", "50.0%", "50.0%", "0.0%"]
    assert lines[-1] == ["of", "one", "node", "50.00%", "25.00%", "0.00%"]


def test_many_distances_share_columns():
    said = range_table("range", Profile.of([np.ones(25)], [np.arange(25)]))
    header = " ".join(said.splitlines()[2].split())
    assert header == "hops 0-2 3-5 6-8 9-11 12-14 15-17 18-20 21-23 24"


def test_what_has_no_range_is_said():
    nothing = Profile.of([np.zeros(2)], [np.array([0, 1])])
    assert range_table("range", nothing) == "Range: none, since no prediction changes with a small change of its input."
    assert range_table("range_by_exchange", nothing).endswith(
        "no prediction changes with the features of another node."
    )
    said = range_table("range", Profile.of([np.zeros(2), np.ones(2)], [np.array([0, 1]), np.array([0, -1])]))
    assert "1 of 2 predictions depend on nothing; 50% of the influence comes from nodes without a path." in said

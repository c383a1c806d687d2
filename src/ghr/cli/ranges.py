"""How far a model looks, as the commands print it."""

from typing import NamedTuple

from ghr.analysis import Profile
from ghr.cli.table import table

MOST_COLUMNS = 10  # with more, neighbouring distances share one


class Way(NamedTuple):
    """A way to measure how far a model looks.

    Attributes:
        title: What it is called.
        change: What predictions may change with.
        suffix: What stands behind the name of a model in a figure.
    """

    title: str
    change: str
    suffix: str


WAYS = {
    "range": Way("Range", "a small change of its input", ""),
    "range_by_exchange": Way("Range by exchange", "the features of another node", ", by exchange"),
}


def range_table(way: str, profile: Profile) -> str:
    """Return the range in words, and a table of the share of the influence that every distance has.

    Args:
        way: How it was measured, a name in ``WAYS``.
        profile: What was found.
    """
    title, change, _ = WAYS[way]
    if profile.range is None or profile.even is None:
        return f"{title}: none, since no prediction changes with {change}."
    said = [f"{title}: {profile.range:.2f} hops ({profile.even:.2f} if all nodes counted alike)"]
    if profile.silent:
        said.append(f"{profile.silent} of {profile.rows + profile.silent} predictions depend on nothing")
    if profile.unreached >= 0.005:
        said.append(f"{profile.unreached:.0%} of the influence comes from nodes without a path")
    distances = [*profile.share]
    width = -(-len(distances) // MOST_COLUMNS)
    groups = [distances[start : start + width] for start in range(0, len(distances), width)]
    titles = [str(group[0]) if len(group) == 1 else f"{group[0]}-{group[-1]}" for group in groups]
    shares = [sum(profile.share[hops] for hops in group) for group in groups]
    ones = [_mean([profile.each[hops] for hops in group]) for group in groups]
    rows = [["share of the influence", *(f"{share:.1%}" for share in shares)]]
    rows.append(["of one node", *(f"{share:.2%}" for share in ones)])
    return "\n".join([f"{'; '.join(said)}.", "", table(["hops", *titles], rows)])


def _mean(values: list[float]) -> float:
    return sum(values) / len(values)

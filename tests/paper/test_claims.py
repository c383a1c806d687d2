import pytest

from ghr.paper.claims import Claim, claims_table


@pytest.mark.parametrize(
    ("claim", "holds"),
    [
        (Claim.below("", 1.0, {"a": 1.0, "b": 0.5}), True),
        (Claim.below("", 1.0, {"a": 1.1, "b": 0.5}), False),
        (Claim.below("", 1.0, {"a": None, "b": 0.5}), None),
        (Claim.below("", 1.0, {"a": None, "b": 1.5}), False),
        (Claim.above("", 1.0, {"a": 1.0, "b": 2.0}), True),
        (Claim.above("", 1.0, {"a": 0.9, "b": None}), False),
        (Claim.lowest("", {"a": 1.0, "b": 2.0, "c": 1.5}), True),
        (Claim.lowest("", {"a": 1.0, "b": 2.0, "c": 1.0}), False),
        (Claim.lowest("", {"a": 1.0, "b": None, "c": 0.5}), False),
        (Claim.lowest("", {"a": 1.0, "b": None}), None),
        (Claim.lowest("", {"a": None, "b": 1.0}), None),
    ],
)
def test_one_number_refutes_and_all_are_needed_to_confirm(claim, holds):
    assert claim.holds is holds


def test_the_table_says_it_plainly():
    text = claims_table([Claim.below("small", 1.0, {"a": 2.0}), Claim.below("small", 1.0, {"a": 0.5, "b": None})])
    assert text.splitlines()[2:] == [
        "| small | a 2.000 | **no** |",
        "| small | a 0.500; b not run | not known: not all is run |",
    ]

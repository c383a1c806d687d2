"""How many epochs of every system take about the processor time of its column, by ``studies/equal_budget/measure.py``.

They are fixed here, so that a run is the same wherever it is trained.
"""

EPOCHS: dict[str, dict[str, int]] = {
    "echo-sssp": {},
    "echo-ecc": {},
    "echo-diam": {},
    "lrim-16-hard": {},
    "lrim-32-hard": {},
}
# For three seeds and about 30 minutes each.
LONG: dict[str, dict[str, int]] = {}

"""Past the paper: rows that try what the min-plus extension owes to each of its parts, and other questions."""

from ghr.paper.beyond import BEYOND
from ghr.paper.data_specs import Question, RGGSpec, TrialData
from ghr.paper.model_specs import TrialSpec
from ghr.paper.recipe import Recipe
from ghr.paper.row import Row
from ghr.train import TrainConfig

_HOPS = RGGSpec("small", train_graphs=1000, val_graphs=100, test_graphs=100)


def _asking(question: Question) -> TrialData:
    return TrialData("small", train_graphs=1000, val_graphs=100, test_graphs=100, question=question)


def _row(title: str, name: str, model: TrialSpec, data: RGGSpec, *, epochs: int = 12) -> Row:
    train = TrainConfig(epochs=epochs, batch_size=32, lr=1e-2, schedule="cosine")  # as table-beyond trains
    return Row(title, name, "trials", Recipe(model, data, train))


_FLAT_HOPS, _TWO_LEVELS, _FLAT_LENGTHS = (
    next(row for row in BEYOND if row.name == name)
    for name in ("cap5-hops-flat", "cap5-hops-two-levels", "cap5-lengths-flat")
)
PARTS_REPLACED = (
    _FLAT_HOPS,
    _row("mean in place of the minimum", "mean", TrialSpec(aggregate="mean"), _HOPS),
    _row("sum in place of the minimum", "sum", TrialSpec(aggregate="sum"), _HOPS),
    _row("RMS norm before the minimum", "norm", TrialSpec(norm=True), _HOPS),
    _row("mixing weights start at full size", "full-mixing", TrialSpec(mixing=1.0), _HOPS),
    _row("soft minimum", "soft-min", TrialSpec(aggregate="soft min"), _HOPS),
    _row("soft minimum, 48 epochs", "soft-min-long", TrialSpec(aggregate="soft min"), _HOPS, epochs=48),
)
OTHER_QUESTIONS = (
    _FLAT_LENGTHS,
    _row(
        "lengths learned from offsets",
        "offsets",
        TrialSpec(edge_dim=2),
        _asking("offsets"),
    ),
    _row("widest path", "widest", TrialSpec(), _asking("widest")),
    _row("within a budget", "budget", TrialSpec(budget=True), _asking("budget")),
)
COARSE_EDGES = _TWO_LEVELS  # its weights run with other coarse edges

"""How a model starts: the paper's initialisation against ours."""

import logging
import math
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from statistics import median
from typing import Any

from ghr.nn.conv import CONVS
from ghr.paper.item import Place, Report
from ghr.paper.markdown import markdown_table
from ghr.paper.row import Row
from ghr.paper.start import WINDOW, Started, StartTest, measure_start
from ghr.threads import use_threads

logger = logging.getLogger(__name__)
STARTS = ("paper", "scaled")
SEEDS = (0, 1, 2)
_GRAPHS = {"train": 64, "val": 32, "test": 1}
TESTS = tuple(
    StartTest(benchmark, updates, graphs=_GRAPHS)
    for benchmark, updates in (
        ("rgg-sssp-small", 200),
        ("rgg-sssp-large", 80),
        ("echo-sssp", 120),
        ("echo-ecc", 120),
        ("echo-diam", 120),
        ("lrim-16-hard", 120),
    )
)

_CLAIM = f"""\
GHR is built twice from the same seed: with `start="paper"`, which draws all weights as the paper does, and with the
default `start="scaled"`, which divides the last map of every update by the number of updates of its level before
training (A-DGN, whose updates are bounded, stays as it is; the first map of GINE, which a sum over all neighbours
enters, is multiplied by 0.3, that of a gated GINE by 0.05; the norm that ends an update of GatedGCN is divided by the
fourth root of the number, and its readout is multiplied by 0.1; what reads a sum over all nodes is multiplied by
0.02), and shifts and scales predictions by mean and deviation of the training targets. The equations are the same.

What is measured: mean |prediction| of the untrained model, its largest one (also with twice the steps), the loss of the
first batch over that of the best constant, and the norm of the first gradient before clipping; then updates by the
recipe's Adam, learning rate, clipping and loss until the mean loss of {WINDOW} batches is below that of the constant,
and the validation error by the benchmark's metric after all updates, which for every benchmark are so many as the first
table says. `-` stands for what was not reached. Numbers are medians over {len(SEEDS)} seeds, the largest prediction is
the largest of all. One thread, on rebuilt graphs; what is not here is the recipe's. The sizes are chosen so that the
whole takes minutes, so errors say which start is ahead, not how good a model becomes."""


@dataclass(frozen=True)
class Start:
    """First predictions and first updates, old against new.

    Args:
        tests: The benchmarks, and how long to train on each.
        convs: Message passing.
        seeds: Of weights and batches.
    """

    name: str = "table-start"
    title: str = "The start of training: the paper's initialisation and ours"
    rows: tuple[Row, ...] = ()  # nothing that would be kept is trained
    tests: tuple[StartTest, ...] = TESTS
    convs: tuple[str, ...] = tuple(CONVS)
    seeds: tuple[int, ...] = SEEDS

    def report(self, place: Place) -> Report:
        """Measure both starts of every conv on every benchmark."""
        measured: list[dict[str, Any]] = []
        pairs: list[tuple[Started, Started]] = []
        lines: list[list[str]] = []
        with use_threads(1):
            for test in self.tests:
                for conv in self.convs:
                    both: list[Started] = []
                    for start in STARTS:
                        found = [measure_start(test, conv, start, place.data, seed=seed) for seed in self.seeds]
                        both.append(summarise(found))
                        logger.info("%s, %s, %s: %s.", test.benchmark, conv, start, both[-1])
                        for seed, one in zip(self.seeds, found, strict=True):
                            record = {"benchmark": test.benchmark, "conv": conv, "start": start, "seed": seed}
                            measured.append({**record, "on_scale": one.on_scale, **asdict(one)})
                    pairs.append((both[0], both[1]))
                    lines.append([f"{test.benchmark}, {conv}", *_pair(*both)])
        setting = markdown_table(
            ["benchmark", "updates", "training graphs", "batch", "differs from the recipe"],
            [
                [
                    test.benchmark,
                    str(test.updates),
                    str(test.graphs["train"]),
                    str(test.batch_size),
                    ", ".join(f"{name}={value}" for name, value in test.settings.items()),
                ]
                for test in self.tests
            ],
        )
        header = ["benchmark, conv", "mean &#124;prediction&#124;", "largest", "mean &#124;target&#124;"]
        header += ["first loss / constant", "gradient norm", "updates to pass", "error at the end", "constant"]
        text = "\n\n".join([_CLAIM, setting, "Old, then new:", markdown_table(header, lines), _sum_up(pairs, measured)])
        return Report(text, {"measured": measured})


def _pair(old: Started, new: Started) -> list[str]:
    return [
        f"{old.mean_prediction:.3g}, {new.mean_prediction:.3g}",
        f"{old.largest_prediction:.3g}, {new.largest_prediction:.3g}",
        f"{new.mean_target:.3g}",
        f"{old.first_loss:.3g}, {new.first_loss:.3g}",
        f"{old.gradient:.3g}, {new.gradient:.3g}",
        f"{_or_dash(old.passed)}, {_or_dash(new.passed)}",
        f"{_or_dash(old.score)}, {_or_dash(new.score)}",
        f"{new.constant_score:.3g}",
    ]


def _or_dash(value: float | None) -> str:
    return "-" if value is None else f"{value:.3g}"


def summarise(found: Sequence[Started]) -> Started:
    """Return medians over seeds, and the largest of the predictions."""
    passed = median(math.inf if one.passed is None else one.passed for one in found)
    scores = [one.score for one in found if one.score is not None]
    return Started(
        mean_prediction=median(one.mean_prediction for one in found),
        largest_prediction=max(one.largest_prediction for one in found),
        mean_target=found[0].mean_target,
        largest_target=found[0].largest_target,
        first_loss=median(one.first_loss for one in found),
        gradient=median(one.gradient for one in found),
        passed=None if passed == math.inf else round(passed),
        score=median(scores) if scores else None,
        constant_score=found[0].constant_score,
    )


def _sum_up(pairs: Sequence[tuple[Started, Started]], measured: list[dict[str, Any]]) -> str:
    """Say on how many rows the new start keeps what it promises."""
    runs = {start: [one for one in measured if one["start"] == start] for start in STARTS}
    on_scale = {start: sum(one["on_scale"] for one in found) for start, found in runs.items()}
    gradient = {start: max(one["gradient"] for one in found) for start, found in runs.items()}
    trained = [(old, new) for old, new in pairs if old.score is not None and new.score is not None]
    half = [new.passed is not None and (old.passed is None or 2 * new.passed <= old.passed) for old, new in trained]
    better = [new.score <= old.score for old, new in trained if old.score is not None and new.score is not None]
    return (
        f"The untrained model predicts on the scale of its targets (mean at most that of the targets plus one, none "
        f"above ten times the largest target, also with twice the steps) in {on_scale['scaled']} of "
        f"{len(runs['scaled'])} runs, the paper's in {on_scale['paper']}; the largest first gradient is "
        f"{gradient['scaled']:.3g}, the paper's {gradient['paper']:.3g}. By the medians it passes a constant in at "
        f"most half the updates on {sum(half)} of {len(trained)} rows, and its error at the end is not above the "
        f"paper's on {sum(better)}."
    )

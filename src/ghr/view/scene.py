"""What a page shows of one model on one graph, as arrays and numbers."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray
from torch import Tensor

from ghr.models.base import GraphModel
from ghr.view.answers import Answers
from ghr.view.collect import Frame, Recording
from ghr.view.embed import embed, quantise, size_of
from ghr.view.places import Places, drawn_edges, place_clusters

Floats = NDArray[np.float64]
USUAL = 4  # principal components that are shown unless others are asked for
DECADES = {"error": 3, "change": 4, "influence": 4}  # how much of a logarithmic scale has colours


@dataclass(frozen=True)
class Subject:
    """A model that a page shows.

    Args:
        name: What it is called there.
        model: The model.
        loops: Numbers for its loops, such as ``steps``.
        facts: What else to say about it, by label.
    """

    name: str
    model: GraphModel
    loops: Mapping[str, Any] = field(default_factory=dict)
    facts: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Field:
    """Numbers that colour the nodes of some or all levels, frame by frame.

    Attributes:
        key: Its short name.
        title: Its name for people.
        levels: For every level, :math:`(F, N_k)` numbers, or :math:`(1, N_k)` that are the same in all frames;
            ``None`` for a level whose clusters show the mean of their members.
        span: The numbers of the first and the last colour.
        bits: How finely they are kept.
        log: Whether colours follow the logarithm; what is not above zero then has none.
        diverging: Whether the middle colour is zero.
        derived: Whether the page computes the numbers itself: the error, from prediction and target.
    """

    key: str
    title: str
    levels: Sequence[Floats | None]
    span: tuple[float, float]
    bits: int = 8
    log: bool = False
    diverging: bool = False
    derived: bool = False

    def describe(self) -> dict[str, Any]:
        """Return it as a page holds it."""
        kept = [None if self.derived else level for level in self.levels]
        data = [None if level is None else quantise(level, self.bits, log=self.log) for level in kept]
        return {
            "key": self.key,
            "title": self.title,
            "span": [float(f"{end:.5g}") for end in self.span],
            "log": self.log,
            "diverging": self.diverging,
            "data": data,
        }


def error_fields(recording: Recording, answers: Answers) -> tuple[list[Field], Floats, Floats | None]:
    """Return prediction and error as fields where nodes have them, and as arrays :math:`(F, N)` or :math:`(F, 1)`."""
    rows = 1 if answers.task.level == "graph" else recording.levels[0].num_nodes
    nothing = np.full(rows, np.nan)
    shown, wrong = [], []
    for frame in recording.frames:
        shown.append(nothing if frame.prediction is None else answers.read_prediction(frame.prediction))
        wrong.append(None if frame.prediction is None else answers.read_error(frame.prediction))
    prediction, target = np.stack(shown), answers.read_target()
    error = None if target is None else np.stack([nothing if row is None else row for row in wrong])
    if answers.task.level == "graph":
        return [], prediction, error
    rest: list[None] = [None] * (len(recording.levels) - 1)
    like = prediction[-1] if target is None else target
    if answers.task.has_classes:
        span = (0.0, float(answers.task.out_channels - 1))
    else:
        span = _span(like, 0 if target is not None else 1)
    fields = [Field("prediction", "prediction", [prediction, *rest], span, bits=16)]
    if error is not None:
        top = _top(error[-1])
        span = (top / 10 ** DECADES["error"], top)
        derived = answers.task.level == "node" and not answers.task.has_classes
        fields.append(Field("error", "error", [error, *rest], span, log=True, derived=derived))
    return fields, prediction, error


def change_field(recording: Recording, prediction: Floats) -> tuple[Field | None, list[float | None]]:
    """Return how much the states of every level change from frame to frame, and its mean over the nodes of the graph.

    It is the root of the mean square over channels; of a model whose states cannot be seen, the change of predictions.
    """
    frames = recording.frames
    if all(frame.states or frame.values for frame in frames):
        levels = [_differences([_join(frame, k) for frame in frames]) for k in range(len(recording.levels))]
    elif prediction.shape[1] == recording.levels[0].num_nodes:
        levels = [_differences([row[:, None] for row in prediction])]
    else:
        return None, [None] * len(frames)
    mean = [None, *(float(row) for row in levels[0][1:].mean(axis=1))]
    top = _top(levels[0][1:]) if len(frames) > 1 else 1.0
    if levels[0].shape[1] == 0 or len(frames) == 1:
        return None, mean
    rest: list[None] = [None] * (len(recording.levels) - len(levels))
    return Field("change", "size of the change", [*levels, *rest], (top / 10 ** DECADES["change"], top), log=True), mean


def read_channel(name: int | str) -> tuple[bool, int]:
    """Return whether a name is that of a principal component, such as ``"pc1"``, and its number, from 0."""
    if isinstance(name, str) and re.fullmatch(r"pc[1-9]\d*", name):
        return True, int(name[2:]) - 1
    if isinstance(name, str) and re.fullmatch(r"\d+", name):
        return False, int(name)
    if isinstance(name, int) and not isinstance(name, bool) and name >= 0:
        return False, name
    raise ValueError(
        f"channels takes numbers of channels from 0, such as 3, and principal components, such as pc1; got {name!r}."
    )


def state_fields(recording: Recording, channels: Sequence[int | str] | None) -> list[Field]:
    """Return channels or principal components of the states and of the values, in turn.

    Args:
        recording: The frames.
        channels: Which, as for :func:`read_channel`; what the states do not have is left out. ``None`` for the first
            principal components or, of states with as few channels, the channels.
    """
    chosen = None if channels is None else [read_channel(name) for name in channels]
    both = bool(recording.frames[-1].values) and recording.frames[-1].states[0].shape[1] > 0
    kinds = [("state", "control" if both else "state", [frame.states for frame in recording.frames])]
    kinds.append(("value", "value", [frame.values for frame in recording.frames]))
    found = [_project(key, word, parts, chosen) for key, word, parts in kinds]
    longest = max(len(fields) for fields in found)
    return [fields[number] for number in range(longest) for fields in found if number < len(fields)]


def influence_fields(influence: Tensor, names: Sequence[str]) -> list[Field]:
    """Return the influence of every node on some predictions, as a part of the largest."""
    fields = []
    for number, (row, name) in enumerate(zip(influence.double().numpy(), names, strict=True)):
        share = row / max(row.max(), 1e-300) if np.isfinite(row).all() else np.nan_to_num(row, nan=0.0, posinf=0.0)
        span = (10.0 ** -DECADES["influence"], 1.0)
        fields.append(Field(f"influence{number}", f"influence on {name}", [share[None]], span, log=True))
    return fields


def describe_levels(recording: Recording, places: Places, *, lattice: bool) -> list[dict[str, Any]]:
    """Return nodes, edges, places and members of every level, as a page holds them."""
    described = []
    every = place_clusters(places, recording.levels)
    low, width = places.min(axis=0), max(float(np.ptp(places, axis=0).max()), 1e-9)
    for k, (level, own) in enumerate(zip(recording.levels, every, strict=True)):
        pairs = drawn_edges(level, own, lattice=lattice)
        kind = "uint16" if level.num_nodes <= 2**16 else "int32"
        above = None if k == 0 else embed(level.clusters.cpu().numpy(), kind)
        described.append(
            {
                "nodes": level.num_nodes,
                "edges": embed(pairs, kind),
                "places": embed(np.round((own - low) / width * 65535).T, "uint16"),
                "clusters": above,
            }
        )
    return described


def error_by_distance(error: Floats, hops: NDArray[np.int64]) -> dict[str, Any]:
    """Return the mean error of the nodes at every distance, frame by frame; ``None`` where there is none."""
    counted = (hops >= 0) & np.isfinite(error[-1])
    distances, index = np.unique(hops[counted], return_inverse=True)
    count = np.bincount(index, minlength=len(distances))
    rows = [np.bincount(index, row[counted], len(distances)) / np.maximum(count, 1) for row in error]
    return {
        "hops": distances.tolist(),
        "count": count.tolist(),
        "error": [[_number(value) for value in row] for row in rows],
    }


def fit_fields(fields: Sequence[Field], budget: int) -> tuple[list[dict[str, Any]], list[str]]:
    """Return the first fields that fit into some bytes of a page, and the titles of those that do not."""
    kept: list[dict[str, Any]] = []
    left_out: list[str] = []
    for wanted in fields:
        described = wanted.describe()
        size = sum(size_of(level) for level in described["data"] if level is not None)
        if size > budget and kept:
            left_out.append(wanted.title)
            continue
        budget -= size
        kept.append(described)
    return kept, left_out


def mean_by_frame(rows: Floats) -> list[float | None]:
    """Return the mean of every row over its numbers; ``None`` for a row without any."""
    return [_number(row[np.isfinite(row)].mean()) if np.isfinite(row).any() else None for row in rows]


def _project(
    key: str, word: str, frames: Sequence[Sequence[Tensor]], chosen: Sequence[tuple[bool, int]] | None
) -> list[Field]:
    if not frames[0] or frames[0][0].shape[1] == 0:
        return []
    width = frames[0][0].shape[1]
    if chosen is None:
        chosen = [(width > USUAL, number) for number in range(min(width, USUAL))]
    most = max((number + 1 for component, number in chosen if component), default=0)
    channels = [np.stack([parts[k].double().numpy() for parts in frames]) for k in range(len(frames[0]))]
    components = [_components(level, most) for level in channels] if most else []
    fields = []
    for at, (component, number) in enumerate(chosen):
        if number >= width:
            continue
        own = [level[:, :, number] for level in (components if component else channels)]
        top = _top(np.abs(own[0]))
        name = f"{word}, component {number + 1}" if component else f"{word}, channel {number}"
        fields.append(Field(f"{key}{at}", name, own, (-top, top), diverging=True))
    return fields


def _components(states: Floats, count: int) -> Floats:
    """Return the principal components of states :math:`(F, N, d)` over all frames, the largest first."""
    flat = states.reshape(-1, states.shape[2])
    flat = np.where(np.isfinite(flat), flat, 0.0)
    centred = flat - flat.mean(axis=0)
    _, vectors = np.linalg.eigh(centred.T @ centred)
    axes = vectors[:, ::-1][:, :count]
    axes = axes * np.where(axes[np.abs(axes).argmax(axis=0), np.arange(axes.shape[1])] < 0, -1, 1)  # one sign for all
    return np.asarray((centred @ axes).reshape(*states.shape[:2], -1))


def _join(frame: Frame, k: int) -> Floats:
    """Return states and values of a level side by side."""
    return np.concatenate([parts[k].double().numpy() for parts in (frame.states, frame.values) if parts], axis=1)


def _differences(frames: Sequence[Floats]) -> Floats:
    """Return the root of the mean square of what changed at every node; nothing is known of the first frame."""
    rows = [np.full(frames[0].shape[0], np.nan)]
    for before, after in pairwise(frames):
        rows.append(np.sqrt(((after - before) ** 2).mean(axis=1)))
    return np.stack(rows)


def _span(values: Floats, percent: float) -> tuple[float, float]:
    known = values[np.isfinite(values)]
    if known.size == 0:
        return 0.0, 1.0
    low, high = np.percentile(known, [percent, 100 - percent])
    return (float(low), float(high)) if high > low else (float(low) - 0.5, float(low) + 0.5)


def _top(values: Floats) -> float:
    known = values[np.isfinite(values)]
    top = float(np.percentile(known, 98)) if known.size else 0.0
    return top if top > 0 else float(known.max()) if known.size and known.max() > 0 else 1.0


def _number(value: float) -> float | None:
    return float(f"{value:.6g}") if np.isfinite(value) else None

"""One page that shows what models do on a graph, step by step."""

import html
import json
import logging
import os
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from importlib import resources
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor
from torch_geometric.data import Data

from ghr.analysis import measure_influence
from ghr.datasets.task import Task
from ghr.files import write_text
from ghr.hierarchy.data import check_graph
from ghr.plots.layout import is_lattice
from ghr.view.answers import Answers, describe_task
from ghr.view.collect import MOST_FRAMES, Recording, collect
from ghr.view.embed import embed
from ghr.view.places import Places, place_nodes
from ghr.view.scene import (
    DECADES,
    Subject,
    change_field,
    describe_levels,
    error_by_distance,
    error_fields,
    fit_fields,
    influence_fields,
    mean_by_frame,
    read_channel,
    state_fields,
)

logger = logging.getLogger(__name__)
MOST_NODES = 20_000
MOST_FIELDS = 8  # channels or components, and nodes whose influence is shown
LARGEST = 2_850_000  # bytes of a page, of which the frame and the texts take some
IFRAME = '<iframe srcdoc="{page}" style="width: 100%; height: 900px; border: 0" title="{title}"></iframe>'


@dataclass(frozen=True)
class Page:
    """A page of HTML that needs nothing else.

    In a notebook it shows itself.

    Attributes:
        title: Of the page.
        text: All of it.
    """

    title: str
    text: str

    def save(self, path: str | os.PathLike[str]) -> Path:
        """Write the page into a file."""
        write_text(path, self.text)
        return Path(path)

    def _repr_html_(self) -> str:
        return IFRAME.format(page=html.escape(self.text), title=html.escape(self.title))

    def __repr__(self) -> str:
        return f"Page({self.title!r}, {len(self.text.encode()) / 1e6:.1f} MB)"


def make_page(
    subjects: Sequence[Subject],
    graph: Data,
    task: Task,
    *,
    title: str = "",
    hops: Tensor | None = None,
    in_range: int | None = None,
    frames: int = MOST_FRAMES,
    nodes: Sequence[int] | None = None,
    channels: Sequence[int | str] | None = None,
    output: int = 0,
) -> Page:
    """Run models on a graph and return a page that steps through what they do.

    Args:
        subjects: One model, or two to be seen side by side.
        graph: One graph, as it was before a model prepared it; without targets no errors are shown.
        task: What is asked of it.
        title: Of the page.
        hops: How far every node is :math:`(N)`, negative where it does not count, for the error by distance.
        in_range: The largest distance in training, where there is a cap.
        frames: Most frames; with more updates they are evenly chosen.
        nodes: On whose predictions the influence of all nodes is shown; by default on eight far apart. ``()`` for none.
        channels: What is shown of the states, at most eight: channels by number, and principal components as ``"pc1"``,
            ``"pc2"``; by default the first four components. ``()`` for none.
        output: Which number of a prediction is shown, where it has several.
    """
    _check(subjects, graph, channels or ())
    size = int(graph.num_nodes or 0)
    answers = Answers(task, graph, output)
    places = place_nodes(graph)
    rows, names = _choose_rows(task, nodes, places)
    runs: list[dict[str, Any]] = []
    budget = (LARGEST - len(_template().encode())) // len(subjects)
    for subject in subjects:
        data = _prepare(subject.model, graph)
        recording = collect(subject.model, data, frames=frames, **subject.loops)
        found, notes = _influence(subject, data, rows, answers)
        run = _describe_run(recording, answers, hops)
        fields, change = run.pop("fields"), run.pop("change_field")
        influence = [] if found is None else influence_fields(found, names)
        states = state_fields(recording, channels)
        levels = describe_levels(recording, places, lattice=is_lattice(graph))
        room = budget - len(json.dumps([levels, _finite(run)]))
        described, left_out = fit_fields([*fields, *([change] if change else []), *influence, *states], room)
        notes += _missing_channels(recording, channels or ())
        if left_out:
            notes.append(f"Left out, to keep the page below 3 MB: {', '.join(left_out)}.")
            logger.info("%s: left out, to keep the page below 3 MB: %s.", subject.name, ", ".join(left_out))
        run |= {
            "name": subject.name,
            "facts": _facts(subject, recording),
            "notes": [*_notes(recording), *notes],
            "levels": levels,
            "fields": described,
        }
        runs.append(run)
    _share_spans(runs)
    target = answers.read_target()
    title = title or " and ".join(subject.name for subject in subjects)
    content = {
        "title": title,
        "task": describe_task(task, answers),
        "nodes": size,
        "edges": int(graph.num_edges),
        "inRange": in_range,
        "target": None if target is None else embed(target, "float32"),
        "hops": None if hops is None else embed(hops.cpu().numpy(), "int16"),
        "chosen": list(rows) if task.level == "node" else [],
        "runs": runs,
    }
    return Page(title, render(content))


def render(content: dict[str, Any]) -> str:
    """Return the page for what it shows."""
    # A tag inside of a text would end the script that holds it.
    data = json.dumps(_finite(content), allow_nan=False, separators=(",", ":")).replace("<", "\\u003c")
    return _template().replace("{{title}}", html.escape(content["title"])).replace("{{data}}", data)


@cache
def _template() -> str:
    folder = resources.files("ghr.view")
    parts = {name: (folder / f"page.{name}").read_text("utf-8") for name in ("html", "css", "js")}
    return parts["html"].replace("{{css}}", parts["css"]).replace("{{js}}", parts["js"])


def _check(subjects: Sequence[Subject], graph: Data, channels: Sequence[int | str]) -> None:
    if not 1 <= len(subjects) <= 2:
        raise ValueError(f"A page shows one model, or two side by side; got {len(subjects)}.")
    if len(channels) > MOST_FIELDS:
        raise ValueError(f"A page shows at most {MOST_FIELDS} channels or components; got {len(channels)}.")
    for name in channels:
        read_channel(name)
    size = check_graph(graph)[0].num_nodes
    if size > MOST_NODES:
        raise ValueError(f"A page shows graphs of up to {MOST_NODES:,} nodes; this one has {size:,}.")
    if "batch" in graph and int(graph["batch"].max()) > 0:
        raise ValueError("A page shows one graph; got a batch of several.")


def _choose_rows(task: Task, nodes: Sequence[int] | None, places: Places) -> tuple[list[int], list[str]]:
    """Return on which rows of the prediction the influence is shown, and what they are called."""
    if task.level == "node":
        chosen = _spread(places, MOST_FIELDS) if nodes is None else list(nodes)
        if len(chosen) > MOST_FIELDS:
            raise ValueError(f"A page shows the influence on at most {MOST_FIELDS} nodes; got {len(chosen)}.")
        for node in chosen:
            if not 0 <= node < len(places):
                raise ValueError(f"There is no node {node}: this graph has the nodes 0 to {len(places) - 1}.")
        return chosen, [f"node {node}" for node in chosen]
    if nodes:
        raise ValueError(f"Nodes are chosen where they have predictions of their own; here {task.level}s have them.")
    return ([0], ["the prediction"]) if task.level == "graph" and nodes is None else ([], [])


def _spread(places: Places, count: int) -> list[int]:
    """Return nodes far from each other."""
    chosen = [int(np.linalg.norm(places - places.mean(axis=0), axis=1).argmax())]
    nearest = np.linalg.norm(places - places[chosen[0]], axis=1)
    while len(chosen) < min(count, len(places)):
        chosen.append(int(nearest.argmax()))
        nearest = np.minimum(nearest, np.linalg.norm(places - places[chosen[-1]], axis=1))
        nearest[chosen] = -1
    return chosen


def _prepare(model: Any, graph: Data) -> Data:
    device = next((parameter.device for parameter in model.parameters()), torch.device("cpu"))
    prepared: Data = model.prepare(graph).to(device)
    return prepared


def _influence(subject: Subject, data: Data, rows: list[int], answers: Answers) -> tuple[Tensor | None, list[str]]:
    if not rows:
        return None, []
    try:
        found = measure_influence(subject.model, data, rows, answers.column, **subject.loops)
    except ValueError as error:  # such as of attention that needs more memory with gradients
        return None, [f"No influence is shown: {error}"]
    return (found, []) if found is not None else (None, ["No influence is shown: the input has no derivative."])


def _describe_run(recording: Recording, answers: Answers, hops: Tensor | None) -> dict[str, Any]:
    fields, prediction, error = error_fields(recording, answers)
    change, changes = change_field(recording, prediction)
    moved = [None, *mean_by_frame(np.abs(np.diff(prediction, axis=0)))]
    distance = None
    if hops is not None and error is not None and error.shape[1] == len(hops):
        distance = error_by_distance(error, hops.cpu().numpy())
    return {
        "unit": recording.unit,
        "total": recording.total,
        "trained": recording.trained,
        "frames": [{"update": frame.update, "step": frame.step, "level": frame.level} for frame in recording.frames],
        "error": None if error is None else mean_by_frame(error),
        "moved": moved,
        "changes": changes,
        "answer": None if prediction.shape[1] != 1 or answers.task.level != "graph" else mean_by_frame(prediction),
        "byDistance": distance,
        "fields": fields,
        "change_field": change,
    }


def _facts(subject: Subject, recording: Recording) -> list[list[str]]:
    model, config = subject.model, subject.model.config
    facts = {"model": type(model).__name__, "parameters": f"{model.num_parameters:,}"}
    for name in ("hidden_channels", "value_channels", "conv", "levels", "layers", "steps", "t_high", "t_low"):
        value = subject.loops.get(name, config.get(name))
        if value is None or (name == "value_channels" and not recording.frames[-1].values):
            continue
        trained = config.get(name)
        facts[name] = f"{value}" if value == trained else f"{value}, trained with {trained}"
    facts["levels"] = " > ".join(f"{level.num_nodes:,}" for level in recording.levels)
    facts[f"{recording.unit}s"] = f"{recording.total:,}"
    return [[label, text] for label, text in (facts | dict(subject.facts)).items()]


def _notes(recording: Recording) -> list[str]:
    notes = []
    if len(recording.frames) < recording.total:
        notes.append(f"{len(recording.frames)} frames of {recording.total:,} {recording.unit}s, evenly chosen.")
    if any(frame.prediction is None for frame in recording.frames):
        notes.append("The readout reads all layers at once, so there is a prediction after the last one only.")
    return notes


def _missing_channels(recording: Recording, channels: Sequence[int | str]) -> list[str]:
    """Return a note on channels that neither states nor values have."""
    last = recording.frames[-1]
    width = max((parts[0].shape[1] for parts in (last.states, last.values) if parts), default=0)
    beyond = [str(name) for name in channels if read_channel(name)[1] >= width]
    return [f"Not there, of {width} channels: {', '.join(beyond)}."] if beyond and width else []


def _share_spans(runs: list[dict[str, Any]]) -> None:
    """Give what is in the same unit the same colours in all runs."""
    for key in ("prediction", "error"):
        found = [described for run in runs for described in run["fields"] if described["key"] == key]
        if not found:
            continue
        low, high = min(entry["span"][0] for entry in found), max(entry["span"][1] for entry in found)
        if key == "error":
            low = high / 10 ** DECADES["error"]
        for described in found:
            described["span"] = [low, high]


def _finite(value: Any) -> Any:
    """Return a value in which ``None`` stands for every number that JSON does not have."""
    if isinstance(value, dict):
        return {key: _finite(entry) for key, entry in value.items()}
    if isinstance(value, (list, tuple)):
        return [_finite(entry) for entry in value]
    return None if isinstance(value, float) and not np.isfinite(value) else value

"""What a model does on one graph, frame by frame."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn
from torch_geometric.data import Data

from ghr.checks import check_whole
from ghr.hierarchy.data import Level, levels_of
from ghr.models.base import GraphModel
from ghr.models.recurrence import Recurrence
from ghr.nn.readout import ReadoutInput
from ghr.progress import make_bar, track

MOST_FRAMES = 64


@dataclass(frozen=True)
class Frame:
    """What a model holds at one moment.

    Attributes:
        update: How many updates there were before it: single updates, layers or steps.
        step: The global step it belongs to; zero before the first, and where a model has none.
        level: The level that was updated last; ``None`` where that is not known.
        prediction: What the readout makes of it; ``None`` where the readout cannot read it.
        states: States of every level, fine to coarse; empty where they cannot be seen.
        values: Values of every level, of a model that has them.
    """

    update: int
    step: int
    level: int | None
    prediction: Tensor | None
    states: tuple[Tensor, ...]
    values: tuple[Tensor, ...] = ()


@dataclass(frozen=True)
class Recording:
    """The frames of a model on a graph.

    Attributes:
        frames: First to last.
        unit: What is counted between them: ``"update"``, ``"step"`` or ``"layer"``.
        total: How many of these there were.
        trained: How many the model was trained with; as many as there were, where it has a fixed depth.
        levels: The levels of the graph that the model reads.
    """

    frames: tuple[Frame, ...]
    unit: str
    total: int
    trained: int
    levels: tuple[Level, ...]


def collect(model: GraphModel, data: Data, *, frames: int = MOST_FRAMES, **loops: Any) -> Recording:
    """Run a model on a graph and keep what it holds after every update, or after some of them, evenly chosen.

    A recurrence is seen after every single update of every level. A model that repeats one layer or has a stack of them
    is seen after every layer, one that predicts after every step after every step, and any other once.

    Args:
        model: The model.
        data: One graph, as the model needs it.
        frames: Most frames.
        **loops: Numbers for the loops of the model, such as ``steps=8``.
    """
    frames = check_whole("frames", frames, most=MOST_FRAMES)
    model.check_loops(loops)
    with _still(model):
        if isinstance(model, Recurrence):
            return _collect_updates(model, data, frames, loops)
        return _collect_layers(model, data, frames, loops)


def choose_frames(count: int, most: int) -> list[int]:
    """Return which of `count` moments are shown: all, or as many as may be, evenly, with the first and the last."""
    if count <= most:
        return list(range(count))
    if most == 1:
        return [count - 1]
    return [int(number) for number in np.linspace(0, count - 1, most).round()]


def _collect_updates(model: Recurrence[Any], data: Data, most: int, loops: Mapping[str, Any]) -> Recording:
    inner = {name: value for name, value in loops.items() if name != "steps"}
    encoded = model.encode(data)
    steps = loops.get("steps")
    if steps is not None and not isinstance(steps, int):  # "auto": as many as it takes
        steps = len(model.rollout(data, steps, **inner))
    steps = model.steps if steps is None else steps
    per_step = model.updates_per_step(encoded, **inner)
    chosen = set(choose_frames(steps * per_step + 1, most))
    frames = []
    with make_bar("Updates", steps * per_step + 1, unit="update") as bar:
        for number, moment in enumerate(model.trace(encoded, steps, **inner)):
            if number in chosen:
                states = tuple(state.detach().cpu() for state in moment.state.levels)
                values = tuple(value.detach().cpu() for value in moment.state.values)
                prediction = model.read_state(encoded, moment.state).cpu()
                frames.append(Frame(number, moment.step, moment.level, prediction, states, values))
            bar.update(1)
    trained = model.steps * model.updates_per_step(encoded)
    return Recording(tuple(frames), "update", steps * per_step, trained, tuple(encoded.levels))


def _collect_layers(model: GraphModel, data: Data, most: int, loops: Mapping[str, Any]) -> Recording:
    levels = levels_of(data)[:1]
    with _watch_readout(model) as seen:
        predictions = model.rollout(data, **loops)
    if len(predictions) > 1:
        chosen = choose_frames(len(predictions), most)
        states: list[Tensor | None] = list(seen) if len(seen) == len(predictions) else [None for _ in predictions]
        kept = tuple(_frame(number + 1, number + 1, predictions[number], states[number]) for number in chosen)
        trained = getattr(model, "steps", None) or len(predictions)
        return Recording(kept, "step", len(predictions), trained, levels)
    depth = loops.get("layers") or model.depth
    if depth == 1:
        return Recording((_frame(1, 0, predictions[0], seen[-1] if seen else None),), "step", 1, 1, levels)
    frames = []
    for number in track(choose_frames(depth, most), "Layers", unit="layer"):
        with _watch_readout(model) as seen:
            prediction = _predict(model.cut(number + 1), data, last=number + 1 == depth)
        frames.append(_frame(number + 1, 0, prediction, seen[-1] if seen else None))
    return Recording(tuple(frames), "layer", depth, model.depth, levels)


def _predict(short: GraphModel, data: Data, *, last: bool) -> Tensor | None:
    try:
        return short.rollout(data)[-1]
    except RuntimeError:
        if last:
            raise
        return None  # the readout reads the states of all layers at once


def _frame(update: int, step: int, prediction: Tensor | None, state: Tensor | None) -> Frame:
    states = () if state is None or state.size(1) == 0 else (state.cpu(),)
    return Frame(update, step, None, None if prediction is None else prediction.cpu(), states)


@contextmanager
def _watch_readout(model: GraphModel) -> Iterator[list[Tensor]]:
    """Note the states that the readout of a model is given."""
    seen: list[Tensor] = []

    def note(_: nn.Module, given: tuple[Any, ...]) -> None:
        if given and isinstance(given[0], ReadoutInput):
            seen.append(given[0].state)

    readout = getattr(model, "readout", None)
    if not isinstance(readout, nn.Module):
        yield seen
        return
    handle = readout.register_forward_pre_hook(note)
    try:
        yield seen
    finally:
        handle.remove()


@contextmanager
def _still(model: GraphModel) -> Iterator[None]:
    """Run a block without gradients, in evaluation mode, and with the same random numbers every time."""
    was_training = model.training
    model.eval()
    try:
        with torch.no_grad(), torch.random.fork_rng(devices=[]):
            torch.manual_seed(0)
            yield
    finally:
        model.train(was_training)

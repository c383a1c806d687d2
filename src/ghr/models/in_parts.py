"""GHR on a graph that is too large to train on at once: its nodes in parts, its coarse levels whole."""

import math
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import torch
from torch import Tensor, nn
from torch.utils.checkpoint import checkpoint

from ghr.checks import check_whole
from ghr.hierarchy.parts import Part, Parts
from ghr.models.cell import LevelState
from ghr.models.ghr import GHR
from ghr.models.global_step import run_global_step
from ghr.models.part_reading import Noting, Reading
from ghr.models.settle import MOST_STEPS
from ghr.models.state import Encoded, State
from ghr.nn.conv import Edges
from ghr.nn.readout import ReadoutInput
from ghr.nn.readout.edge import EdgeReadout
from ghr.nn.readout.graph import GraphReadout
from ghr.nn.readout.scaled import ScaledReadout
from ghr.ops import sort_members


class Share(NamedTuple):
    """Which of the parts a process takes, one process or many.

    Attributes:
        rank: Number of the process, from zero.
        world: Number of processes.
        add_up: Sums a tensor over all of them.
    """

    rank: int = 0
    world: int = 1
    add_up: Callable[[Tensor], Tensor] = lambda value: value


class InParts:
    r"""Runs a model on the parts of a large graph, one at a time, with the coarse levels whole.

    :meth:`refresh` runs the whole model once, part by part and without gradients, and keeps what level 1 reads from
    below at each of its updates, :math:`\mathrm{Pool}(\hat g_L)`. :meth:`rollout` then runs one part with gradients:
    its nodes and its halo, and all of the coarse levels, which read the part itself as it is now and everything else
    as it was kept. What is approximate:

    - The halo ends: nodes further away send no messages. With a halo of ``steps * t_high * t_low`` hops (one more for
      GCN, which divides by degrees) they could not reach the part, and its predictions are exact.
    - What was kept is as old as the last :meth:`refresh`. Right after it, predictions are exact.
    - Gradients flow through clusters with all their members in the part or its halo, not through those that are kept.
      With a halo around which nothing is left they are exact too.

    :meth:`refresh` itself is exact, with any halo.

    Args:
        model: A GHR of two levels or more that predicts nodes, without values, with learned initial states.
        parts: The graph.
        t_high: Updates of the coarse levels, if not those of the model.
        t_low: Updates of the graph itself, if not those of the model.
        share: Which parts this process takes in :meth:`refresh`.

    Example:
        >>> from ghr import Coarsen, Graclus
        >>> from ghr.testing import path_graph
        >>> graph = Coarsen(Graclus(rounds=1))(path_graph(12))
        >>> model = GHR(in_channels=1, hidden_channels=8, out_channels=1, steps=2)
        >>> run = InParts(model, Parts(graph, 3, halo=2))
        >>> run.refresh().shape, [run.rollout(part)[-1].shape for part in run.parts][0]
        (torch.Size([12, 1]), torch.Size([4, 1]))
    """

    def __init__(
        self,
        model: nn.Module,
        parts: Parts,
        *,
        t_high: int | Sequence[int] | None = None,
        t_low: int | None = None,
        share: Share | None = None,
    ) -> None:
        self.model, self.parts, self.share = check_parted(model), parts, Share() if share is None else share
        self.noted: Tensor | None = None
        updates = self.model._updates(parts.data.num_levels, t_high, t_low)
        self.updates, self.inner = updates, math.prod(updates[1:])  # the second: of level 1 in a global step

    @property
    def device(self) -> torch.device:
        """Where the model is; the graph stays on the CPU."""
        return next(self.model.parameters()).device

    @torch.no_grad()
    def refresh(self, steps: int | None = None, *, read: int | None = None, keep: bool = True) -> Tensor:
        """Run the whole model and keep what level 1 reads from below; return the prediction for all nodes, on the CPU.

        Args:
            steps: Global steps, if not those of the model.
            read: After which of them to predict, if not after the last.
            keep: Whether to keep anything; not needed for predictions alone.
        """
        model = self.model
        steps = check_whole("steps", model.steps if steps is None else steps, most=MOST_STEPS)
        read = check_whole("read", steps if read is None else read, most=steps)
        encoded = self._encode_coarse()
        like = next(model.parameters())
        notes = self._make_room(steps, encoded.levels[1].num_nodes, like) if keep else None
        noted = None if notes is None else iter(notes)
        states = list(model.cells.begin(like, encoded.levels))
        states[0], edge_states = states[0].cpu(), encoded.edges[0].updated
        for number in range(1, steps + 1):
            levels: list[Any] = [model._update_of(k, encoded) for k in range(len(states))]
            levels[0], levels[1] = _Finest(self, edge_states=edge_states), Noting(levels[1], noted)
            begin = [LevelState(state, edges) for state, edges in zip(states, encoded.edges, strict=True)]
            states = [level.state for level in run_global_step(levels, begin, self.updates)]
            if number == read:
                prediction = self._read(states[0])
        self.noted = notes if keep else self.noted
        return prediction

    def rollout(self, part: Part, steps: int | None = None) -> list[Tensor]:
        """Return the predictions for the nodes of a part after every step, with gradients.

        Args:
            part: One of the parts.
            steps: Global steps, if not those of the model; at most as many as there were in :meth:`refresh`.
        """
        model, device = self.model, self.device
        steps = check_whole("steps", model.steps if steps is None else steps, most=MOST_STEPS)
        if self.noted is None or len(self.noted) < steps * self.inner:
            there = 0 if self.noted is None else len(self.noted) // self.inner
            raise ValueError(f"A part runs as many steps as refresh ran, {there} so far; call refresh({steps}) first.")
        encoded = model.encode(part.data.to(device))
        own, inside = part.own.to(device).unsqueeze(1), part.inside.to(device).unsqueeze(1)
        state, predictions = model.initial_state(encoded), []
        for number in range(steps):
            noted = self.noted[number * self.inner : (number + 1) * self.inner]

            def advance(state: State, noted: Tensor = noted) -> State:
                step = model._begin(encoded, state)
                levels = list(step.levels)
                levels[1] = Reading(levels[1], noted, own, inside)
                return step.finish(run_global_step(levels, step.states, self.updates))

            if model.checkpoint and torch.is_grad_enabled():
                state = checkpoint(advance, state, use_reentrant=False)
            else:
                state = advance(state)
            predictions.append(model._read(encoded, state)[: part.num_own])
        return predictions

    def _make_room(self, steps: int, clusters: int, like: Tensor) -> Tensor:
        """Return room for what is noted, the same as before where it fits; what it held is forgotten."""
        shape, before = (steps * self.inner, clusters, self.model.state_channels), self.noted
        self.noted = None  # half of it would be of other weights if the run were stopped
        return before if before is not None and before.shape == shape else like.new_empty(shape)

    def _encode_coarse(self) -> Encoded:
        """Encode the coarse levels; of the finest there are its size and its assignment only."""
        encoded = self.model.encode(self.parts.cut_coarse().to(self.device))
        finest, coarse = self.parts.data.levels[:2]
        assignment = coarse.clusters.to(self.device)
        levels = (finest, replace(encoded.levels[1], assignment=assignment), *encoded.levels[2:])
        members = list(encoded.members)
        if members[1] is not None:
            members[1] = sort_members(assignment, coarse.num_nodes)
        return encoded._replace(levels=levels, members=tuple(members))

    def _read(self, state: Tensor) -> Tensor:
        """Return the predictions of all nodes, some at a time."""
        rows: list[Tensor] = []
        for piece in torch.chunk(state, len(self.parts)):
            low = piece.to(self.device)
            batch, edges = low.new_zeros(len(low), dtype=torch.long), low.new_empty(2, 0, dtype=torch.long)
            rows.append(self.model.readout(ReadoutInput(low, batch, 1, edges, None)).cpu())
        return torch.cat(rows)


class _Finest:
    """Updates the finest level part by part, from the states of all nodes before; the halo is as wide as it must be."""

    def __init__(self, run: InParts, *, edge_states: bool) -> None:
        self.run, self.edge_states = run, edge_states
        self.edges: dict[int, Edges] = {}

    def read_above(self, above: LevelState) -> Tensor:
        projected: Tensor = self.run.model.down[0](above.state)
        return projected

    def repeat(self, state: LevelState, above: Tensor, updates: int, outer: int, first: int = 1) -> LevelState:
        run, share, device = self.run, self.run.share, self.run.device
        before, after = state.state, torch.zeros_like(state.state, memory_format=torch.contiguous_format)
        # One more for layers that read degrees. States of edges in the halo must stay right until the step is over.
        halo = 1 + updates * (run.inner if self.edge_states else 1)
        for index in range(share.rank, len(run.parts), share.world):
            data, nodes, num_own, touched = run.parts.cut_finest(index, halo)
            encoded = run.model.encode(data.to(device))
            update = run.model._update_of(0, encoded)
            fixed = update.read_projected(above.index_select(0, touched.to(device)))
            local = LevelState(before[nodes].to(device), self.edges.get(index, encoded.edges[0]))
            done = update.repeat(local, fixed, updates, outer, first)
            after[nodes[:num_own]] = done.state[:num_own].to(after.device)
            if self.edge_states:
                self.edges[index] = done.edges
        return LevelState(share.add_up(after), state.edges)


def check_parted(model: nn.Module) -> GHR:
    """Return a model that can run in parts, or raise a ValueError that says why it cannot."""
    if not isinstance(model, GHR):
        raise ValueError(f"Only GHR runs in parts, since its coarse levels stay whole; got {type(model).__name__}.")
    readout = model.readout.inner if isinstance(model.readout, ScaledReadout) else model.readout
    for wrong, sentence in (
        (model.levels == 1, "parts of a graph meet in its coarse levels; build the model with levels=2 or more"),
        (model.values is not None, "values are read off the whole graph; build the model with values=None"),
        (model.config["initial_state"] != "learned", 'random initial states differ every time; take "learned" ones'),
        (
            isinstance(readout, EdgeReadout | GraphReadout),
            "parts are of nodes; build the model with a node readout",
        ),
    ):
        if wrong:
            raise ValueError(f"The model cannot run in parts: {sentence}.")
    return model

"""What all recurrences over a hierarchy share: steps, states and how many updates a step has."""

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from typing import Any, Generic, NamedTuple, Protocol, TypeVar

import torch
from torch import Tensor
from torch.utils.checkpoint import checkpoint
from torch_geometric.data import Data

from ghr.checks import check_flag, check_whole, show
from ghr.hierarchy.data import HierarchicalData, Level
from ghr.models.base import GraphModel
from ghr.models.global_step import count_updates, run_global_step, trace_global_step
from ghr.models.inputs import dtype_of
from ghr.models.settle import MOST_STEPS, Settled, Steps, check_steps
from ghr.models.state import State, check_parts
from ghr.nn.readout import Readout, ReadoutInput


class EncodedLike(Protocol):
    """What every encoded batch holds."""

    @property
    def levels(self) -> tuple[Level, ...]:
        """The hierarchy."""

    @property
    def edge_attr(self) -> Tensor | None:
        """Encoded edge features of the finest level, for readouts."""

    @property
    def num_graphs(self) -> int:
        """Number of graphs in the batch."""

    @property
    def config(self) -> Mapping[str, Any]:
        """That of the model."""


EncodedT = TypeVar("EncodedT", bound=EncodedLike)


class Step(NamedTuple):
    """One global step, ready to run.

    Attributes:
        levels: How every level is updated, fine to coarse.
        states: Their states.
        finish: Makes a :class:`~ghr.State` of the states of all levels.
    """

    levels: Sequence[Any]
    states: Sequence[Any]
    finish: Callable[[list[Any]], State]


class Moment(NamedTuple):
    """The state after a single update.

    Attributes:
        step: The global step that the update belongs to, from one; zero before the first.
        level: The level that was updated; ``None`` before the first update.
        state: Of all levels.
    """

    step: int
    level: int | None
    state: State


MOST_LEVELS = 64  # every level at least halves a graph, so nothing has more


class Recurrence(GraphModel, Generic[EncodedT]):
    """The base of models that repeat one global step over a hierarchy.

    A subclass provides :meth:`encode`, :meth:`initial_state` and :meth:`_begin`, which prepares one global step, and
    sets ``readout``.

    Args:
        levels: Number of levels, the graph included.
        share_coarse: Whether all coarse levels have the same weights, so that any number of them will do.
        steps: Number of global steps.
        t_high: Updates of the coarse levels.
        t_low: Updates of the graph itself.
        checkpoint: Keep only the states between global steps for the backward pass and compute the rest again.
    """

    readout: Readout

    def __init__(
        self, *, levels: int, share_coarse: bool, steps: int, t_high: int | Sequence[int], t_low: int, checkpoint: bool
    ) -> None:
        super().__init__()
        self.levels = check_whole("levels", levels, most=MOST_LEVELS)
        self.share_coarse = check_flag("share_coarse", share_coarse)
        self.steps = check_whole("steps", steps, most=MOST_STEPS)
        self.t_high = _check_t_high(t_high)
        self.t_low = check_whole("t_low", t_low, most=MOST_STEPS)
        self.checkpoint = check_flag("checkpoint", checkpoint)
        self._updates(self.levels, None, None)  # a sequence of the wrong length is found here, not at the first batch

    @property
    def loops(self) -> tuple[str, ...]:
        """Names of the numbers that the model can be given at inference; a flat one has no ``t_high``."""
        return ("steps", "t_low") if self.levels == 1 else ("steps", "t_high", "t_low")

    def check_loops(self, given: Mapping[str, Any]) -> None:
        """Raise a ValueError if the model has no loop of such a name, or a number is not one that it can run."""
        super().check_loops(given)
        if given.get("steps") is not None:
            check_steps(given["steps"])
        t_high = given.get("t_high")
        levels = self.levels
        if self.share_coarse and isinstance(t_high, (tuple, list)):  # then the graphs decide how many there are
            levels = 1 + len(t_high)
        self._updates(levels, t_high, given.get("t_low"))

    def prepare(self, graph: Data) -> Data:
        """Return a graph with its coarse levels; one that has some already is left as it is."""
        return graph if isinstance(graph, HierarchicalData) and graph.num_levels > 1 else super().prepare(graph)

    def encode(self, data: Data | EncodedT) -> EncodedT:
        """Encode node and edge features, once per forward pass; what is encoded already is returned as it is."""
        raise NotImplementedError

    def _encode_unseen(self, data: Data | EncodedT) -> EncodedT:
        """Encode a batch whose states nobody will see: its nodes may come in an order that is faster to compute."""
        return self.encode(data)

    def initial_state(self, data: Data | EncodedT) -> State:
        """Return the state before the first step."""
        raise NotImplementedError

    def _begin(self, encoded: EncodedT, state: State, *, own: bool = False) -> Step:
        """Prepare one global step; where the state is its `own`, nobody else's, it may be written over."""
        raise NotImplementedError

    def _advance(self, encoded: EncodedT, state: State, updates: tuple[int, ...], *, own: bool = False) -> State:
        """One global step, with so many updates of every level, fine to coarse; `own` as in :meth:`_begin`."""
        levels, states, finish = self._begin(encoded, state, own=own)
        begun = iter(states)
        del state, states  # those of a large graph are large, and of no use once its levels have moved on
        return finish(run_global_step(levels, begun, updates))

    def forward(  # type: ignore[override]  # the loops by name
        self,
        data: Data,
        *,
        steps: Steps | None = None,
        t_high: int | Sequence[int] | None = None,
        t_low: int | None = None,
    ) -> Tensor:
        """Return the prediction after the last step.

        Args:
            data: A graph or a batch of graphs.
            steps: Global steps, if not those of the constructor; likewise `t_high` and `t_low`. ``"auto"`` runs until
                predictions no longer change, ``Settled(...)`` does so with a tolerance and a limit of one's own. A
                model whose predictions keep drifting runs to the limit.
            t_high: Updates of the coarse levels.
            t_low: Updates of the graph itself.
        """
        steps = check_steps(self.steps if steps is None else steps)
        if isinstance(steps, Settled):
            return self.rollout(data, steps, t_high=t_high, t_low=t_low)[-1]
        encoded = self._encode_unseen(data)
        updates = self._updates(len(encoded.levels), t_high, t_low)
        states, advance = [_own(self.initial_state(encoded))], self._how_to_advance()
        for _ in range(steps):  # nobody holds on to the state that a step begins with
            states.append(advance(encoded, states.pop(), updates, own=True))
        return self._read(encoded, states.pop())

    def rollout(  # type: ignore[override]  # the loops by name
        self,
        data: Data,
        steps: Steps | None = None,
        *,
        t_high: int | Sequence[int] | None = None,
        t_low: int | None = None,
    ) -> list[Tensor]:
        """Return the predictions after every step, the first step first; arguments as in :meth:`forward`."""
        steps = check_steps(self.steps if steps is None else steps)
        encoded = self._encode_unseen(data)
        updates = self._updates(len(encoded.levels), t_high, t_low)
        if not isinstance(steps, Settled):
            return [self._read(encoded, state) for state in self._run(encoded, steps, updates)]
        most = steps.most(encoded.levels[0].batch, math.prod(updates))
        return steps.until(self._read(encoded, state) for state in self._run(encoded, most, updates))

    def step(
        self,
        data: Data | EncodedT,
        state: State,
        *,
        t_high: int | Sequence[int] | None = None,
        t_low: int | None = None,
    ) -> tuple[Tensor, State]:
        """Run one global step: state in, prediction and new state out.

        Args:
            data: A graph, a batch of graphs, or what :meth:`encode` returned for it, which saves encoding it again.
            state: The state to start from.
            t_high: Updates of the coarse levels, if not those of the constructor.
            t_low: Updates of the graph itself, if not those of the constructor.
        """
        encoded = self.encode(data)
        self._check_state(encoded, state)
        state = self._advance(encoded, state, self._updates(len(encoded.levels), t_high, t_low))
        return self._read(encoded, state), state

    def trace(
        self,
        data: Data | EncodedT,
        steps: int | None = None,
        *,
        t_high: int | Sequence[int] | None = None,
        t_low: int | None = None,
    ) -> Iterator[Moment]:
        """Give the state before the first step, and after every single update of every step.

        What :meth:`rollout` reads is the state after the last update of a step. Arguments as in :meth:`forward`, but
        the number of steps must be known.
        """
        encoded = self.encode(data)
        steps = check_whole("steps", self.steps if steps is None else steps, most=MOST_STEPS)
        updates = self._updates(len(encoded.levels), t_high, t_low)
        state = self.initial_state(encoded)
        yield Moment(0, None, state)
        for number in range(1, steps + 1):
            step = self._begin(encoded, state)
            for level, states in trace_global_step(step.levels, step.states, updates):
                state = step.finish(states)
                yield Moment(number, level, state)

    def updates_per_step(
        self, data: Data | EncodedT, *, t_high: int | Sequence[int] | None = None, t_low: int | None = None
    ) -> int:
        """Return how many single updates a global step has on a graph; arguments as in :meth:`forward`."""
        return count_updates(self._updates(len(self.encode(data).levels), t_high, t_low))

    def read_state(self, data: Data | EncodedT, state: State) -> Tensor:
        """Return what is predicted from a state."""
        encoded = self.encode(data)
        self._check_state(encoded, state)
        return self._read(encoded, state)

    def _check_encoded(self, encoded: EncodedT) -> EncodedT:
        """Return an encoded batch, or raise a ValueError if another model encoded it."""
        if not torch.compiler.is_compiling() and encoded.config != self.config:
            raise ValueError("The graph was encoded by a model with other options; encode it with this one.")
        return encoded

    def _check_state(self, encoded: EncodedT, state: State) -> None:
        """Raise a ValueError unless a step can start from a state."""
        if not isinstance(state, State):
            raise ValueError(f"A step starts from a State, such as initial_state(data) returns; got {show(state)}.")
        check_parts("The state", state.levels, encoded.levels, self._state_width, dtype_of(self))

    @property
    def _state_width(self) -> int:
        return int(self.config["hidden_channels"])

    def _check_levels(self, levels: tuple[Level, ...]) -> tuple[Level, ...]:
        """Return those levels of a batch that the model uses, or raise a ValueError if they are too few or too many."""
        if self.levels == 1:
            return levels[:1]
        if len(levels) < 2:
            raise ValueError("The graph has no coarse level; apply Coarsen(...) to it first, or build with levels=1.")
        if len(levels) != self.levels and not self.share_coarse:
            raise ValueError(
                f"The graph has {len(levels)} levels, but the model was built for {self.levels}; build it with "
                f"levels={len(levels)}, or with share_coarse=True, which takes any number."
            )
        return levels

    def _updates(self, num_levels: int, t_high: int | Sequence[int] | None, t_low: int | None) -> tuple[int, ...]:
        """Return the number of updates of every level, fine to coarse."""
        if num_levels == 1 and t_high is not None:
            raise ValueError(f"t_high is for coarse levels, but there is none; leave out t_high={show(t_high)}.")
        high = self.t_high if t_high is None else _check_t_high(t_high)
        low = self.t_low if t_low is None else t_low
        low = check_whole("t_low", low, most=MOST_STEPS)
        coarse = (high,) * (num_levels - 1) if isinstance(high, int) else high
        if len(coarse) != num_levels - 1:
            raise ValueError(f"t_high gives {len(coarse)} numbers for {num_levels - 1} coarse levels.")
        return (low, *coarse)

    def _run(self, encoded: EncodedT, steps: int, updates: tuple[int, ...]) -> Iterator[State]:
        """Give the state after every step."""
        state, advance = self.initial_state(encoded), self._how_to_advance()
        for _ in range(steps):
            state = advance(encoded, state, updates)
            yield state

    def _how_to_advance(self) -> Callable[..., State]:
        """Return :meth:`_advance`, or what does so and keeps little for gradients."""
        if self.checkpoint and torch.is_grad_enabled():
            return partial(checkpoint, self._advance, use_reentrant=False)
        return self._advance

    def _read(self, encoded: EncodedT, state: State) -> Tensor:
        """Return what is predicted from a state that fits."""
        finest = encoded.levels[0]
        given = ReadoutInput(state.low, finest.batch, encoded.num_graphs, finest.edge_index, encoded.edge_attr)
        return self.readout(given)  # type: ignore[no-any-return]


def _own(state: State) -> State:
    """Return a state that may be written over; one of weights, or of a subclass, may not. With gradients nothing is."""
    if torch.is_grad_enabled():
        return state
    levels = tuple(value.clone(memory_format=torch.contiguous_format) for value in state.levels)
    return state._replace(levels=levels)


def _check_t_high(t_high: int | Sequence[int]) -> int | tuple[int, ...]:
    if isinstance(t_high, Sequence) and not isinstance(t_high, str):
        return tuple(check_whole("t_high", value, most=MOST_STEPS) for value in t_high)
    return check_whole("t_high", t_high, most=MOST_STEPS, also=", or one for every coarse level")

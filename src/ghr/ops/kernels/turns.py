"""How threads share the parts of a kernel's work: each takes the next ones that nobody has, until none are left."""

from collections.abc import Iterator
from typing import Any

from numba.core import types
from numba.extending import intrinsic

from ghr.jit import inlined
from ghr.ops.kernels.types import Array


@intrinsic
def _next(typing: Any, turns: Any) -> Any:
    """Return the first number of an array, and add one to it, as if no other thread were there."""

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        array = context.make_array(signature.args[0])(context, builder, args[0])
        return builder.atomic_rmw("add", array.data, context.get_constant(types.int64, 1), "monotonic")

    return types.int64(turns), generate


take: Any = _next


@inlined
def taken(turns: Array) -> Iterator[int]:
    """Yield the parts that a thread gets.

    Args:
        turns: How many ranges were taken so far, and where these begin; the last of them ends with the last number.
    """
    turn = take(turns)
    while turn + 2 < turns.size:
        for part in range(turns[turn + 1], turns[turn + 2]):  # noqa: UP028
            yield part
        turn = take(turns)

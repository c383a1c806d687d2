"""Operations that write over their first argument, for where nobody asks for gradients."""

from collections.abc import Callable

import torch

from ghr.ops.operation import Operation


class InPlaceOperation(Operation):
    """An operation without outputs that changes a tensor; PyTorch knows which, so that it can be traced too.

    Args:
        name: Its name, with the namespace.
        function: What computes it; all arguments are positional.
        changed: Name of the argument that it writes over.
    """

    def __init__(self, name: str, function: Callable[..., None], changed: str) -> None:
        self.op = torch.library.custom_op(name, function, mutates_args=(changed,))
        self.function, self.differentiable = function, None
        self.__doc__ = function.__doc__


def in_place_operation(name: str, changed: str) -> Callable[[Callable[..., None]], InPlaceOperation]:
    """Make a function an operation of this name, with the namespace, that writes over one of its arguments."""
    return lambda function: InPlaceOperation(name, function, changed)

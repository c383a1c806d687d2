"""Operations that PyTorch can trace, and that cost little where nothing traces them."""

from collections.abc import Callable
from inspect import signature
from typing import Any

import torch
from torch import Tensor, nn
from torch.autograd import Function


class Operation:
    """A custom operation of PyTorch which is called past the dispatcher wherever nothing listens there.

    A call through the dispatcher takes 0.1 ms, as long as a small graph needs for the work itself.

    Args:
        name: Its name, with the namespace.
        function: What computes it; all arguments are positional.
        changes: Names of arguments that it writes over, for where nobody asks for gradients.
    """

    def __init__(self, name: str, function: Callable[..., Any], changes: tuple[str, ...] = ()) -> None:
        self.op = torch.library.custom_op(name, function, mutates_args=changes)
        self.function = function
        self.defaults = [parameter.default for parameter in signature(function).parameters.values()]
        self.differentiable: type[Function] | None = None
        self.__doc__ = function.__doc__

    def register_fake(self, function: Callable[..., Any]) -> Callable[..., Any]:
        """Say what the outputs look like, without numbers."""
        self.op.register_fake(function)
        return function

    def register_autograd(self, backward: Callable[..., Any], *, setup_context: Callable[..., None]) -> None:
        """Say what the gradients are."""
        self.op.register_autograd(backward, setup_context=setup_context)
        members = {"forward": self.function, "setup_context": setup_context, "backward": backward}
        static = {name: staticmethod(member) for name, member in members.items()}
        self.differentiable = type(self.function.__name__, (Function,), static)

    def __call__(self, *inputs: Any) -> Any:
        """Compute it."""
        if _heard(inputs[0]):
            return self.op(*inputs)
        if self.differentiable is not None:
            inputs = (*inputs, *self.defaults[len(inputs) :])
            if torch._C._are_functorch_transforms_active():
                return self.differentiable.apply(*inputs)  # type: ignore[no-untyped-call]
            # What it does first would look up the signature, which takes 20 microseconds.
            return super(Function, self.differentiable).apply(*inputs)  # type: ignore[misc]
        # One that has no gradient: the dispatcher lets nobody ask for one unnoticed, as a second derivative would.
        return self.op(*inputs) if torch.is_grad_enabled() else self.function(*inputs)


def operation(name: str, *, changes: tuple[str, ...] = ()) -> Callable[[Callable[..., Any]], Operation]:
    """Make a function an operation of this name, with the namespace; `changes` as in :class:`Operation`."""
    return lambda function: Operation(name, function, changes)


def _heard(given: Tensor) -> bool:
    """Return whether something wants to know of operations: a compiler, a tracer, a mode or a kind of tensor."""
    if torch.compiler.is_compiling() or type(given) not in (Tensor, nn.Parameter):
        return True
    return torch._C._len_torch_dispatch_stack() > 0 or torch._C._get_tracing_state() is not None

"""A forward pass whose input can be differentiated by, integer codes too."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from copy import copy
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import torch
from torch import Tensor, nn
from torch_geometric.data import Data

from ghr.models.base import GraphModel
from ghr.models.inputs import dtype_of
from ghr.nn.encoder import CodeEncoder
from ghr.nn.readout import ReadoutInput


@dataclass
class Pass:
    """A forward pass, to be differentiated.

    Attributes:
        prediction: What was predicted :math:`(M, C)`.
        leaves: What stands for the input, :math:`(N, D)` each: the features or, of codes, what each encoder makes of
            them. Empty for a model that has no encoder of its codes.
        read: What the readout was given last; ``None`` where it does not read nodes.
    """

    prediction: Tensor
    leaves: list[Tensor]
    read: ReadoutInput | None

    def pull_back(self, of: Sequence[Tensor], weight: Sequence[Tensor]) -> Tensor:
        r"""Return the size of :math:`\partial (w \cdot z) / \partial x_v` for every node :math:`v`.

        Sizes are sums of absolute values over the channels of the input.

        Args:
            of: Tensors :math:`z` that were computed in the pass.
            weight: The vector :math:`w`, a part for each of them.
        """
        found = self.differentiate(of, weight)
        return torch.stack([gradient.abs().sum(dim=1) for gradient in found]).sum(dim=0).detach()

    def differentiate(self, of: Sequence[Tensor], weight: Sequence[Tensor], *, again: bool = False) -> list[Tensor]:
        """Return the product of a vector with the Jacobian for each of the leaves; zeros where nothing depends on it.

        Args:
            of: As in :meth:`pull_back`.
            weight: As in :meth:`pull_back`.
            again: Whether the result is to be differentiated once more.
        """
        pairs = [(tensor, vector) for tensor, vector in zip(of, weight, strict=True) if tensor.requires_grad]
        if not pairs:
            return [torch.zeros_like(leaf) for leaf in self.leaves]
        tensors, vectors = zip(*pairs, strict=True)
        return list(
            torch.autograd.grad(
                tensors, self.leaves, vectors, retain_graph=True, create_graph=again, materialize_grads=True
            )
        )


@dataclass
class _Watch:
    """Puts leaves in the place of what encoders make of node codes."""

    codes: Tensor
    encoder: nn.Module | None
    leaves: dict[nn.Module, Tensor] = field(default_factory=dict)

    def __call__(self, module: nn.Module, given: tuple[Any, ...], output: Tensor) -> Tensor:
        """Return the leaf in place of the output; edges have encoders of their own, which are left alone."""
        codes = given[0]
        own = module is self.encoder or (codes.shape == self.codes.shape and torch.equal(codes, self.codes.to(codes)))
        if not own:
            return output
        if module not in self.leaves:  # called at every step, it makes the same of the same codes
            self.leaves[module] = output.detach().requires_grad_()
        return self.leaves[module]


@contextmanager
def follow(model: GraphModel, data: Data, loops: Mapping[str, Any]) -> Iterator[Pass]:
    """Run a model in evaluation mode, and give the pass to be differentiated while the block lasts.

    Args:
        model: The model.
        data: A graph or batch, as the model needs it.
        loops: Numbers for the loops of the model.
    """
    was_training, reads = model.training, list[ReadoutInput]()
    readout = getattr(model, "readout", None)
    with ExitStack() as stack:
        stack.callback(model.train, was_training)
        stack.enter_context(torch.enable_grad())
        stack.enter_context(torch.random.fork_rng(devices=[]))
        torch.manual_seed(0)  # of models that start from random states
        model.eval()
        if isinstance(readout, nn.Module):
            stack.callback(readout.register_forward_pre_hook(partial(_keep, reads)).remove)
        x = data.x
        leaves: list[Tensor] = []
        if not isinstance(x, Tensor):
            prediction = model(data, **loops)  # says what is missing, if it reads features
        elif _reads_codes(model, x):
            encoder = getattr(model, "node_encoder", None)
            watch = _Watch(x, encoder if isinstance(encoder, nn.Module) else None)
            for module in model.modules():
                if isinstance(module, CodeEncoder) or module is watch.encoder:
                    stack.callback(module.register_forward_hook(watch).remove)
            prediction = model(data, **loops)
            leaves += watch.leaves.values()
        else:
            given = copy(data)
            given["x"] = x.detach().to(x.dtype if x.is_floating_point() else dtype_of(model)).clone().requires_grad_()
            leaves.append(given["x"])
            prediction = model(given, **loops)
        yield Pass(prediction, leaves, reads[-1] if reads and model.reads_nodes else None)


def _keep(reads: list[ReadoutInput], module: nn.Module, given: tuple[Any, ...]) -> tuple[Any, ...] | None:
    """Note what a readout is given, the input apart from what else is made of it."""
    first = given[0]
    if not isinstance(first, ReadoutInput):
        return None
    if first.x is not None and first.x.is_floating_point():
        first = first._replace(x=first.x.clone())
    reads.append(first)
    return (first, *given[1:])


def _reads_codes(model: GraphModel, x: Tensor) -> bool:
    width = getattr(model, "in_channels", None)
    return not isinstance(width, int) if width is not None else not x.is_floating_point()

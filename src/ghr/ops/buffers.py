"""Memory that one training step hands on to the next: fresh pages cost the system more than the work in them."""

import math
import sys
from dataclasses import dataclass
from threading import Lock

import numpy as np
import torch
from torch import Tensor

from ghr.ops.kernels.types import Array

SMALL = 1 << 16  # bytes below which it is not worth the search
IDLE = 1000  # tensors lent out after which a block that served none of them is given back to the system


@dataclass
class Block:
    """A piece of memory, and when it was last lent."""

    memory: Array
    lent: int


class Buffers:
    """Blocks of memory, each lent to one tensor at a time; a block is free again when its tensor is gone."""

    def __init__(self) -> None:
        self.blocks: list[Block] = []
        self._lent = 0
        self._lock = Lock()
        self._references_when_free = _references(Block(np.empty(1), 0))

    def empty(self, shape: tuple[int, ...], like: Tensor) -> Tensor:
        """Return a tensor of arbitrary numbers, with the type of another."""
        count = math.prod(shape)
        size = count * like.element_size()
        if size < SMALL:
            return like.new_empty(shape)
        with self._lock:
            memory = self._take(size)
        return torch.frombuffer(memory, dtype=like.dtype, count=count).view(shape)

    def _take(self, size: int) -> Array:
        self._lent += 1
        free = [block for block in self.blocks if _references(block) == self._references_when_free]
        fitting = [block for block in free if size <= block.memory.nbytes <= 2 * size]
        if fitting:
            chosen = min(fitting, key=lambda block: block.memory.nbytes)
            chosen.lent = self._lent
            return chosen.memory
        idle = {id(block) for block in free if block.lent < self._lent - IDLE}
        step = 1 << (size.bit_length() - 3)  # rounded up, so that batches of about one size share their blocks
        chosen = Block(np.empty(-(-size // step) * step, np.uint8), self._lent)
        self.blocks = [block for block in self.blocks if id(block) not in idle] + [chosen]
        return chosen.memory


def _references(block: Block) -> int:
    return sys.getrefcount(block.memory)


buffers = Buffers()

"""Memory that one training step hands on to the next: fresh pages cost the system more than the work in them.

Why no block is ever lent twice at a time: every loan makes a new view of the block, and the tensor is built on that
view. PyTorch holds the view exactly as long as the storage lives, that is as long as any tensor that shares it: the
tensor itself, its views, what autograd saved for the backward pass, arrays of numpy made of it. When the last of them
is gone, in whatever thread, Python destroys the view, and only then is the block put among the returned ones. So
nothing is counted and nothing is asked about an object that another thread may be using. Appending to a deque is atomic
and takes no lock, so a view may die at any moment, even while this pool is being searched.
"""

import math
import weakref
from bisect import bisect_left, bisect_right, insort
from collections import deque
from threading import Lock
from typing import Any

import numpy as np
import torch
from torch import Tensor

from ghr.ops.kernels.arrays import LINE
from ghr.ops.kernels.types import Array

SMALL = 1 << 16  # bytes below which it is not worth the search
IDLE = 1000  # loans after which a block that served none of them is given back to the system


class Block:
    """A piece of memory on whole lines of the cache, lent to one tensor at a time.

    Args:
        size: Number of bytes.
        returned: Where the block puts itself when its tensor is gone.
    """

    def __init__(self, size: int, returned: "deque[Block]") -> None:
        memory = np.empty(size + LINE, np.uint8)
        self.memory: Array = memory[-memory.ctypes.data % LINE :][:size]
        self.size = size
        self.last_loan = 0
        self._returned = returned
        self._loan: weakref.ref[Array] | None = None

    def lend(self, dtype: torch.dtype, count: int, loan: int) -> Tensor:
        """Return a tensor in this memory; until it is gone, with all that shares its storage, the block is not free."""
        self.last_loan = loan
        view = self.memory[:]
        self._loan = weakref.ref(view, self._end_loan)
        return torch.frombuffer(view, dtype=dtype, count=count)

    def _end_loan(self, _: Any) -> None:
        self._returned.append(self)


class Buffers:
    """Blocks of memory that tensors of about the same size use one after the other."""

    def __init__(self) -> None:
        self.free: list[Block] = []  # the smallest first; of one size, the one that has been free for longest
        self.lent: set[Block] = set()
        self._returned: deque[Block] = deque()
        self._loans = 0
        self._lock = Lock()

    def empty(self, shape: tuple[int, ...], like: Tensor) -> Tensor:
        """Return a tensor of arbitrary numbers, with the type of another."""
        count = math.prod(shape)
        size = count * like.element_size()
        if size < SMALL:
            return like.new_empty(shape)
        with self._lock:
            self._loans += 1
            loan, block = self._loans, self._take(size)
            self.lent.add(block)
        # A view would have a second owner, and autograd would add to a copy of the gradients in it.
        return block.lend(like.dtype, count, loan).resize_(shape)

    def _take(self, size: int) -> Block:
        """Return the smallest free block that fits and is not far too large, or a new one.

        Of several of one size it is the one that was used last: its memory is still near the core.
        """
        while self._returned:
            block = self._returned.popleft()
            self.lent.remove(block)
            insort(self.free, block, key=_size)
        place = bisect_left(self.free, size, key=_size)
        if place < len(self.free) and self.free[place].size <= 2 * size:
            return self.free.pop(bisect_right(self.free, self.free[place].size, key=_size) - 1)
        self.free = [block for block in self.free if block.last_loan >= self._loans - IDLE]
        step = 1 << (size.bit_length() - 3)  # rounded up, so that batches of about one size share their blocks
        return Block(-(-size // step) * step, self._returned)


def _size(block: Block) -> int:
    return block.size


buffers = Buffers()

import gc

import pytest
import torch

from ghr.ops import buffers as module
from ghr.ops.buffers import SMALL, Buffers

LIKE = torch.zeros(1)
ROWS = SMALL // 4


def test_memory_is_lent_again_only_when_its_tensor_is_gone():
    buffers = Buffers()
    first = buffers.empty((ROWS, 2), LIKE)
    place = first.data_ptr()
    second = buffers.empty((ROWS, 2), LIKE)
    assert second.data_ptr() != place
    view = first[3:]
    del first
    assert buffers.empty((ROWS, 2), LIKE).data_ptr() != place  # a view is still there
    del view
    assert buffers.empty((ROWS, 2), LIKE).data_ptr() == place


def test_tensors_have_the_shape_and_type_asked_for():
    buffers = Buffers()
    for shape in [(0, 5), (3, 2), (ROWS, 3), (2, ROWS, 3)]:
        for dtype in (torch.float32, torch.float64):
            tensor = buffers.empty(shape, torch.zeros(1, dtype=dtype))
            assert tensor.shape == shape
            assert tensor.dtype == dtype
            assert tensor.is_contiguous()
            tensor.fill_(1)


def test_about_the_same_size_shares_a_block_and_another_size_does_not():
    buffers = Buffers()
    for rows in (9 * ROWS, 9 * ROWS - 5, 9 * ROWS + 50):
        buffers.empty((rows,), LIKE)
    assert len(buffers.blocks) == 1
    buffers.empty((30 * ROWS,), LIKE)
    assert len(buffers.blocks) == 2


def test_blocks_that_serve_nobody_are_given_back(monkeypatch):
    monkeypatch.setattr(module, "IDLE", 3)
    buffers = Buffers()
    buffers.empty((10 * ROWS,), LIKE)
    held = buffers.empty((50 * ROWS,), LIKE)
    for _ in range(5):
        buffers.empty((ROWS,), LIKE)
    kept = buffers.empty((200 * ROWS,), LIKE)
    sizes = sorted(block.memory.nbytes for block in buffers.blocks)
    assert len(sizes) == 3
    assert sizes[1] >= held.nbytes
    assert sizes[2] >= kept.nbytes
    gc.collect()


@pytest.mark.parametrize("use", ["gradient", "clone"])
def test_tensors_live_on_in_what_needs_them(use):
    buffers = Buffers()
    tensor = buffers.empty((ROWS,), LIKE).fill_(2)
    if use == "gradient":
        weight = torch.ones(ROWS, requires_grad=True)
        product = (weight * tensor).sum()
        del tensor
        buffers.empty((ROWS,), LIKE).fill_(7)
        product.backward()
        assert (weight.grad == 2).all()
    else:
        copy = tensor.clone()
        del tensor
        buffers.empty((ROWS,), LIKE).fill_(7)
        assert (copy == 2).all()

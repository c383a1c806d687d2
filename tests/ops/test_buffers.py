import gc
import threading
from concurrent.futures import ThreadPoolExecutor

import pytest
import torch

from ghr.ops import buffers as module
from ghr.ops.buffers import SMALL, Buffers
from ghr.ops.kernels.arrays import LINE
from ghr.ops.neighbours import as_array

LIKE = torch.zeros(1)
ROWS = SMALL // 4


def lend(buffers):
    return buffers.empty((ROWS, 2), LIKE)


# Everything that may outlive the tensor it came from.
HOLDERS = {
    "the tensor": lambda tensor: tensor,
    "a slice": lambda tensor: tensor[3:],
    "a transpose": lambda tensor: tensor.t(),
    "a view of a view": lambda tensor: tensor.view(-1)[5:][:2],
    "a row": lambda tensor: tensor[0, 0],
    "detached": lambda tensor: tensor.detach(),
    "its storage": lambda tensor: tensor.untyped_storage(),
    "as another type": lambda tensor: tensor.view(torch.int32),
    "an array of numpy": lambda tensor: as_array(tensor),
    "a view of an array": lambda tensor: tensor.numpy()[1:],
    "memory": lambda tensor: memoryview(tensor.numpy()),
    "a parameter": torch.nn.Parameter,
    "what autograd saved": lambda tensor: (torch.ones(ROWS, 2, requires_grad=True) * tensor).sum(),
    "a cycle": lambda tensor: (lambda box: (box.append(box), box)[1])([tensor]),
}


@pytest.mark.parametrize("rows", [ROWS, ROWS + 1, 3 * ROWS])
def test_memory_begins_on_a_line_of_the_cache(rows):
    assert Buffers().empty((rows, 2), LIKE).data_ptr() % LINE == 0


@pytest.mark.parametrize("name", HOLDERS)
def test_memory_is_lent_again_only_when_nothing_shares_it_any_more(name):
    buffers = Buffers()
    tensor = lend(buffers).fill_(1)
    place = tensor.data_ptr()
    holder = HOLDERS[name](tensor)
    del tensor
    gc.collect()
    others = [lend(buffers) for _ in range(3)]
    assert len({place, *(other.data_ptr() for other in others)}) == 4
    assert len(buffers.lent) == 4
    del holder
    gc.collect()
    others.append(lend(buffers))
    assert others[-1].data_ptr() == place
    assert len(buffers.lent) == 4
    assert not buffers.free


def test_tensors_have_the_shape_and_type_asked_for():
    buffers = Buffers()
    for shape in [(0, 5), (3, 2), (ROWS, 3), (2, ROWS, 3)]:
        for dtype in (torch.float32, torch.float64):
            tensor = buffers.empty(shape, torch.zeros(1, dtype=dtype))
            assert tensor.shape == shape
            assert tensor.dtype == dtype
            assert tensor.is_contiguous()
            tensor.fill_(1)


def test_gradients_are_added_up_where_they_are():
    buffers, places = Buffers(), []

    class Same(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x.clone()

        @staticmethod
        def backward(ctx, grad):
            out = lend(buffers).copy_(grad)
            places.append(out.data_ptr())
            return out

    x = torch.ones(ROWS, 2, requires_grad=True)
    x.register_hook(lambda grad: places.append(grad.data_ptr()))
    torch.autograd.backward([Same.apply(x).sum() + Same.apply(x).sum()])
    assert places[2] == places[0]
    assert torch.equal(x.grad, torch.full((ROWS, 2), 2.0))


def test_about_the_same_size_shares_a_block_and_another_size_does_not():
    buffers = Buffers()
    for rows in (9 * ROWS, 9 * ROWS - 5, 9 * ROWS + 50):
        buffers.empty((rows,), LIKE)
    assert len(buffers.free) + len(buffers.lent) == 1
    buffers.empty((30 * ROWS,), LIKE)
    assert len(buffers.free) + len(buffers.lent) == 2


def test_blocks_that_serve_nobody_are_given_back(monkeypatch):
    monkeypatch.setattr(module, "IDLE", 3)
    buffers = Buffers()
    buffers.empty((10 * ROWS,), LIKE)
    held = buffers.empty((50 * ROWS,), LIKE)
    for _ in range(5):
        buffers.empty((ROWS,), LIKE)
    kept = buffers.empty((200 * ROWS,), LIKE)
    assert [block.memory.nbytes < 10 * SMALL for block in buffers.free] == [True]
    del held, kept
    buffers.empty((ROWS,), LIKE)
    assert sorted(block.memory.nbytes >= 50 * SMALL for block in buffers.free) == [True, True]


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


def test_no_two_threads_hold_the_same_block():
    buffers = Buffers()

    def work(number):
        kept = []
        for turn in range(300):
            tensor = buffers.empty((ROWS + 16 * (turn % 5),), LIKE)
            tensor.fill_(number)
            kept.append(tensor[turn:])  # views outlive their tensors, some for longer than others
            if turn % 3 == 0:
                kept = kept[-(turn % 7) :]
            if any(not bool((view == number).all()) for view in kept):
                return f"thread {number} found foreign numbers"
        return None

    with ThreadPoolExecutor(6) as pool:
        assert [found for found in pool.map(work, range(6)) if found] == []


def test_a_tensor_may_die_in_another_thread_while_blocks_are_searched():
    buffers = Buffers()
    handed: list = []
    stop = threading.Event()

    def drop():
        while not stop.is_set() or handed:
            if handed:
                handed.pop()

    thread = threading.Thread(target=drop)
    thread.start()
    for turn in range(2000):
        tensor = lend(buffers)
        tensor[0, 0] = turn
        assert tensor[0, 0] == turn
        handed.append(tensor)
        del tensor
    stop.set()
    thread.join(60)
    assert not thread.is_alive()


def test_a_block_may_come_back_while_the_pool_is_locked():
    buffers = Buffers()
    tensor = lend(buffers)
    place = tensor.data_ptr()
    with buffers._lock:
        del tensor  # would wait for itself forever if coming back took the lock
    assert lend(buffers).data_ptr() == place

import multiprocessing
from collections.abc import Iterator
from multiprocessing.context import ForkServerContext

import pytest
import torch


@pytest.fixture(scope="session")
def workers() -> ForkServerContext:
    """Starts processes that have torch imported already, which saves seconds for each."""
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(["torch", "torch_geometric", "lightning_fabric", "ghr.train"])
    first = context.Process(target=int)  # The server itself starts with the first process.
    first.start()
    first.join()
    return context


@pytest.fixture(autouse=True)
def one_thread() -> Iterator[None]:
    """Tiny tensors gain nothing from threads and lose much where other processes want the same cores."""
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(threads)

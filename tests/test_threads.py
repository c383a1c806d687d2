import os
import subprocess
import sys

import numba
import pytest
import torch

from ghr.threads import available_cores, start_threads, use_threads


def test_threads_are_set_and_set_back():
    start_threads(kernels=True)
    before = torch.get_num_threads(), numba.get_num_threads()
    with use_threads(1):
        assert (torch.get_num_threads(), numba.get_num_threads()) == (1, 1)
    assert (torch.get_num_threads(), numba.get_num_threads()) == before


def test_threads_are_set_back_after_an_error_and_numba_takes_what_it_can():
    before = torch.get_num_threads()
    seen = []

    def fail():
        with use_threads(1000):
            seen.append(numba.get_num_threads())
            raise RuntimeError

    with pytest.raises(RuntimeError):
        fail()
    assert seen == [numba.config.NUMBA_NUM_THREADS]
    assert torch.get_num_threads() == before


def test_the_first_forward_pass_leaves_the_threads_of_pytorch_alone():
    script = """
import torch
import ghr
from ghr.testing import random_graph

torch.set_num_threads(1)
model = ghr.GHR(1, 8, 1, steps=1)
model(model.prepare(random_graph(20, 40, seed=0)))
print(torch.get_num_threads())
"""
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=300)
    assert done.stdout.strip() == "1", done.stderr


def test_there_is_a_core():
    assert available_cores() >= 1


FORKING = """
import multiprocessing, sys
import torch
import ghr
from ghr import ops
from ghr.testing import random_graph

torch.set_num_threads(2)
ops.use(sys.argv[1])
model = ghr.GHR(1, 32, 1, steps=1)
graph = model.prepare(random_graph(2000, 6000, seed=0))


def learn():
    model.zero_grad()
    prediction = model(graph)
    prediction.square().sum().backward()
    return prediction.sum().item(), sum(value.grad.sum().item() for value in model.parameters())
"""

CHILD = """
def work(queue):
    with ghr.threads.use_threads(2):
        queue.put(learn())


before, context = learn(), multiprocessing.get_context("fork")
queue = context.Queue()
child = context.Process(target=work, args=(queue,))
child.start()
torch.testing.assert_close(queue.get(timeout=60), before, rtol=1e-4, atol=1e-4)
child.join()
assert child.exitcode == 0, child.exitcode
torch.testing.assert_close(learn(), before)
"""

LOADER = """
from torch.utils.data import DataLoader, Dataset


class Predictions(Dataset):
    def __len__(self):
        return 4

    def __getitem__(self, index):
        with torch.no_grad():
            return model(graph).sum()


before = learn()[0]
loader = DataLoader(Predictions(), batch_size=None, num_workers=2, timeout=60, multiprocessing_context="fork")
for total in loader:
    torch.testing.assert_close(float(total), before, rtol=1e-4, atol=1e-4)
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system cannot fork")
@pytest.mark.parametrize("backend", ["auto", "torch"])
@pytest.mark.parametrize("script", [CHILD, LOADER], ids=["child", "loader"])
def test_a_model_runs_in_a_process_forked_after_a_forward_pass(script, backend):
    done = subprocess.run(
        [sys.executable, "-c", FORKING + script, backend], capture_output=True, text=True, timeout=300
    )
    assert done.returncode == 0, done.stderr


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system cannot fork")
@pytest.mark.parametrize("call", ["learn()", "hop_eccentricity(graph.edge_index, 2000)"])
def test_what_needs_the_kernels_says_so_in_a_forked_process(call):
    script = f"""
from ghr.datasets import hop_eccentricity
learn()
if os.fork() == 0:
    try:
        {call}
    except ValueError as error:
        print(error, flush=True)
    os._exit(0)
os.wait()
"""
    done = subprocess.run(
        [sys.executable, "-c", "import os" + FORKING + script, "numba"], capture_output=True, text=True, timeout=300
    )
    assert "was forked after threads had started" in done.stdout, done.stderr
    assert "spawn" in done.stdout

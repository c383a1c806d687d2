import os
import subprocess
import sys

import pytest
import torch

from ghr import ops
from ghr.ops import backend


def test_auto_takes_kernels_where_they_compute():
    assert ops.kernels_for(torch.zeros(1))
    assert ops.kernels_for(torch.zeros(1, dtype=torch.float64))
    assert not ops.kernels_for(torch.zeros(1, dtype=torch.float16))
    assert not ops.kernels_for(torch.zeros(1, device="meta"))


def test_a_choice_holds_for_its_block():
    before = backend._backend
    with ops.using("torch"):
        assert not ops.kernels_for(torch.zeros(1))
        with ops.using("numba"):
            assert ops.kernels_for(torch.zeros(1))
            with pytest.raises(ValueError, match=r"computes 32- and 64-bit numbers on the CPU; got torch\.bfloat16"):
                ops.kernels_for(torch.zeros(1, dtype=torch.bfloat16))
    assert backend._backend == before


def test_unknown_backends_are_refused():
    with pytest.raises(ValueError, match="Unknown backend 'cuda'; known are torch, numba, auto"):
        ops.use("cuda")


def test_the_environment_chooses_at_the_start():
    script = "import torch; from ghr import ops; print(ops.kernels_for(torch.zeros(1)))"
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, env={**os.environ, backend.VARIABLE: "torch"}
    )
    assert done.stdout.strip() == "False", done.stderr

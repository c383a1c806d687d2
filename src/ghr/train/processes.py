"""One process or many, by the same script."""

import os
from collections.abc import Callable, Iterable
from typing import TypeVar, cast

import torch
from lightning_fabric import Fabric
from torch import Tensor

T = TypeVar("T")


def default_fabric() -> Fabric:
    """A launched Fabric over the processes that ``torchrun`` or SLURM started, or over this one alone."""
    devices, nodes = _processes()
    fabric = Fabric(
        accelerator="auto", devices=devices, num_nodes=nodes, strategy="ddp" if devices * nodes > 1 else "auto"
    )
    fabric.launch()
    return fabric


def on_rank_zero(fabric: Fabric, function: Callable[[], T]) -> T:
    """Call ``function`` on the first process and give its value, or its error, to all.

    Without the error the other processes would wait for a message that never comes.
    """
    value: T | None = None
    error: Exception | None = None
    if fabric.is_global_zero:
        try:
            value = function()
        except Exception as caught:
            error = caught
    value, error = fabric.broadcast((value, error))
    if error is not None:
        raise error
    return cast(T, value)


def sum_gradients(fabric: Fabric, parameters: Iterable[Tensor]) -> None:
    """Let every process have the sum of the gradients of all, those of which a process has none counting as zero."""
    trained = [parameter for parameter in parameters if parameter.requires_grad]
    gradients = [torch.zeros_like(value) if value.grad is None else value.grad for value in trained]
    if fabric.world_size > 1:
        flat = cast(Tensor, fabric.all_reduce(torch.cat([value.reshape(-1) for value in gradients]), reduce_op="sum"))
        sizes = [value.numel() for value in trained]
        gradients = [part.view_as(value) for part, value in zip(torch.split(flat, sizes), trained, strict=True)]
    for parameter, gradient in zip(trained, gradients, strict=True):
        parameter.grad = gradient


def _processes() -> tuple[int, int]:
    """Processes on each node, and nodes."""
    environment = os.environ
    if "TORCHELASTIC_RUN_ID" in environment:
        devices = int(environment["LOCAL_WORLD_SIZE"])
        return devices, int(environment["WORLD_SIZE"]) // devices
    tasks = int(environment.get("SLURM_NTASKS", "1"))
    if tasks > 1 and environment.get("SLURM_JOB_NAME") not in ("bash", "interactive"):
        return int(environment.get("SLURM_NTASKS_PER_NODE", tasks)), int(environment.get("SLURM_NNODES", "1"))
    return 1, 1

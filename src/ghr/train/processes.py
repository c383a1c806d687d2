"""One process or many, by the same script."""

import os
from collections.abc import Callable
from typing import TypeVar, cast

from lightning_fabric import Fabric

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

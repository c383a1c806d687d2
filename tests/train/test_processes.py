import pytest
from lightning_fabric import Fabric

from ghr.train.processes import _processes, default_fabric, on_rank_zero

NAMES = ("TORCHELASTIC_RUN_ID", "SLURM_NTASKS", "SLURM_NTASKS_PER_NODE", "SLURM_NNODES", "SLURM_JOB_NAME")


@pytest.mark.parametrize(
    ("environment", "expected"),
    [
        ({}, (1, 1)),
        ({"WORLD_SIZE": "8"}, (1, 1)),
        ({"TORCHELASTIC_RUN_ID": "a", "WORLD_SIZE": "8", "LOCAL_WORLD_SIZE": "4"}, (4, 2)),
        ({"TORCHELASTIC_RUN_ID": "a", "WORLD_SIZE": "1", "LOCAL_WORLD_SIZE": "1", "SLURM_NTASKS": "4"}, (1, 1)),
        ({"SLURM_NTASKS": "6", "SLURM_NTASKS_PER_NODE": "3", "SLURM_NNODES": "2"}, (3, 2)),
        ({"SLURM_NTASKS": "6", "SLURM_NTASKS_PER_NODE": "6", "SLURM_JOB_NAME": "interactive"}, (1, 1)),
        ({"SLURM_NTASKS": "1"}, (1, 1)),
    ],
)
def test_processes_come_from_the_launcher(
    monkeypatch: pytest.MonkeyPatch, environment: dict[str, str], expected: tuple[int, int]
) -> None:
    for name in NAMES:
        monkeypatch.delenv(name, raising=False)
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    assert _processes() == expected


def test_one_process_by_default() -> None:
    fabric = default_fabric()
    assert (fabric.world_size, fabric.global_rank) == (1, 0)


def test_first_process_gives_its_value_or_its_error() -> None:
    fabric = Fabric(accelerator="cpu", devices=1)
    assert on_rank_zero(fabric, lambda: 3) == 3
    with pytest.raises(ZeroDivisionError):
        on_rank_zero(fabric, lambda: 1 // 0)

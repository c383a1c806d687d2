"""Peak memory of training by effective depth."""

from dataclasses import dataclass
from typing import Any

from ghr.bench.measure import in_fresh_process
from ghr.paper.item import Place, Report
from ghr.paper.markdown import markdown_table
from ghr.paper.row import Row
from ghr.progress import track

LOOPS = ((4, 1, 2), (4, 1, 4), (4, 2, 4), (4, 3, 6))
MB = 2**20
# What the paper prints: task, batch size, effective depth, peak memory of the GPU.
REPORTED = (("ECHO-Energy", 64, 16, "188 MB"), ("ECHO-SSSP", 128, 72, "1.03 GB"))

_CLAIM = """\
The paper reports the peak memory of a GPU in training (`torch.cuda.max_memory_allocated`, d = 32) by effective depth
R x T_H x T_L, on ECHO:"""
_OURS = """\
Ours is something else, and no number here compares with those above: the resident memory of a fresh process on the CPU,
at its peak above what it held before the first of two training steps, on a batch of 32 random geometric graphs of 325
nodes, d = 32, GatedGINE, one thread. Beside the engine stands the same model in plain PyTorch Geometric code. What
compares is how memory grows with depth."""


@dataclass(frozen=True)
class Memory:
    """Peak memory of a training step, by the engine and by plain code.

    Args:
        loops: The loops ``(R, T_H, T_L)`` to measure.
        quick: Tiny graphs: whether it runs, not how much it takes.
    """

    name: str = "table-memory"
    title: str = "Peak memory of training by effective depth"
    rows: tuple[Row, ...] = ()  # nothing is trained
    loops: tuple[tuple[int, int, int], ...] = LOOPS
    quick: bool = False

    def report(self, place: Place) -> Report:
        """Measure every depth in processes of its own."""
        measured: list[dict[str, Any]] = []
        for loops in track(self.loops, "memory", unit="depth"):
            usage = {
                name: in_fresh_process("A", name, count=1, quick=self.quick, loops=loops) for name in ("ghr", "plain")
            }
            steps, t_high, t_low = loops
            above = {name: used.above for name, used in usage.items()}
            measured.append({"loops": loops, "depth": steps * t_high * t_low, "above": above})
        paper = markdown_table(
            ["task", "batch", "depth", "peak"], [[task, str(n), str(d), peak] for task, n, d, peak in REPORTED]
        )
        lines = [
            [
                str(depth["depth"]),
                " x ".join(map(str, depth["loops"])),
                *(f"{depth['above'][name] / MB:.0f} MB" for name in ("ghr", "plain")),
                f"{depth['above']['ghr'] / max(depth['above']['plain'], 1):.3f}",
            ]
            for depth in measured
        ]
        ours = markdown_table(["depth", "R x T_H x T_L", "engine", "plain PyG", "engine / plain"], lines)
        return Report("\n\n".join([_CLAIM, paper, _OURS, ours]), {"measured": measured, "quick": self.quick})

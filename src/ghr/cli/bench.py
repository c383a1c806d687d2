"""``ghr bench``: speed and memory against plain code, in one run."""

import json
import logging
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numba
import torch
import tyro

from ghr.bench import select
from ghr.bench.compare import cold_start, compare, compare_memory, growth, scaling
from ghr.bench.floor import product_speed
from ghr.bench.model_work import ModelWork
from ghr.bench.report import page, tables, targets_met
from ghr.bench.workloads import Workload
from ghr.cli.table import table
from ghr.files import write_text
from ghr.progress import track
from ghr.threads import available_cores, use_threads
from ghr.train.provenance import machine, versions

logger = logging.getLogger(__name__)


@dataclass
class Bench:
    """Measure time and memory against plain PyTorch Geometric code with the same weights, in turns, in one run.

    A, Aw, A-gcn, A-gat, A-adgn, B, C, C64 and H are training steps of GHR, V-select and V-sum of its values, V-min of
    min-plus, S of plain stacks; D is inference on a million nodes, E and F are coarsening, G is attention, I is making
    a batch.
    """

    workloads: tyro.conf.Positional[tuple[str, ...]] = ()
    """Names of the workloads; all by default."""
    repeats: int = 5
    """Times each is measured, in turn with its rival, and several times in each what is short; the median counts."""
    threads: int | None = None
    """Threads of both; all cores by default."""
    quick: bool = False
    """Tiny graphs and at most two repeats: whether it runs, not how fast."""
    memory: bool = True
    """Measure memory, each workload in processes of its own."""
    floor: bool = True
    """Compare with the time of the matrix products alone, at the peak of this machine."""
    scaling: bool = False
    """Also measure one thread against two."""
    cold: bool = False
    """Also measure the first call in a new process, without and with compiled code on disk."""
    sizes: tuple[int, ...] = ()
    """Also measure inference on single graphs of these sizes."""
    out: Path | None = None
    """JSON file for all figures, the versions and the machine."""
    page: Path | None = None
    """Markdown file for the tables, such as docs/bench.md."""
    json: bool = False
    """Print all figures, the versions and the machine as JSON in place of the tables."""
    quiet: bool = False
    """Say only the tables."""

    def run(self) -> None:
        """Measure, print, and write."""
        chosen = self._chosen()
        count = self.threads or available_cores()
        with use_threads(count):
            record = self._measure(chosen, count)
        if self.json:
            print(json.dumps(record, indent=2))
        else:
            for title, header, rows in tables(record):
                print(f"{title}\n{table(header, rows)}\n")
            met = [each for row in record["workloads"] for each in row["met"].values()]
            print(f"{sum(met)} of {len(met)} targets met, {count} threads.")
        if self.out is not None:
            write_text(self.out, json.dumps(record, indent=2) + "\n")
        if self.page is not None:
            write_text(self.page, page(record))

    def _chosen(self) -> list[Workload]:
        """Find every mistake before anything is measured."""
        chosen = select(self.workloads)
        for name, value in {
            "repeats": self.repeats,
            "threads": self.threads,
            "sizes": min(self.sizes, default=1),
        }.items():
            if value is not None and value < 1:
                raise ValueError(f"bench needs {name} of at least 1; got {name}={value}.")
        if self.threads is not None and self.threads > available_cores():
            raise ValueError(f"This machine has {available_cores()} cores for us; got threads={self.threads}.")
        for option, kind, file in (("--out", "JSON", self.out), ("--page", "Markdown", self.page)):
            if file is not None and file.is_dir():
                raise IsADirectoryError(f"{option} takes a {kind} file, but {file} is a folder.")
            if file is not None and not file.parent.is_dir():
                raise FileNotFoundError(f"The folder {file.parent} for the {kind} file does not exist.")
        models = [workload for workload in chosen if isinstance(workload, ModelWork)]
        if (self.scaling or self.cold) and not models:
            raise ValueError("--scaling and --cold are about models; none of the workloads chosen has one.")
        return [workload.quick() for workload in chosen] if self.quick else chosen

    def _measure(self, chosen: list[Workload], count: int) -> dict[str, Any]:
        repeats = min(self.repeats, 2) if self.quick else self.repeats
        models = [workload for workload in chosen if isinstance(workload, ModelWork)]
        record: dict[str, Any] = {
            "workloads": [],
            "repeats": repeats,
            "threads": count,
            "quick": self.quick,
            "versions": {**versions(), "numba": numba.__version__},
            "machine": machine(torch.device("cpu")),
        }
        if self.floor and models:
            record["product_speed"] = product_speed(256 if self.quick else 2048)
        for workload in track(chosen, "bench", unit="workload"):
            logger.info("%s: %s", workload.name, workload.title)
            row = compare(workload, repeats)
            if self.memory and isinstance(workload, ModelWork):
                row["memory"] = compare_memory(workload, count=count, quick=self.quick)
            if self.floor and isinstance(workload, ModelWork):
                row["floor_ratio"] = row["median"]["ghr"] * record["product_speed"] / row["product_flops"]
            row["met"] = targets_met(row)
            record["workloads"].append(row)
        if self.scaling:
            record["scaling"] = [scaling(workload, repeats) for workload in track(models, "scaling", unit="workload")]
        if self.cold:
            cold = track(models, "cold start", unit="workload")
            record["cold"] = [cold_start(workload, count=count, quick=self.quick) for workload in cold]
        if self.sizes:
            record["sizes"] = growth(self.sizes, count=count)
        return record

"""Mistakes that are found before any work is done and anything is written."""

import os
from pathlib import Path

import torch
from torch_geometric.data import Data

from ghr.datasets import Task
from ghr.experiment import BenchmarkGraphs, Experiment

EDGE_WIDTHS = ("edge_dim", "coarse_edge_dim")


def check_folder(option: str, folder: Path) -> None:
    """Raise an OSError if a folder can neither be used nor made; nothing is made yet.

    Args:
        option: Where the user gave it, for the sentence.
        folder: The folder.
    """
    found = next(path for path in (folder, *folder.absolute().parents) if path.exists())
    if not found.is_dir():
        raise NotADirectoryError(f"{option} takes a folder, but {found} is a file.")
    if not os.access(found, os.W_OK | os.X_OK):
        raise PermissionError(f"{option} takes a folder to write into, but {found} is not writable.")


def check_experiment(experiment: Experiment) -> None:
    """Raise a ValueError for what can be seen to be wrong of an experiment on a benchmark without its graphs."""
    data = experiment.data
    if isinstance(data, BenchmarkGraphs):
        data.benchmark.share_out(data.graphs)
        if data.source is not None and data.source not in data.benchmark.sources:
            known = ", ".join(data.benchmark.sources)
            raise ValueError(f"{data.name} has no source {data.source!r}; it has {known}.")
    _check_options(experiment)


def _check_options(experiment: Experiment) -> None:
    """Build the model for a graph of one node, which finds most mistakes in its options."""
    entry = experiment.entry
    if any(name in experiment.options for name in EDGE_WIDTHS):
        return  # what these have to be, only the data say
    # Without edge features nothing is coarsened, which not every graph can be.
    plain = {"edge_dim": None} if "edge_dim" in entry.build.option_names() else {}
    lone = Data(x=torch.zeros(1, 1), edge_index=torch.zeros(2, 0, dtype=torch.long), y=torch.zeros(1, 1))
    try:
        entry.for_data(lone, Task("node"), plain, experiment.suggested)
    except ValueError:
        return  # a model that needs more than this to be built
    entry.for_data(lone, Task("node"), {**plain, **experiment.options}, experiment.suggested)

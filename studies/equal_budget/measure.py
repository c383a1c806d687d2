"""How many epochs of every system take the processor time of its column: the numbers of ``ghr/paper/epochs.py``.

Every row is trained for two short epochs on a small part of its graphs; the second one compiles nothing any more and
tells what a batch of training and of validation costs. Two batches are enough where graphs are slow to make:
``--batches 2 --only peptides-struct echo-charge echo-energy`` computes 96 peptides and 96 other molecules. Trees have
rounds and no epochs, and are left out. Run on one thread:

    OMP_NUM_THREADS=1 NUMBA_NUM_THREADS=1 python studies/equal_budget/measure.py --data data
"""

import argparse
import tempfile
import time
from dataclasses import replace
from pathlib import Path

from ghr.paper.epochs import EPOCHS
from ghr.paper.equal import Column, System
from ghr.paper.lrgb import LRGB_COLUMNS, LRGB_SYSTEMS
from ghr.paper.row import Row
from ghr.paper.systems import ECHO_CHEM_COLUMNS, ECHO_COLUMNS, ECHO_SYSTEMS, LRIM_COLUMNS, LRIM_SYSTEMS

TABLES = (
    ((*ECHO_COLUMNS, *ECHO_CHEM_COLUMNS), ECHO_SYSTEMS),
    (LRIM_COLUMNS, LRIM_SYSTEMS),
    (LRGB_COLUMNS, LRGB_SYSTEMS),
)


def time_epoch(column: Column, system: System, data: Path, batches: int = 4) -> float | None:
    """Return the processor time of one epoch on all graphs of the column, in seconds; ``None`` where one is enough.

    Args:
        column: The benchmark.
        system: What is trained.
        data: Folder of the generated graphs.
        batches: How many batches of the column are trained on; the time is scaled to all of its graphs.
    """
    row = replace(column, epochs={system.key: 2}, tests=()).row(system)
    assert row is not None
    train = batches * column.training["batch_size"]
    small = {"train": train, "val": max(16, train // 5), "test": 16}  # molecules are computed 16 at a time
    row = replace(row, setup=replace(row.setup, graphs=small))
    moments: list[float] = []
    with tempfile.TemporaryDirectory() as folder:
        row.experiment().run(
            Path(folder, "run"), data, quiet=True, callback=lambda line: moments.append(time.process_time())
        )
    if len(moments) == 1:  # solved for
        return None
    return (moments[1] - moments[0]) * column.graphs["train"] / small["train"]


def main() -> None:
    """Print the epochs of all rows, or of those asked for."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, default=Path("data"), help="folder of the generated graphs")
    parser.add_argument("--only", nargs="*", default=[], help="keys of columns or systems")
    parser.add_argument("--missing", action="store_true", help="only what has no number yet")
    parser.add_argument("--long", action="store_true", help="rows that are trained for longer")
    parser.add_argument("--batches", type=int, default=4, help="batches of every short epoch")
    chosen = parser.parse_args()
    for columns, systems in TABLES:
        for column in columns:
            for system in systems:
                if chosen.only and not {column.key, system.key} & {*chosen.only}:
                    continue
                if system.row is not Row:
                    continue
                if chosen.missing and system.key in EPOCHS[column.key]:
                    continue
                if chosen.long and system.key not in column.long:
                    continue
                seconds = time_epoch(column, system, chosen.data, chosen.batches)
                if seconds is None:
                    print(f"{column.key} {system.key}: 1 epoch, which solves for all", flush=True)
                    continue
                minutes = column.long_minutes if chosen.long else column.minutes
                epochs = max(2, round(60 * minutes / seconds))
                print(f"{column.key} {system.key}: {seconds:.1f} s an epoch, {epochs} epochs", flush=True)


if __name__ == "__main__":
    main()

"""Measure training on parts of a large graph: memory by the size of a part, and error against the whole graph.

    python studies/large_graphs/run.py memory --out docs/large-graphs.json
    python studies/large_graphs/run.py error --out docs/large-graphs.json

Both write into the same file, each its own half. Started again, `error` goes on where it was.
"""

import argparse
import json
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np
import torch
from scipy.sparse import coo_array
from scipy.sparse.csgraph import dijkstra
from torch_geometric.data import Data

import ghr
from ghr import GHR, Coarsen, DiscountedLoss, Graclus, Task
from ghr.bench.graphs import geometric_graph
from ghr.bench.measure import peak_bytes
from ghr.files import write_text
from ghr.hierarchy.parts import Parts
from ghr.models.in_parts import InParts
from ghr.train.provenance import machine, versions

HALO = 4
LOOPS = {"steps": 4, "t_high": 2, "t_low": 2}
COUNTS = (1, 4, 16, 64)
ERROR_LOOPS = {"steps": 4, "t_high": 1, "t_low": 2}  # 8 hops, so that a halo of 8 is as wide as messages go


def make_rows(count: int) -> list[dict[str, int]]:
    """Return what is compared: the whole graph, parts with shorter and shorter halos, and a step for every part."""
    halos = [{"parts": count, "halo": halo, "batch_size": count} for halo in (8, 4, 2, 0)]
    return [{"parts": 1, "batch_size": 1}, *halos, {"parts": count, "halo": 4, "batch_size": 1}]


def measure_memory(nodes: int, counts: tuple[int, ...]) -> dict[str, Any]:
    """Measure training steps on a graph of so many nodes, in a new process for every number of parts."""
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "graph.pt"
        graph = Coarsen(Graclus(rounds=3))(geometric_graph(nodes))
        graph.y = torch.randn(nodes, 1, generator=torch.Generator().manual_seed(0))
        torch.save(graph, file)
        levels = [level.num_nodes for level in graph.levels]
        del graph
        for count in (0, *counts):
            command = [sys.executable, __file__, "step", "--graph", str(file), "--parts", str(count)]
            done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True)
            rows.append(json.loads(done.stdout.splitlines()[-1]))
            print(rows[-1], flush=True)
    return {"levels": levels, "loops": LOOPS, "channels": 32, "halo": HALO, "rows": rows}


def take_step(file: Path, count: int) -> dict[str, Any]:
    """Take a training step on the whole graph, or refresh and take one on two parts; with no parts only load it."""
    graph = torch.load(file, weights_only=True)
    torch.manual_seed(0)
    model, loss = GHR(1, 32, 1, edge_dim=1, **LOOPS), DiscountedLoss(torch.nn.MSELoss(), gamma=0.8)
    row: dict[str, Any] = {"parts": count, "nodes": graph.num_nodes}
    if count == 1:
        start = time.perf_counter()
        loss(model.rollout(graph), graph.y).backward()
        row |= {"step_seconds": time.perf_counter() - start}
    elif count > 1:
        start = time.perf_counter()
        run = InParts(model, Parts(graph, count, halo=HALO))
        run.refresh()
        row |= {"refresh_seconds": time.perf_counter() - start, "refresh_peak": peak_bytes()}
        for index in (0, count // 2):
            start = time.perf_counter()
            part = run.parts[index]
            loss(run.rollout(part), graph.y[part.nodes[: part.num_own]]).backward()
            row |= {"nodes": part.num_own, "with_halo": len(part.nodes), "step_seconds": time.perf_counter() - start}
            del part
    return {**row, "peak": peak_bytes()}


def nearest_source(nodes: int, seed: int) -> Data:
    """Return a graph in which one node in a hundred is a source, and every node asks for the hops to the nearest."""
    graph = geometric_graph(nodes, seed=seed)
    sources = np.random.default_rng(seed).choice(nodes, nodes // 100, replace=False)
    source, target = graph.edge_index.numpy()
    matrix = coo_array((np.ones(len(source)), (source, target)), shape=(nodes, nodes)).tocsr()
    hops = dijkstra(matrix, indices=sources, unweighted=True, min_only=True)
    graph.x = torch.zeros(nodes, 1).index_fill(0, torch.from_numpy(sources), 1.0)
    graph.y = torch.from_numpy(np.where(np.isfinite(hops), hops, np.nan)).float().unsqueeze(1)
    return graph


def measure_error(nodes: int, count: int, epochs: int, seeds: int, runs: Path) -> dict[str, Any]:
    """Train on the whole graph and on parts of it, and test both."""
    rows = []
    for row in make_rows(count):
        found: list[dict[str, float]] = []
        for seed in range(seeds):
            name = "-".join(f"{key}{value}" for key, value in row.items())
            run = ghr.fit(
                nearest_source(nodes, seed),
                Task("node"),
                out=runs / f"{nodes}-{epochs}-{name}-{seed}",
                seed=seed,
                epochs=epochs,
                lr=1e-2,
                jitter=False,
                hidden_channels=16,
                quiet=True,
                **ERROR_LOOPS,
                **row,
            )
            result: dict[str, Any] = run.result or {}
            score = next(iter(result["metrics"].values()))
            found.append({"mae": score, "val": result["best_val"], "seconds": result["seconds"]})
        rows.append({**row, "runs": found})
        print(rows[-1], flush=True)
    return {"nodes": nodes, "epochs": epochs, "loops": ERROR_LOOPS, "channels": 16, "rows": rows}


def main() -> None:
    """Run what the command line names."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=["memory", "error", "step"])
    parser.add_argument("--nodes", type=int, help="by default 1,000,000 for memory and 5,000 for the error")
    parser.add_argument("--parts", type=int, nargs="+", help="by default 1, 4, 16, 64 for memory, 4 for the error")
    parser.add_argument("--epochs", type=int, default=120)
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--runs", type=Path, default=Path("runs/large_graphs"))
    parser.add_argument("--graph", type=Path, help="for a single step")
    parser.add_argument("--out", type=Path)
    given = parser.parse_args()
    if given.what == "step":
        print(json.dumps(take_step(given.graph, given.parts[0])))
        return
    if given.what == "memory":
        measured = measure_memory(given.nodes or 1_000_000, tuple(given.parts or COUNTS))
    else:
        measured = measure_error(given.nodes or 5_000, (given.parts or (4,))[0], given.epochs, given.seeds, given.runs)
    measured |= {"versions": versions(), "machine": machine(torch.device("cpu"))}
    if given.out is not None:
        before = json.loads(given.out.read_text()) if given.out.exists() else {}
        write_text(given.out, json.dumps({**before, given.what: measured}, indent=1) + "\n")


if __name__ == "__main__":
    main()

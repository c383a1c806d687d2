"""Draws the pictures of the site, from bundled models and fresh graphs: `make pictures`."""

import json
import os
import re
import sys
import tempfile
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

os.environ.setdefault("GHR_BACKEND", "torch")

import numpy as np
import torch
from matplotlib import colormaps
from matplotlib.collections import LineCollection
from matplotlib.figure import Figure
from torch_geometric.data import Data

import ghr
from ghr import Coarsen, Graclus
from ghr.analysis import measure_influence, measure_range
from ghr.datasets import LRIM, RGGSSSP, ECHOSynth, mae_by_distance
from ghr.files import replacing
from ghr.hierarchy.parts import Parts
from ghr.plots.colours import COLOURS
from ghr.plots.curves import Panel, draw_curves
from ghr.plots.distances import draw_distances, draw_predictions, find_furthest
from ghr.plots.influence import draw_influence
from ghr.plots.sheet import draw_sheet
from ghr.testing import path_graph, random_graph

DOCS = Path(__file__).parent
# Models that were trained to 5 hops, and the loops that give each 48 updates of the graph, as in table-cells.
FAR = {"rgg-sssp-small-cap5": {"steps": 8, "t_low": 3}, "rgg-sssp-general": {"steps": 8, "t_low": 6}}


def main(names: Sequence[str]) -> None:
    """Draw the pictures of these names, or all of them."""
    for name in names or PICTURES:
        with tempfile.TemporaryDirectory() as data:
            figure = PICTURES[name](Path(data))
        if figure is not None:
            with replacing(DOCS / "pictures" / f"{name}.png") as temporary:
                figure.savefig(temporary, dpi=110)
        print(name)


def draw_start(data: Path) -> Figure:
    """Draw what the few lines of the page predict."""
    model = ghr.load("rgg-sssp-general")
    graph = find_furthest(RGGSSSP(data, regime="small", split="test", num_graphs=60))
    return draw_predictions(graph, {"GHR with values": model(model.prepare(graph))}, 5)


def draw_own_data(data: Path) -> None:
    """Draw graphs like those of the page: one class per node."""
    graphs = [random_graph(14, 22, seed=seed) for seed in range(8)]
    for graph in graphs:
        graph.y = (graph.x[:, :1] > 0).float()
    draw_sheet(DOCS / "pictures" / "own-data.png", graphs, title="Eight small graphs, one class per node", unit="class")


def draw_levels(data: Path) -> Figure:
    """Draw a graph, its clusters and the graph of these."""
    graph = RGGSSSP(data, regime="small", split="train", num_graphs=1)[0]
    coarse = Coarsen(Graclus(rounds=2))(graph).levels[1]
    cluster, pos = coarse.assignment.numpy(), graph.pos.numpy()
    colours = colormaps["tab20"](np.arange(coarse.num_nodes) % 20)
    centres = np.stack([pos[cluster == number].mean(axis=0) for number in range(coarse.num_nodes)])
    figure = Figure(figsize=(12, 4.2), layout="constrained")
    left, middle, right = figure.subplots(1, 3)
    _draw_graph(left, pos, graph.edge_index, np.full(len(pos), "#0072b2"), 45)
    left.set_title(f"the graph, {graph.num_nodes} nodes")
    _draw_graph(middle, pos, graph.edge_index, colours[cluster], 45)
    members = [np.stack([place, centres[number]]) for place, number in zip(pos, cluster, strict=True)]
    middle.add_collection(LineCollection(members, colors="0.2", linewidths=0.8, linestyles=":"))
    middle.set_title("clusters: nodes that were merged, pair by pair")
    _draw_graph(right, centres, coarse.edge_index, colours, 160)
    right.set_title(f"the pooled copy, {coarse.num_nodes} nodes")
    return figure


def draw_steps(data: Path) -> Figure:
    """Draw the predictions after every global step."""
    model = ghr.load("rgg-sssp-small-cap8")
    graph = find_furthest(RGGSSSP(data, regime="small", split="test", num_graphs=60))
    with torch.no_grad():
        predictions = model.rollout(model.prepare(graph))
    figure = Figure(figsize=(3.2 * (1 + len(predictions)), 3.4), layout="constrained")
    panels = figure.subplots(1, 1 + len(predictions))
    shown = {f"after step {number}": value for number, value in enumerate(predictions, start=1)} | {"truth": graph.y}
    for axes, (title, value) in zip(panels, shown.items(), strict=True):
        points = draw_distances(axes, graph, value, float(graph.y[graph.mask].max()))
        axes.set_title(title)
    figure.colorbar(points, ax=list(panels), label="hops", shrink=0.8)
    return figure


def draw_benchmarks(data: Path) -> None:
    """Draw two graphs of every family of ECHO, and lattices of LRIM."""
    echo = ECHOSynth(data, task="sssp", split="train", source="generate", num_graphs=60)
    chosen = [echo[number] for number in range(0, 60, 5)][:8]
    draw_sheet(
        DOCS / "pictures" / "echo.png", chosen, title="ECHO, rebuilt: distance from a source", unit="hops", scale=40
    )
    lattices = LRIM(data, size=16, sigma=0.6, split="train", source="generate", num_graphs=4)
    draw_sheet(
        DOCS / "pictures" / "lrim.png",
        [lattices[number] for number in range(4)],
        title="LRIM-16-hard, rebuilt: local energies",
        unit="energy",
    )


def draw_values(data: Path) -> Figure:
    """Draw the error by distance of two models that were trained to 5 hops, to 40."""
    graphs = RGGSSSP(data, regime="large", split="test", max_distance=40, num_graphs=20)
    curves = {}
    for label, name in {"GHR of the paper": "rgg-sssp-small-cap5", "GHR with values": "rgg-sssp-general"}.items():
        errors = _measure(ghr.load(name), graphs, FAR[name])
        curves[label] = {int(hops): (group["mae"], None) for hops, group in errors["by_distance"].items()}
    return draw_curves([Panel("20 graphs of 300-500 nodes, 48 low-level updates", 5, curves)])


def draw_range(data: Path) -> Figure:
    """Draw how far two models look that were trained to 5 hops, beside their errors to 40."""
    graphs = RGGSSSP(data, regime="large", split="test", max_distance=40, num_graphs=20)
    profiles, errors = {}, {}
    for label, name in {"GHR of the paper": "rgg-sssp-small-cap5", "GHR with values": "rgg-sssp-general"}.items():
        model = ghr.load(name)
        profiles[label] = measure_range(model, graphs, graphs.task, **FAR[name]).describe()
        by_distance = _measure(model, graphs, FAR[name])["by_distance"]
        errors[label] = {int(hops): group["mae"] for hops, group in by_distance.items()}
    return draw_influence(profiles, errors, in_range=5, title="20 graphs of 300-500 nodes, 48 low-level updates")


def draw_min_plus(data: Path) -> Figure:
    """Draw a graph with distances far beyond training."""
    graph = find_furthest(RGGSSSP(data, regime="large", split="test", max_distance=40, num_graphs=20))
    paper, exact = ghr.load("rgg-sssp-small-cap5"), ghr.load("rgg-sssp-min-plus")
    with torch.no_grad():
        predictions = {
            "GHR of the paper": paper(paper.prepare(graph), **FAR["rgg-sssp-small-cap5"]),
            "min-plus": exact(exact.prepare(graph), steps="auto"),
        }
    return draw_predictions(graph, predictions, 5)


def draw_speed(data: Path) -> Figure:
    """Draw the times of docs/bench.json."""
    rows = [row for row in json.loads((DOCS / "bench.json").read_text())["workloads"] if row["speedup"]]
    rows = [row for row in rows if row["name"] != "I"]  # a part of A, not the same work
    figure = Figure(figsize=(8, 3.8), layout="constrained")
    axes = figure.subplots()
    at = np.arange(len(rows))
    for offset, name, label, colour in ((-0.2, "plain", "plain PyG", "0.7"), (0.2, "ghr", "ghr", COLOURS[0])):
        axes.bar(at + offset, [row["median"][name] for row in rows], 0.4, color=colour, label=label)
    for place, row in zip(at, rows, strict=True):
        height = row["median"]["plain"]
        axes.text(place, height, f"{row['speedup']:.1f} x", ha="center", va="bottom", fontsize=9)
    axes.set_xticks(at, [row["name"] for row in rows], rotation=30)
    axes.set(ylabel="seconds, median", yscale="log", title="Time of the workloads, and how many times faster")
    axes.margins(y=0.15)
    axes.grid(alpha=0.3, axis="y")
    axes.legend(frameon=False)
    return figure


def draw_large_graphs(data: Path) -> Figure:
    """Draw a graph in parts, and the memory of docs/large-graphs.json."""
    graph = RGGSSSP(data, regime="large", split="train", num_graphs=1)[0]
    parts = Parts(Coarsen(Graclus(rounds=2))(graph), 6, halo=2)
    pos, group = graph.pos.numpy(), parts.group[parts.cluster]
    figure = Figure(figsize=(12, 4.2), layout="constrained")
    left, middle, right = figure.subplots(1, 3)
    colours = colormaps["tab10"](group)
    _draw_graph(left, pos, graph.edge_index, colours, 18)
    left.set_title(f"{graph.num_nodes} nodes in {len(parts)} parts")
    part = parts[2]
    halo, own = part.nodes[part.num_own :].numpy(), part.nodes[: part.num_own].numpy()
    colours[:, 3] = 0.12
    colours[own, 3], colours[halo, 3] = 1.0, 0.6
    _draw_graph(middle, pos, graph.edge_index, colours, 18)
    middle.set_title("one part, with a halo of 2 hops")
    measured = json.loads((DOCS / "large-graphs.json").read_text())["memory"]
    rows = [row for row in measured["rows"] if row["parts"] > 0]
    at = np.arange(len(rows))
    right.bar(at, [row["peak"] / 2**30 for row in rows], 0.6, color=COLOURS[0])
    right.axhline(measured["rows"][0]["peak"] / 2**30, color="0.4", linestyle=":", label="the graph alone")
    right.set_xticks(at, ["whole" if row["parts"] == 1 else f"{row['parts']} parts" for row in rows])
    right.set(ylabel="GiB, peak of the process", title=f"training on {measured['levels'][0]:,} nodes")
    right.grid(alpha=0.3, axis="y")
    right.legend(frameon=False)
    return figure


def draw_diffusion(data: Path) -> Figure:
    """Draw how far the mark of the source has come, as in the model of the page."""
    graph = RGGSSSP(data, regime="large", split="train", num_graphs=1, max_distance=40)[0]
    source, target = graph.edge_index
    degree = torch.bincount(target, minlength=graph.num_nodes).clamp(min=1).unsqueeze(1)
    figure = Figure(figsize=(11, 3.9), layout="constrained")
    state, panels = graph.x[:, :1].float(), figure.subplots(1, 3)
    shown = dict(zip((1, 5, 20), panels, strict=True))
    for hop in range(1, 21):
        state = torch.zeros_like(state).index_add(0, target, state[source]) / degree
        state = torch.lerp(state, graph.x[:, :1].float(), 0.5)
        if hop in shown:
            share = (state.clamp(min=1e-9).log10() + 9) / 9
            points = draw_distances(shown[hop], graph, 9 * share, 9.0)
            shown[hop].set_title(f"hops={hop}")
    bar = figure.colorbar(points, ax=list(panels), label="share of the mark that arrived", shrink=0.8)
    bar.set_ticks([0, 3, 6, 9], labels=["none", "$10^{-6}$", "$10^{-3}$", "1"])
    return figure


def draw_necklaces(data: Path) -> None:
    """Draw graphs of the benchmark that the page writes, made by the page's own lines."""
    code = re.findall(r"```python\n(.*?)```", (DOCS / "write-a-benchmark.md").read_text(), re.DOTALL)[0]
    names: dict[str, Any] = {"__name__": "snippet"}
    exec(code.partition("BENCHMARKS[")[0], names)
    rings = names["Necklaces"](data, split="train", source="generate", num_graphs=8, workers=1)
    draw_sheet(
        DOCS / "pictures" / "necklaces.png",
        [Data(x=0 * ring.x, edge_index=ring.edge_index, y=ring.x) for ring in rings],
        title="Necklaces of " + ", ".join(f"{ring.y.item():.0f}" for ring in rings),
        unit="marked",
    )


def draw_models(data: Path) -> Figure:
    """Draw how much untrained models let a node know of others, by distance on a path."""
    path, names = path_graph(61, edge_dim=1), ("gcn", "drew", "gcn-vn", "gps", "ghr")
    figure = Figure(figsize=(8, 4), layout="constrained")
    axes = figure.subplots()
    for name, colour in zip(names, COLOURS, strict=False):
        torch.manual_seed(0)
        model = ghr.MODELS[name].for_data(path, ghr.Task("node"), {}, {"steps": 2, "t_high": 2, "t_low": 2}).eval()
        influence = measure_influence(model, model.prepare(path.clone()), [30])
        seen = influence[0, 30:].double().numpy()
        axes.plot(np.where(seen > 0, seen / seen[0], np.nan), marker=".", color=colour, label=name)
    axes.set(xlabel="distance in hops", ylabel="influence on a node's prediction", yscale="log")
    axes.set_title("Untrained models on a path: how far they look")
    axes.legend(frameon=False)
    return figure


def draw_cell(data: Path) -> Figure:
    """Draw what one update of a node reads."""
    graph = RGGSSSP(data, regime="small", split="train", num_graphs=1)[0]
    coarse = Coarsen(Graclus(rounds=2))(graph).levels[1]
    pos, cluster = graph.pos.numpy(), coarse.assignment.numpy()
    node = int(torch.bincount(graph.edge_index[1]).argmax())
    near = graph.edge_index[0][graph.edge_index[1] == node].numpy()
    colours = np.full(len(pos), "#cccccc", dtype=object)
    colours[near] = COLOURS[0]
    colours[node] = "#d55e00"
    figure = Figure(figsize=(7, 4.6), layout="constrained")
    axes = figure.subplots()
    _draw_graph(axes, pos, graph.edge_index, colours, 50)
    arrow = {"arrowstyle": "-|>", "shrinkA": 4, "shrinkB": 6}
    for other in near:
        axes.annotate("", pos[node], pos[other], arrowprops=arrow | {"color": COLOURS[0]})
    top = np.array([pos[:, 0].max() + 0.25, pos[node][1]])
    axes.scatter(*top, s=260, color="#009e73", marker="s", zorder=3)
    axes.annotate("", pos[node], top, arrowprops=arrow | {"color": "#009e73", "linewidth": 2})
    axes.text(
        top[0], top[1] + 0.09, f"its cluster\n({(cluster == cluster[node]).sum()} nodes)", ha="center", va="bottom"
    )
    axes.set_title("One update of a node (orange): neighbours (blue) and the level above (green)")
    return figure


def draw_rooms(data: Path) -> Figure:
    """Draw which room may use which."""
    figure = Figure(figsize=(12, 3.4), layout="constrained")
    axes = figure.subplots()
    rooms = {
        "hierarchy": (0, 1),
        "ops": (1, 2),
        "nn": (2, 2),
        "transforms": (1, 0),
        "datasets": (2, 0),
        "models": (3, 1),
        "train": (4, 1),
        "experiment": (5, 1),
        "search": (6, 2),
        "paper": (6, 0),
        "cli": (7, 1),
    }
    uses = [
        ("hierarchy", "ops"),
        ("hierarchy", "transforms"),
        ("ops", "nn"),
        ("transforms", "datasets"),
        ("nn", "models"),
        ("datasets", "models"),
        ("models", "train"),
        ("train", "experiment"),
        ("experiment", "search"),
        ("experiment", "paper"),
        ("search", "cli"),
        ("paper", "cli"),
    ]
    _draw_boxes(axes, rooms, uses)
    return figure


def draw_commands(data: Path) -> Figure:
    """Draw what the commands read and write."""
    figure = Figure(figsize=(12, 3.6), layout="constrained")
    axes = figure.subplots()
    places = {
        "ghr data": (0, 2),
        "benchmark": (1.5, 2),
        "your folder": (1.5, 0),
        "ghr train\nghr search": (3, 2),
        "ghr fit": (3, 0),
        "run directory": (4.5, 1),
        "ghr eval": (6, 2),
        "ghr view": (6, 1),
        "ghr predict": (6, 0),
        "scores": (8.2, 2),
        "page": (8.2, 1),
        "predictions": (8.2, 0),
    }
    flow = [
        ("ghr data", "benchmark"),
        ("benchmark", "ghr train\nghr search"),
        ("your folder", "ghr fit"),
        ("ghr train\nghr search", "run directory"),
        ("ghr fit", "run directory"),
        ("run directory", "ghr eval"),
        ("run directory", "ghr view"),
        ("run directory", "ghr predict"),
        ("ghr eval", "scores"),
        ("ghr view", "page"),
        ("ghr predict", "predictions"),
    ]
    _draw_boxes(axes, places, flow, marked=[name for name in places if name.startswith("ghr")])
    return figure


def _draw_boxes(
    axes: Any,
    places: Mapping[str, tuple[float, float]],
    arrows: Sequence[tuple[str, str]],
    marked: Sequence[str] = (),
) -> None:
    for start, end in arrows:
        arrow = {"arrowstyle": "-|>", "color": "0.4", "shrinkA": 42, "shrinkB": 42}
        axes.annotate("", places[end], places[start], arrowprops=arrow)
    for name, (x, y) in places.items():
        colour = "#dbe9f6" if not marked or name in marked else "#f3f3f3"
        box = {"boxstyle": "round,pad=0.5", "facecolor": colour, "edgecolor": "0.6"}
        axes.text(x, y, name, ha="center", va="center", bbox=box, fontsize=11)
    across, up = zip(*places.values(), strict=True)
    axes.set(xlim=(min(across) - 0.6, max(across) + 0.6), ylim=(min(up) - 0.6, max(up) + 0.6))
    axes.set_axis_off()


def _draw_graph(axes: Any, pos: np.ndarray, edge_index: torch.Tensor, colours: np.ndarray, size: float) -> None:
    axes.add_collection(LineCollection(list(pos[edge_index.T.numpy()]), colors="0.8", linewidths=0.8, zorder=0))
    axes.scatter(*pos.T, c=list(colours), s=size, edgecolors="white", zorder=2)
    axes.set_aspect("equal", adjustable="datalim")
    axes.set_axis_off()


def _measure(model: ghr.GraphModel, graphs: RGGSSSP, loops: Mapping[str, int]) -> dict[str, Any]:
    guesses, targets, hops = [], [], []
    with torch.no_grad():
        for index in range(len(graphs)):
            graph: Data = graphs[index]
            guesses.append(model(model.prepare(graph), **loops)[graph.mask])
            targets.append(graph.y[graph.mask])
            hops.append(graph.hops[graph.mask])
    return dict(mae_by_distance(torch.cat(guesses), torch.cat(targets), torch.cat(hops), 5))


PICTURES: dict[str, Callable[[Path], Figure | None]] = {
    "models": draw_models,
    "start": draw_start,
    "own-data": draw_own_data,
    "levels": draw_levels,
    "steps": draw_steps,
    "benchmarks": draw_benchmarks,
    "values": draw_values,
    "range": draw_range,
    "min-plus": draw_min_plus,
    "speed": draw_speed,
    "large-graphs": draw_large_graphs,
    "diffusion": draw_diffusion,
    "necklaces": draw_necklaces,
    "cell": draw_cell,
    "rooms": draw_rooms,
    "commands": draw_commands,
}

if __name__ == "__main__":
    main(sys.argv[1:])

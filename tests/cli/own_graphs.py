"""Folders of a user's own graphs for tests: rings with a mark on one node."""

import random
from pathlib import Path

SMALL = ["--epochs", "2", "--set", "hidden_channels=4", "steps=1", "t_high=1", "t_low=1", "--quiet"]


def write_rings(folder: Path, count: int = 12, *, size: int = 5, seed: int = 0, targets: bool = True) -> Path:
    """Write rings: nodes have a size, a colour and a distance, edges a length and a load, graphs a kind."""
    folder.mkdir(parents=True, exist_ok=True)
    choose = random.Random(seed)
    nodes, edges, graphs = ["graph,node,size,colour,far"], ["graph,source,target,length,load"], ["graph,kind"]
    for number in range(count):
        start = choose.randrange(size)
        graphs.append(f"ring {number},{choose.choice(['odd', 'even']) if targets else ''}")
        for node in range(size):
            hops = min((node - start) % size, (start - node) % size)
            colour = "red" if node == start else choose.choice(["green", "blue"])
            nodes.append(f"ring {number},n{node},{choose.gauss(1e6, 10):.3f},{colour},{hops if targets else ''}")
            load = choose.random() if targets else ""
            edges.append(f"ring {number},n{node},n{(node + 1) % size},{choose.random():.3f},{load}")
    for name, rows in (("nodes", nodes), ("edges", edges), ("graphs", graphs)):
        (folder / f"{name}.csv").write_text("\n".join(rows) + "\n", encoding="utf-8")
    return folder

"""Random graphs, as strange as users' graphs are, and plain breadth-first distances."""

import torch
from hypothesis import strategies as st
from torch import Tensor

INFINITE = 10**9


@st.composite
def edge_lists(draw: st.DrawFn, max_nodes: int = 14) -> tuple[Tensor, int]:
    """Edges with self loops, repeats and one-way edges, among nodes some of which may be isolated."""
    num_nodes = draw(st.integers(1, max_nodes))
    node = st.integers(0, num_nodes - 1)
    pairs = draw(st.lists(st.tuples(node, node), max_size=3 * num_nodes))
    if draw(st.booleans()):
        pairs = pairs + [(v, u) for u, v in pairs]
    return torch.tensor(pairs, dtype=torch.long).reshape(-1, 2).T.contiguous(), num_nodes


def distances(edge_index: Tensor, num_nodes: int) -> list[list[int]]:
    """Hop distances between all pairs, along the direction of the edges."""
    out: list[set[int]] = [set() for _ in range(num_nodes)]
    for u, v in edge_index.T.tolist():
        out[u].add(v)
    rows = []
    for source in range(num_nodes):
        row = [INFINITE] * num_nodes
        row[source] = 0
        front = [source]
        while front:
            front = [v for u in front for v in out[u] if row[v] == INFINITE and not row.__setitem__(v, row[u] + 1)]
        rows.append(row)
    return rows

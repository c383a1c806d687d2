"""GHR and its layers once more, slowly: plain loops over nodes and edges, one vector at a time.

Nothing here shares code with the library. Weights are read by name out of a ``state_dict``, states are lists with one
vector per node, and every sum over neighbours, members or graphs is a Python loop.
"""

import math
from dataclasses import dataclass, field

import numpy as np

Vector = np.ndarray
States = list[Vector]
Weights = dict[str, np.ndarray]


@dataclass
class Edge:
    source: int
    target: int
    feature: Vector | None = None
    initial: Vector | None = None


@dataclass
class Graph:
    """One level: a number of nodes, a list of edges, and for every node below the node here that it belongs to."""

    num_nodes: int
    edges: list[Edge]
    parent: list[int] = field(default_factory=list)


def read_weights(module) -> Weights:
    return {name: value.detach().double().numpy() for name, value in module.state_dict().items()}


def read_levels(data) -> list[Graph]:
    """Take the levels of a graph (or batch) out of their tensors."""
    levels = []
    for level in getattr(data, "levels", None) or [data]:
        features = [None] * level.edge_index.shape[1]
        if level.edge_attr is not None:
            features = [np.array(row, dtype=float).reshape(-1) for row in level.edge_attr.tolist()]
        ends = zip(*level.edge_index.tolist(), strict=True)
        edges = [Edge(s, t, feature) for (s, t), feature in zip(ends, features, strict=True)]
        assignment = getattr(level, "assignment", None)
        levels.append(Graph(int(level.num_nodes), edges, [] if assignment is None else assignment.tolist()))
    return levels


def read_rows(tensor) -> States:
    return [np.array(row, dtype=float) for row in tensor.tolist()]


# Small parts


def under(weights: Weights, prefix: str) -> Weights:
    """The weights of a submodule."""
    return {name[len(prefix) + 1 :]: value for name, value in weights.items() if name.startswith(prefix + ".")}


def linear(weights: Weights, name: str, v: Vector) -> Vector:
    out = weights[f"{name}.weight"] @ v
    return out + weights[f"{name}.bias"] if f"{name}.bias" in weights else out


def relu(v: Vector) -> Vector:
    return np.array([a if a > 0 else 0.0 for a in v])


def sigmoid(v: Vector) -> Vector:
    return np.array([0.5 * (1 + math.tanh(a / 2)) for a in v])


def rms_norm(weight: Vector, v: Vector) -> Vector:
    mean_square = sum(float(a) * float(a) for a in v) / len(v)
    return weight * v / math.sqrt(mean_square + 1e-6)


def swiglu(weights: Weights, v: Vector) -> Vector:
    both = linear(weights, "gate_content", v)
    gate, content = both[: len(both) // 2], both[len(both) // 2 :]
    return linear(weights, "down", content * (gate * sigmoid(gate)))


def mlp(weights: Weights, v: Vector) -> Vector:
    """One linear layer, or two with a ReLU between (then the second is number 2 in its sequence)."""
    first = linear(weights, "0", v)
    return linear(weights, "2", relu(first)) if "2.weight" in weights else first


def pool(states: States, parent: list[int], num_clusters: int, how: str) -> States:
    result = []
    for cluster in range(num_clusters):
        members = [states[i] for i in range(len(states)) if parent[i] == cluster]
        width = len(states[0])
        row = []
        for channel in range(width):
            values = [float(member[channel]) for member in members]
            if not values:
                row.append(0.0)
            elif how == "max":
                row.append(max(values))
            else:
                row.append(sum(values) / (len(values) if how == "mean" else 1))
        result.append(np.array(row))
    return result


# Message passing: each takes weights, one vector per node and the edges, and returns the same two for the next step


def gine(weights: Weights, x: States, edges: list[Edge], *, gated: bool = False) -> tuple[States, list[Edge]]:
    result = []
    for i in range(len(x)):
        total = (1 + float(weights["epsilon"])) * x[i]
        for edge in edges:
            if edge.target == i:
                message = x[edge.source]
                if edge.feature is not None and "edge.weight" in weights:
                    message = message + linear(weights, "edge", edge.feature)
                total = total + relu(message)
        block = swiglu if gated else mlp
        result.append(block(under(weights, "update"), total))
    return result, edges


def gated_gine(weights: Weights, x: States, edges: list[Edge]) -> tuple[States, list[Edge]]:
    return gine(weights, x, edges, gated=True)


def normalised_sum(x: States, edges: list[Edge], weighted: bool) -> States:
    """Rows of D^-1/2 (A + I) D^-1/2 X, D the weighted in-degree of A + I, A without self loops."""

    def strength(edge: Edge) -> float:
        return float(edge.feature[0]) if weighted else 1.0

    proper = [edge for edge in edges if edge.source != edge.target]
    degree = [1.0 + sum(strength(edge) for edge in proper if edge.target == i) for i in range(len(x))]
    result = []
    for i in range(len(x)):
        total = x[i] / degree[i]
        for edge in proper:
            if edge.target == i:
                total = total + strength(edge) / math.sqrt(degree[edge.source] * degree[i]) * x[edge.source]
        result.append(total)
    return result


def gcn(weights: Weights, x: States, edges: list[Edge]) -> tuple[States, list[Edge]]:
    weighted = bool(edges) and edges[0].feature is not None
    return [relu(linear(weights, "linear", row)) for row in normalised_sum(x, edges, weighted)], edges


def adgn(
    weights: Weights, x: States, edges: list[Edge], *, epsilon: float = 0.1, gamma: float = 0.1
) -> tuple[States, list[Edge]]:
    weighted = bool(edges) and edges[0].feature is not None
    antisymmetric = weights["weight"] - weights["weight"].T
    around = normalised_sum(x, edges, weighted)
    result = []
    for i in range(len(x)):
        field_ = antisymmetric @ x[i] - gamma * x[i] + linear(weights, "neighbour", around[i]) + weights["bias"]
        result.append(epsilon * np.array([math.tanh(a) for a in field_]))
    return result, edges


def attention(weights: Weights, x: States, edges: list[Edge], i: int) -> list[tuple[int, float]]:
    """The neighbours of `i` (itself last) and the share that each gets."""
    incoming = [edge for edge in edges if edge.target == i and edge.source != i]
    own = None
    if incoming and incoming[0].feature is not None:
        own = sum(edge.feature for edge in incoming) / len(incoming)
    scores = []
    for edge in [*incoming, Edge(i, i, own)]:
        query = linear(weights, "source", x[edge.source]) + linear(weights, "target", x[i])
        if edge.feature is not None and "edge.weight" in weights:
            query = query + linear(weights, "edge", edge.feature)
        leaky = np.array([a if a > 0 else 0.2 * a for a in query])
        scores.append((edge.source, float(weights["attention"] @ leaky)))
    total = sum(math.exp(score) for _, score in scores)
    return [(source, math.exp(score) / total) for source, score in scores]


def gat(weights: Weights, x: States, edges: list[Edge]) -> tuple[States, list[Edge]]:
    result = []
    for i in range(len(x)):
        total = weights["bias"]
        for source, share in attention(weights, x, edges, i):
            total = total + share * linear(weights, "source", x[source])
        result.append(relu(total))
    return result, edges


def gated_gcn(weights: Weights, x: States, edges: list[Edge]) -> tuple[States, list[Edge]]:
    """Edges carry a state; the first call makes it from the features, or from zero."""
    width = len(x[0])
    raw = []
    for edge in edges:
        state = np.zeros(width) if edge.feature is None else edge.feature
        to, over = linear(weights, "edge_target", x[edge.target]), linear(weights, "edge_source", x[edge.source])
        raw.append(to + over + linear(weights, "edge", state))
    result = []
    for i in range(len(x)):
        opened, passed = np.zeros(width), np.zeros(width)
        for edge, value in zip(edges, raw, strict=True):
            if edge.target == i:
                opened = opened + sigmoid(value)
        for edge, value in zip(edges, raw, strict=True):
            if edge.target == i:
                passed = passed + sigmoid(value) / (opened + 1e-6) * linear(weights, "neighbour", x[edge.source])
        result.append(relu(rms_norm(weights["norm.weight"], linear(weights, "own", x[i]) + passed)))
    renewed = []
    for edge, value in zip(edges, raw, strict=True):
        initial = edge.initial
        if initial is None:
            initial = np.zeros(width) if edge.feature is None else edge.feature
        state = relu(rms_norm(weights["edge_norm.weight"], value)) + initial
        renewed.append(Edge(edge.source, edge.target, state, initial))
    return result, renewed


CONVS = {"gine": gine, "gated_gine": gated_gine, "gcn": gcn, "gated_gcn": gated_gcn, "gat": gat, "adgn": adgn}


# Whole models


def encode_edges(weights: Weights, graph: Graph, conv: str) -> list[Edge]:
    """Linear for most layers; softplus of one number for those that take weights; nothing without an encoder."""
    result = []
    for edge in graph.edges:
        feature = None
        if conv in ("gcn", "adgn") and "map.0.weight" in weights:
            feature = np.array([math.log1p(math.exp(float(linear(weights, "map.0", edge.feature)[0])))])
        elif "map.weight" in weights:
            feature = linear(weights, "map", edge.feature)
        result.append(Edge(edge.source, edge.target, feature))
    return result


def read_out(
    weights: Weights, kind: str, states: States, edges: list[Edge], batch: list[int], num_graphs: int
) -> States:
    if kind == "node":
        rows = states
    elif kind == "graph":
        each = [pool(states, batch, num_graphs, how) for how in ("max", "mean", "sum")]
        rows = [np.concatenate([part[g] for part in each]) for g in range(num_graphs)]
    else:
        rows = []
        for edge in edges:
            parts = [states[edge.source], states[edge.target]]
            rows.append(np.concatenate(parts if edge.feature is None else [*parts, edge.feature]))
    return [mlp(under(weights, "mlp"), row) for row in rows]


def ghr(
    weights: Weights,
    levels: list[Graph],
    x: States,
    *,
    conv: str,
    pool_by: str = "max",
    steps: int,
    counts: list[int],
    readout: str = "node",
    batch: list[int] | None = None,
    num_graphs: int = 1,
) -> list[States]:
    """Predictions after every global step.

    `counts` has the number of updates of every level, fine to coarse. Whether weights are shared and whether time is
    told follows from which weights there are.
    """
    num_cells = 1 + max(int(name.split(".")[1]) for name in weights if name.startswith("cells."))
    num_down = len({name.split(".")[1] for name in weights if name.startswith("down.")})
    cells = [under(weights, f"cells.{min(k, num_cells - 1)}") for k in range(len(levels))]
    down = [weights[f"down.{min(k, num_down - 1)}.weight"] for k in range(len(levels) - 1)]

    encoded = [linear(weights, "node_encoder", row) for row in x]
    encoded_edges = [encode_edges(under(cells[k], "edge_encoder"), levels[k], conv) for k in range(len(levels))]
    g = [[cells[k]["initial.value"]] * levels[k].num_nodes for k in range(len(levels))]
    edges: list[list[Edge]] = []

    def norm(k: int, v: Vector) -> Vector:
        return rms_norm(cells[k]["norm.weight"], v)

    def update(k: int, t_high: int, t: int) -> None:
        z = [norm(k, v) for v in g[k]]
        if k == 0:
            z = [a + b for a, b in zip(z, encoded, strict=True)]
            if "time.weight" in weights:
                z = [a + weights["time.weight"] @ np.array([float(t_high), float(t)]) for a in z]
        else:
            below = pool([norm(k - 1, v) for v in g[k - 1]], levels[k].parent, levels[k].num_nodes, pool_by)
            z = [a + b for a, b in zip(z, below, strict=True)]
        if k + 1 < len(levels):
            z = [z[i] + down[k] @ g[k + 1][levels[k + 1].parent[i]] for i in range(len(z))]
        change, edges[k] = CONVS[conv](under(cells[k], "conv"), z, edges[k])
        g[k] = [a + b for a, b in zip(g[k], change, strict=True)]

    def loop(k: int, t_high: int) -> None:
        for t in range(1, counts[k] + 1):
            update(k, t_high, t)
            if k > 0:
                loop(k - 1, t)

    predictions = []
    for _ in range(steps):
        edges = list(encoded_edges)
        loop(len(levels) - 1, 1)
        where = [0] * len(x) if batch is None else batch
        predictions.append(read_out(under(weights, "readout"), readout, g[0], encoded_edges[0], where, num_graphs))
    return predictions


def deep(weights: Weights, graph: Graph, x: States, *, conv: str, readout: str = "node") -> States:
    """The stack of distinct layers."""
    num_layers = len({name.split(".")[1] for name in weights if name.startswith("norms.")})
    encoded = [linear(weights, "node_encoder", row) for row in x]
    edges = encode_edges(under(weights, "edge_encoder"), graph, conv)
    h, handed_on = [weights["initial.value"]] * len(x), edges
    for layer in range(num_layers):
        z = [rms_norm(weights[f"norms.{layer}.weight"], h[i]) + encoded[i] for i in range(len(h))]
        change, handed_on = CONVS[conv](under(weights, f"convs.{layer}"), z, handed_on)
        h = [a + b for a, b in zip(h, change, strict=True)]
    return read_out(under(weights, "readout"), readout, h, edges, [0] * len(x), 1)

import math

import pytest
import torch

import reference
from cases import AWKWARD, awkward, naive_edges, randomise, relative_error
from ghr.testing.plain_convs import LAYERS, NAMES, PlainADGN, PlainGAT, PlainGCN

SIMPLE = [name for name in AWKWARD if "loop" not in name]  # self loops are replaced by PyG, not added to


def weighted_sum(x, edges):
    r"""The sum that GCN takes: every node has a loop of weight one beside its edges, all divided by degrees."""
    degree = [1.0] * len(x)
    for edge in edges:
        degree[edge.target] += edge.feature[0]
    out = [row / degree[i] for i, row in enumerate(x)]
    for edge in edges:
        share = edge.feature[0] / math.sqrt(degree[edge.source] * degree[edge.target])
        out[edge.target] = out[edge.target] + share * x[edge.source]
    return out


@pytest.mark.parametrize("name", SIMPLE)
def test_gcn(name):
    x, edge_index, weight = awkward(name, 3, 1)
    layer = randomise(PlainGCN(3))
    matrix, bias = layer.gcn.lin.weight.detach().numpy(), layer.gcn.bias.detach().numpy()
    sums = weighted_sum(reference.read_rows(x), naive_edges(edge_index, weight))
    assert relative_error(layer(x, edge_index, weight), [reference.relu(matrix @ s + bias) for s in sums]) < 1e-12


@pytest.mark.parametrize("name", SIMPLE)
def test_adgn(name):
    x, edge_index, weight = awkward(name, 3, 1)
    torch.manual_seed(0)
    layer = PlainADGN(3, epsilon=0.2, gamma=0.3)
    with torch.no_grad():
        layer.weight.normal_()
        layer.bias.normal_()
    randomise(layer)
    free, bias, phi = (value.detach().numpy() for value in (layer.weight, layer.bias, layer.phi.lin.weight))
    rows = reference.read_rows(x)
    sums = weighted_sum(rows, naive_edges(edge_index, weight))
    expected = []
    for row, near in zip(rows, sums, strict=True):
        field = [
            sum((free[i, j] - free[j, i] - (0.3 if i == j else 0)) * row[j] + phi[i, j] * near[j] for j in range(3))
            + bias[i]
            for i in range(3)
        ]
        expected.append([0.2 * math.tanh(value) for value in field])
    assert relative_error(layer(x, edge_index, weight), expected) < 1e-12


@pytest.mark.parametrize("name", SIMPLE)
def test_gat(name):
    x, edge_index, features = awkward(name, 3, 3)
    layer = randomise(PlainGAT(3))
    gat = {key: value.detach().numpy() for key, value in layer.gat.state_dict().items()}
    rows = reference.read_rows(x)
    sent = [gat["lin_l.weight"] @ row + gat["lin_l.bias"] for row in rows]
    asked = [gat["lin_r.weight"] @ row + gat["lin_r.bias"] for row in rows]
    expected = []
    for node in range(len(rows)):
        arriving = [edge for edge in naive_edges(edge_index, features) if edge.target == node]
        own = sum((edge.feature for edge in arriving), start=0 * rows[node]) / max(1, len(arriving))
        pairs = [*((edge.source, edge.feature) for edge in arriving), (node, own)]
        scores = []
        for source, feature in pairs:
            mixed = sent[source] + asked[node] + gat["lin_edge.weight"] @ feature
            bent = [v if v > 0 else 0.2 * v for v in mixed]
            scores.append(sum(a * b for a, b in zip(gat["att"].reshape(-1), bent, strict=True)))
        share = [math.exp(score - max(scores)) for score in scores]
        total = sum(w * sent[source] for w, (source, _) in zip(share, pairs, strict=True)) / sum(share)
        expected.append(reference.relu(total + gat["bias"]))
    assert relative_error(layer(x, edge_index, features), expected) < 1e-12


def test_every_layer_says_what_its_weights_are_called():
    assert LAYERS.keys() == NAMES.keys()
    for name, build in LAYERS.items():
        there = [f"conv.{key}" for key in build(2).state_dict()]
        for theirs in NAMES[name].values():
            assert any(key.startswith(theirs) for key in there), (name, theirs)

import math

import pytest
import torch
from torch_geometric.data import Batch, Data

from cases import randomise, relative_error
from ghr.nn.encodings import ENCODINGS, VALUES, VECTORS, LaplacianEncoder, WalkEncoder, make_encoding, read_rows
from ghr.testing import path_graph, random_graph


def linear(layer, row):
    return [
        b + sum(w * v for w, v in zip(line, row, strict=True))
        for line, b in zip(layer.weight.tolist(), layer.bias.tolist(), strict=True)
    ]


def prepare(encoder, *graphs):
    """A batch in double precision, with what the encoder reads."""
    data = Batch.from_data_list([encoder.transform(graph) for graph in graphs])
    for name in ("rwse", VECTORS, VALUES):
        if name in data:
            data[name] = data[name].double()
    return data


def test_walks_are_normalised_over_all_nodes_and_mapped():
    encoder = randomise(WalkEncoder(3, steps=4)).train()
    data = prepare(encoder, random_graph(7, 12), path_graph(4))
    rows = data.rwse.tolist()
    columns = [*zip(*rows, strict=True)]
    means = [sum(column) / len(column) for column in columns]
    spreads = [sum((v - m) ** 2 for v in c) / len(c) for c, m in zip(columns, means, strict=True)]
    scale, shift = encoder.norm.weight.tolist(), encoder.norm.bias.tolist()
    expected = []
    for row in rows:
        normal = [(v - means[k]) / math.sqrt(spreads[k] + 1e-5) * scale[k] + shift[k] for k, v in enumerate(row)]
        expected.append(linear(encoder.linear, normal))
    assert relative_error(encoder(data, data.batch), expected) < 1e-12


def test_eigenvectors_are_read_as_a_set_with_their_eigenvalues():
    encoder = randomise(LaplacianEncoder(3, count=4)).eval()
    data = prepare(encoder, random_graph(7, 12), path_graph(3))  # which has three
    first, _, last = encoder.phi
    expected = []
    for vector, graph in zip(data[VECTORS].tolist(), data.batch.tolist(), strict=True):
        total = [0.0] * 3
        for v, value in zip(vector, data[VALUES][graph].tolist(), strict=True):
            if not math.isnan(value):
                hidden = [max(0.0, h) for h in linear(first, [v, value])]
                total = [t + max(0.0, p) for t, p in zip(total, linear(last, hidden), strict=True)]
        expected.append(total)
    assert data[VALUES][1].isnan().any()
    assert relative_error(encoder(data, data.batch), expected) < 1e-12


def test_in_training_every_graph_has_signs_of_its_own():
    encoder = randomise(LaplacianEncoder(2, count=1)).train()
    data = prepare(encoder, path_graph(3), path_graph(3))
    encoder.eval()
    flipped = data.clone()
    flipped[VECTORS] = -data[VECTORS]
    ways = [encoder(data, data.batch)[:3], encoder(flipped, data.batch)[:3]]
    encoder.train()
    torch.manual_seed(0)
    seen = set()
    for _ in range(20):
        rows = encoder(data, data.batch)
        signs = tuple(
            next(k for k, way in enumerate(ways) if torch.allclose(part, way)) for part in (rows[:3], rows[3:])
        )
        seen.add(signs)
    assert seen == {(0, 0), (0, 1), (1, 0), (1, 1)}


def test_an_encoding_has_a_quarter_of_the_channels():
    assert make_encoding(None, 8) is None
    for name, kind in ENCODINGS.items():
        assert type(made := make_encoding(name, 32)) is kind
        assert made.out_channels == 8
        assert make_encoding(name, 3).out_channels == 1
    with pytest.raises(ValueError, match="hidden_channels of at least 2; got 1"):
        make_encoding("rwse", 1)
    with pytest.raises(ValueError, match="Unknown encoding 'sines'; known are rwse, laplacian"):
        make_encoding("sines", 8)


def test_what_was_not_prepared_is_a_sentence():
    with pytest.raises(ValueError, match=r"The graph has no rwse; prepare it"):
        read_rows(Data(), "rwse", (3, 4))
    data = Data(rwse=torch.zeros(3, 5))
    assert read_rows(data, "rwse", (3, 5)) is data.rwse
    assert read_rows(data, "rwse", (None, 5)) is data.rwse
    with pytest.raises(ValueError, match=r"reads rwse of shape \(3, 4\); got \(3, 5\)"):
        read_rows(data, "rwse", (3, 4))
    with pytest.raises(ValueError, match=r"reads rwse of shape \(2, 5\); got \(3, 5\)"):
        read_rows(data, "rwse", (2, 5))
    with pytest.raises(ValueError, match=r"reads rwse of shape \(B, 4\)"):
        read_rows(data, "rwse", (None, 4))

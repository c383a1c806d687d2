import pytest
import torch
from torch import nn

import reference
from cases import hierarchy, randomise, relative_error
from ghr.models.cell import EdgeEncoder, LevelCell
from ghr.nn import CONVS


@pytest.mark.parametrize("conv", CONVS)
@pytest.mark.parametrize("edge_dim", [None, 3])
def test_one_update_equals_the_loops(conv, edge_dim):
    cell = randomise(LevelCell(6, conv, edge_dim, "learned"))
    data = hierarchy(edge_dim=edge_dim)
    level = data.levels[0]
    state, injection = torch.randn(9, 6, dtype=torch.double), torch.randn(9, 6, dtype=torch.double)
    edges = cell.conv.prepare(level.edge_index, cell.edge_encoder(level, "Level 0"), 9)
    ours, _ = cell(state, injection, edges)

    weights = reference.read_weights(cell)
    naive = reference.encode_edges(reference.under(weights, "edge_encoder"), reference.read_levels(data)[0], conv)
    g, z = reference.read_rows(state), reference.read_rows(injection)
    given = [reference.rms_norm(weights["norm.weight"], g[i]) + z[i] for i in range(9)]
    change, _ = reference.CONVS[conv](reference.under(weights, "conv"), given, naive)
    assert relative_error(ours, [g[i] + change[i] for i in range(9)]) <= 1e-10


@pytest.mark.parametrize("conv", CONVS)
def test_edges_are_encoded_as_their_layer_wants_them(conv):
    encoder = EdgeEncoder(conv, 3, 6)
    assert encoder.out_channels == (1 if conv in ("gcn", "adgn") else 6)
    assert encoder.double()(hierarchy().levels[0], "Level 0").shape == (18, encoder.out_channels)


def test_a_module_of_ones_own_reads_edges_as_wide_as_the_state():
    assert EdgeEncoder(nn.Identity(), 3, 6).out_channels == 6


def test_without_edge_features_there_is_nothing_to_encode():
    encoder = EdgeEncoder("gine", None, 6)
    assert encoder(hierarchy().levels[0], "Level 0") is None
    assert encoder.out_channels is None
    assert not list(encoder.parameters())


def test_wrong_edge_features_are_refused():
    encoder = EdgeEncoder("gine", 2, 6)
    with pytest.raises(ValueError, match="Level 7 has 3 edge features, but the model was built for 2; set edge_dim"):
        encoder(hierarchy().levels[0], "Level 7")
    with pytest.raises(ValueError, match="Level 7 has no edge features, but the model was built for 2"):
        encoder(hierarchy(edge_dim=None).levels[0], "Level 7")


def test_one_dimensional_edge_features_are_one_column():
    data = hierarchy(edge_dim=1)
    flat = data.clone()
    flat.edge_attr = data.edge_attr.reshape(-1)
    encoder = EdgeEncoder("gine", 1, 6).double()
    assert torch.equal(encoder(flat.levels[0], "Level 0"), encoder(data.levels[0], "Level 0"))

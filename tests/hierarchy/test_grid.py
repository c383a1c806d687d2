import math

import pytest
import torch
from torch_geometric.data import Data

from ghr import Coarsen, GridBlocks, memory
from ghr.testing import assert_quotient


def lattice(side, *, diagonal=False):
    edges = []
    for i in range(side):
        for j in range(side):
            steps = [(0, 1), (1, 0)] + ([(1, 1), (1, -1)] if diagonal else [])
            for a, b in steps:
                u, v = i * side + j, ((i + a) % side) * side + (j + b) % side
                edges += [(u, v), (v, u)]
    return Data(x=torch.ones(side * side, 1), edge_index=torch.tensor(edges).T.contiguous())


@pytest.mark.parametrize(("side", "block"), [(4, 2), (6, 3), (8, 2), (6, 2)])
def test_blocks_tile_the_lattice(side, block):
    data = Coarsen(GridBlocks(block))(lattice(side))
    assert_quotient(data)
    label = data.levels[1].assignment.view(side, side)
    for i in range(side):
        for j in range(side):
            assert label[i, j] == (i // block) * (side // block) + j // block


@pytest.mark.parametrize("levels", [1, 2])
def test_coarse_edges_carry_the_minimum_image_distance_of_block_centres(levels):
    side, block = 8, 2
    data = Coarsen(GridBlocks(block), levels=levels)(lattice(side, diagonal=True))
    for k in range(1, levels + 1):
        level, width = data.levels[k], block**k
        across = side // width
        seen = set()
        for (u, v), found in zip(level.edge_index.T.tolist(), level.edge_attr.flatten().tolist(), strict=True):
            gaps = [abs(a - b) * width for a, b in ((u // across, v // across), (u % across, v % across))]
            expected = math.hypot(*(min(gap, side - gap) for gap in gaps))
            assert found == pytest.approx(expected)
            seen.add(round(expected, 6))
        assert len(seen) == 2, "straight and diagonal neighbours are at different distances"


@pytest.mark.parametrize(("num_nodes", "words"), [(15, "not a square number"), (25, "do not tile a lattice of side 5")])
def test_what_is_no_lattice_is_refused(num_nodes, words):
    with pytest.raises(ValueError, match=words):
        GridBlocks(2)(torch.empty(2, 0, dtype=torch.long), num_nodes)


@pytest.mark.parametrize("block", [1, 0, -2, 2.0, "2", True, None])
def test_what_is_no_block_is_refused(block):
    with pytest.raises(ValueError, match=f"block must be a whole number of at least 2; got {block!r}"):
        GridBlocks(block)


NO_EDGES = torch.empty(2, 0, dtype=torch.long)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ((None, 16), "edge_index must be an int64 tensor"),
        ((torch.empty(2, 0), 16), "edge_index must be an int64 tensor"),
        ((torch.tensor(1), 16), "edge_index must be an int64 tensor"),
        ((torch.tensor([[0], [16]]), 16), "edge_index has node 16"),
        ((NO_EDGES, 0), "num_nodes must be a whole number of at least 1"),
        ((NO_EDGES, 16.0), "num_nodes must be a whole number"),
        ((NO_EDGES, "16"), "num_nodes must be a whole number"),
        ((NO_EDGES, -16), "num_nodes must be a whole number"),
    ],
)
def test_bad_graphs_get_a_sentence(arguments, words):
    with pytest.raises(ValueError, match=words):
        GridBlocks(2)(*arguments)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ((NO_EDGES, torch.zeros(16).long(), 0), "num_clusters must be a whole number of at least 1"),
        ((NO_EDGES, torch.zeros(16), 4), "assignment must be an int64 tensor"),
        ((NO_EDGES, [0] * 16, 4), "assignment must be an int64 tensor"),
        ((NO_EDGES, torch.full((16,), 4), 4), "assignment has 4, but must be in 0 to 3"),
        ((NO_EDGES, torch.zeros(15).long(), 4), "not a square number"),
        ((torch.tensor([[0], [4]]), torch.zeros(16).long(), 4), "coarse_edge_index has node 4"),
    ],
)
def test_bad_blocks_get_a_sentence(arguments, words):
    with pytest.raises(ValueError, match=words):
        GridBlocks(2).coarse_edge_attr(*arguments)


def test_repr_and_config_name_every_option():
    assert repr(GridBlocks(3)) == "GridBlocks(block=3)"
    assert GridBlocks(3).config == {"block": 3}


def test_a_lattice_beyond_the_memory_is_refused(monkeypatch):
    monkeypatch.setattr(memory, "physical_memory", lambda: 2**30)
    with pytest.raises(ValueError, match="A lattice of num_nodes=1,600,000,000 needs 48 GiB"):
        GridBlocks()(torch.empty(2, 0, dtype=torch.long), 40_000**2)


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"num_clusters": 17}, "num_clusters must be a whole number of at most 16, as many as there are nodes"),
        ({"num_clusters": 2**31 - 1}, "num_clusters must be a whole number of at most 16"),
        ({"num_clusters": 5}, "assignment has no node in block 4, so this block has no centre"),
        ({"assignment": [0] * 16}, "assignment must be an int64 tensor"),
    ],
)
def test_edge_features_need_blocks_with_nodes(changes, words):
    edges = torch.tensor([[0], [1]])
    given = {"coarse_edge_index": edges, "assignment": GridBlocks()(edges, 16), "num_clusters": 4}
    assert GridBlocks().coarse_edge_attr(**given).tolist() == [[2.0]]
    with pytest.raises(ValueError, match=words):
        GridBlocks().coarse_edge_attr(**{**given, **changes})

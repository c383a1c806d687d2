import math

import pytest
import torch
from torch_geometric.data import Data

from ghr import Coarsen, GridBlocks
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


def test_a_block_of_one_is_refused():
    with pytest.raises(ValueError, match="block=1"):
        GridBlocks(1)

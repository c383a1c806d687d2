import pytest
import torch

from cases import make_lattice
from ghr import Coarsen, GridBlocks
from ghr.hierarchy.lattice import Lattice
from ghr.nn.values.blocks import Blocks


def test_blocks_of_images_are_those_of_the_slots():
    data = Coarsen(GridBlocks(2))(make_lattice(6))
    fine, coarse = (Lattice(level, k) for k, level in enumerate(data.levels))
    slots = Blocks(4 * coarse.level.clusters + fine.places())
    image, values = Blocks(None, coarse.shape), torch.randn(36, 3)
    rows = slots.collect(values, 9, 4)
    assert torch.equal(image.collect(values, 9, 4), rows)
    assert torch.equal(image.hand_out(rows, 4), values)
    assert torch.equal(slots.hand_out(rows, 4), values)
    assert torch.equal(rows[4].view(4, 3), values.view(6, 6, 3)[2:4, 2:4].reshape(4, 3))


def test_nodes_at_one_place_are_added_up():
    values = torch.tensor([[1.0], [2.0], [4.0]])
    blocks = Blocks(torch.tensor([1, 0, 1]))
    assert blocks.collect(values, 2, 1).tolist() == [[2.0], [5.0]]
    assert blocks.hand_out(torch.tensor([[7.0], [8.0]]), 1).tolist() == [[8.0], [7.0], [8.0]]


def test_blocks_of_nothing_are_refused():
    with pytest.raises(ValueError, match="need the slots of their nodes, or the shape of lattices"):
        Blocks(None).collect(torch.ones(4, 1), 1, 4)

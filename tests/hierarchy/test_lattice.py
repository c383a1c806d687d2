import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch_geometric.data import Batch, Data

from ghr import Coarsen, GridBlocks
from ghr.hierarchy.data import levels_of
from ghr.hierarchy.lattice import (
    Lattice,
    find_side,
    lattice_edges,
    read_lattices,
    shift_lattices,
    square_offsets,
)
from ghr.hierarchy.level import Level
from ghr.testing import random_graph


def make_lattice(side: int, seed: int = 0) -> Data:
    x = torch.randn(side * side, 1, generator=torch.Generator().manual_seed(seed))
    return Data(x=x, y=2 * x, edge_index=lattice_edges(side))


def read(*sides: int) -> Lattice:
    return Lattice(levels_of(Batch.from_data_list([make_lattice(side) for side in sides]))[0])


def test_offsets_lead_around_the_torus_of_their_own_lattice():
    offsets = square_offsets(2)
    table = read(4, 3).look(offsets).tolist()
    start = 0
    for side in (4, 3):
        for row in range(side):
            for column in range(side):
                for (down, right), found in zip(offsets, table[start + row * side + column], strict=True):
                    assert found == start + (row + down) % side * side + (column + right) % side
        start += side * side


def test_the_last_offset_is_opposite_the_first():
    offsets = square_offsets(3)
    assert len(offsets) == 49
    assert all(a == -c and b == -d for (a, b), (c, d) in zip(offsets, reversed(offsets), strict=True))


def test_lattices_of_one_side_are_images():
    assert read(4, 4, 4).shape == (3, 4)
    assert read(4, 3).shape is None


def test_lattices_of_several_sides_are_images_too():
    lattice = read(4, 3, 4)
    small, large = lattice.images()
    assert small.tolist() == [(16 + torch.arange(9)).view(3, 3).tolist()]
    assert large.tolist() == [(start + torch.arange(16)).view(4, 4).tolist() for start in (0, 25)]
    nodes = torch.arange(41).unsqueeze(1)
    assert torch.equal(lattice.join([small.view(-1, 1), large.view(-1, 1)]), nodes)
    (one,) = read(3, 3).images()
    assert one.tolist() == torch.arange(18).view(2, 3, 3).tolist()
    assert torch.equal(read(3, 3).join([one.view(-1, 1)]), nodes[:18])


@pytest.mark.parametrize("side", [1, 2, 3, 5])
def test_a_lattice_that_lacks_an_edge_is_found_out(side):
    data = make_lattice(side)
    assert Lattice(levels_of(data)[0]).find_gap() is None
    one_way = data.edge_index[:, data.edge_index[0] <= data.edge_index[1]]
    for edge in range(one_way.size(1) if side > 1 else 0):
        kept = torch.arange(one_way.size(1)) != edge
        lacking = Data(x=data.x, edge_index=one_way[:, kept])
        assert set(Lattice(levels_of(lacking)[0]).find_gap()) == set(one_way[:, edge].tolist())
        with pytest.raises(ValueError, match=r"Reader takes periodic square lattices alone, .* but no edge joins"):
            read_lattices(lacking, "Reader")
    assert read_lattices(Data(x=data.x, edge_index=one_way), "Reader").shape == (1, side)


def test_a_model_of_lattices_alone_refuses_others_by_its_name():
    with pytest.raises(ValueError, match=r"^Reader takes .*, nodes numbered row by row\. .* 7 nodes\. Take another"):
        read_lattices(random_graph(7, 9), "Reader")


def test_the_side_of_what_may_be_a_lattice():
    assert find_side(make_lattice(5), 16) == 5
    assert find_side([make_lattice(6), make_lattice(5)], 16) == 6
    assert find_side(random_graph(7, 9), 16) == find_side(random_graph(1, 0), 16) == 16


def test_places_are_those_in_the_blocks():
    data = Coarsen(GridBlocks(2))(make_lattice(4))
    fine, coarse = (Lattice(level, k) for k, level in enumerate(data.levels))
    fine.check_blocks(coarse)
    assert fine.places().view(4, 4).tolist() == [[0, 1, 0, 1], [2, 3, 2, 3]] * 2


def test_other_graphs_are_refused():
    with pytest.raises(ValueError, match="must hold square lattices, but one of its graphs has 7 nodes"):
        Lattice(levels_of(random_graph(7, 9))[0])
    with pytest.raises(ValueError, match=r"an edge joins the nodes .* not next to each other"):
        Lattice(levels_of(random_graph(16, 30))[0])
    stripes = Coarsen(lambda edge_index, num_nodes: torch.arange(num_nodes) // 4)(make_lattice(4))
    with pytest.raises(ValueError, match="Level 1 must stand for blocks of 2 x 2 nodes"):
        Lattice(stripes.levels[0]).check_blocks(Lattice(stripes.levels[1], 1))


def test_a_shift_moves_inputs_and_targets_alike_and_leaves_the_graph():
    coarsen = Coarsen(GridBlocks(2))
    batch = Batch.from_data_list([coarsen(make_lattice(4, seed)) for seed in range(3)])
    torch.manual_seed(1)
    shifted = shift_lattices(batch)
    assert torch.equal(shifted.y, 2 * shifted.x)
    assert torch.equal(shifted.edge_index, batch.edge_index)
    assert torch.equal(shifted.level1_assignment, batch.level1_assignment)
    assert not torch.equal(shifted.x, batch.x)
    for before, after in zip(batch.x.view(3, 4, 4), shifted.x.view(3, 4, 4), strict=True):
        rolls = [before.roll((down, right), (0, 1)) for down in range(4) for right in range(4)]
        assert sum(torch.equal(after, roll) for roll in rolls) == 1
    assert shifted.levels  # they still belong to the graph


@given(st.integers(1, 5), st.lists(st.tuples(st.integers(0, 49), st.integers(0, 49)), max_size=12))
def test_edges_are_those_of_a_lattice_if_an_offset_leads_along_them(side, pairs):
    nodes = 2 * side * side
    edges = torch.tensor([[u % nodes, v % nodes] for u, v in pairs], dtype=torch.long).reshape(-1, 2).T
    level = Level(edges.contiguous(), None, nodes, torch.arange(2).repeat_interleave(side * side))
    lattice = Lattice(level, 1)  # whose edges are not checked
    beside = lattice.look(((-1, 0), (1, 0), (0, -1), (0, 1)))
    wrong = [pair for pair in edges.T.tolist() if pair[1] not in beside[pair[0]]]
    if wrong:
        with pytest.raises(ValueError, match=f"joins the nodes {wrong[0][0]} and {wrong[0][1]}, which"):
            Lattice(level)
    else:
        assert Lattice(level).sides.tolist() == [side, side]

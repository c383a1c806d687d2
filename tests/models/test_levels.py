from dataclasses import replace

import pytest
import torch
from torch import nn

from cases import hierarchy, randomise
from ghr.models.cell import LevelCell
from ghr.models.levels import LevelCells, sort_levels
from ghr.models.state import Encoded
from ghr.nn.conv import Edges
from ghr.ops import list_edges


def make(levels=2, edge_dim=3):
    torch.manual_seed(0)
    return randomise(LevelCells(LevelCell(4, "gine", edge_dim, "learned") for _ in range(levels)))


def test_names_of_parameters_are_those_of_a_list():
    plain = nn.ModuleList(LevelCell(4, "gine", 3, "learned") for _ in range(2))
    assert [*make().state_dict()] == [*plain.state_dict()]


def test_levels_beyond_the_last_share_its_weights():
    cells = make()
    assert [cells.of(k) for k in range(4)] == [cells[0], cells[1], cells[1], cells[1]]


def test_every_level_begins_from_its_own_vector():
    cells, levels = make(), hierarchy(12, 18, levels=3).levels
    states = cells.begin(torch.zeros(1, 4), levels)
    for k, (state, level) in enumerate(zip(states, levels, strict=True)):
        assert state.shape == (level.num_nodes, 4)
        assert torch.equal(state, cells[min(k, 1)].initial.value.expand_as(state))
    assert not torch.equal(states[0][0], states[1][0])


def test_edges_of_every_level_are_encoded_by_its_own_map():
    cells, levels = make(), hierarchy(12, 18, levels=3).levels
    encoded, edges = cells.encode_edges(levels)
    for k, level in enumerate(levels):
        expected = cells[min(k, 1)].edge_encoder.map(level.edge_attr)
        torch.testing.assert_close(encoded[k], expected)
        assert sorted(list_edges(edges[k].neighbours).T.tolist()) == sorted(level.edge_index.T.tolist())
    narrow = replace(levels[1], edge_attr=levels[1].edge_attr[:, :2])
    with pytest.raises(ValueError, match="Level 1 has 2 edge features, but the model was built for 3"):
        cells.encode_edges([levels[0], narrow])


def test_a_level_is_updated_with_its_weights_its_neighbours_and_its_part_of_the_input():
    cells, levels = make(3), hierarchy(12, 18, levels=3).levels
    x, down, time = torch.ones(12, 4), nn.ModuleList(nn.Linear(4, 4) for _ in range(2)), nn.Linear(2, 4)
    edges = tuple(Edges(level.edge_index, None) for level in levels)
    encoded = Encoded(tuple(levels), x, edges, ("none", "one", "two"), None, 1, {}, x)
    low, middle, top = (cells.update_of(k, encoded, down, time, "mean") for k in range(3))
    assert [update.cell for update in (low, middle, top)] == [*cells]
    assert all(update.level is level for update, level in zip((low, middle, top), levels, strict=True))
    assert [update.below for update in (low, middle, top)] == [None, (cells[0], "one"), (cells[1], "two")]
    assert [update.above for update in (low, middle, top)] == [
        (down[0], levels[1], "one"),
        (down[1], levels[2], "two"),
        None,
    ]
    assert [update.x for update in (low, middle, top)] == [x, None, None]
    assert [update.time for update in (low, middle, top)] == [time, None, None]
    assert {update.pool for update in (low, middle, top)} == {"mean"}
    shared = make(2).update_of(1, encoded, down[:1], None, "max")
    assert shared.above[0] is down[0], "levels beyond the last share the last map"


def test_updates_are_divided_by_how_often_they_run():
    cells, seen = make(3), {}
    for k, cell in enumerate(cells):
        cell.conv.shrink = lambda factor, k=k: seen.update({k: factor})
    cells.shrink(5, (2, 3, 4))
    assert seen == {0: 1 / (5 * 2 * 3 * 4), 1: 1 / (5 * 3 * 4), 2: 1 / (5 * 4)}


def test_members_are_sorted_where_kernels_compute():
    levels = hierarchy(12, 18, levels=3).levels
    found = sort_levels(levels, torch.zeros(1, 4))
    assert found[0] is None
    for level, below, members in zip(levels[1:], levels, found[1:], strict=False):
        for cluster in range(level.num_nodes):
            own = members.member[members.start[cluster] : members.start[cluster + 1]].tolist()
            assert sorted(own) == [n for n in range(below.num_nodes) if level.assignment[n] == cluster]
    assert sort_levels(levels, torch.zeros(1, 4, device="meta")) == (None, None, None)

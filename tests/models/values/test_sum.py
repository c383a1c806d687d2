import math

import pytest

from cases import hierarchy, randomise, relative_error
from ghr import GHR
from ghr.models.values import SumValues
from ghr.nn.values import SumCell


def add_by_loops(model, data):
    """Sums without directions as the docstrings say them: up by clusters, along edges, and down to the members."""
    cell, levels = model.values.cell, data.levels
    m, matrix = cell.channels, {name: value.detach().numpy() for name, value in cell.state_dict().items()}
    values = [[0.0] * m for _ in range(levels[0].num_nodes)]
    for _ in range(model.steps):
        source = [
            [[a + b for a, b in zip(matrix["lift.weight"] @ x, matrix["feedback.weight"] @ v, strict=True)]
             for x, v in zip(data.x.numpy(), values, strict=True)]
        ]  # fmt: skip
        for level in levels[1:]:
            sums = [[0.0] * m for _ in range(level.num_nodes)]
            for node, cluster in enumerate(level.assignment.tolist()):
                sums[cluster] = [a + b for a, b in zip(sums[cluster], source[-1][node], strict=True)]
            source.append([row @ matrix["pool.weight"] for row in sums])
        moved = None
        for k in reversed(range(len(levels))):
            level, kind = levels[k], 0 if k == 0 else 2 if k + 1 == len(levels) else 1
            edges = level.edge_index.T.tolist()
            leaving = [max(1, sum(s == node for s, _ in edges)) for node in range(level.num_nodes)]
            arriving = [max(1, sum(t == node for _, t in edges)) for node in range(level.num_nodes)]
            maps, now = matrix[f"stencils.{kind}.weight"], source[k]
            new = [row @ maps[0] for row in now]
            for weight in maps[1:]:
                after = [[0.0] * m for _ in range(level.num_nodes)]
                for s, t in edges:
                    rate = 1 / math.sqrt(leaving[s] * arriving[t])
                    after[t] = [a + rate * b for a, b in zip(after[t], now[s], strict=True)]
                now = after
                new = [row + brought @ weight for row, brought in zip(new, now, strict=True)]
            if moved is not None:
                clusters = levels[k + 1].assignment.tolist()
                new = [
                    row + moved[cluster] @ matrix["unpool.weight"] for row, cluster in zip(new, clusters, strict=True)
                ]
            moved = new
        values = moved
    return values


@pytest.mark.parametrize("levels", [1, 2, 3])
def test_on_any_graph_values_are_added_up_as_by_loops(levels):
    options = {"levels": levels, "share_coarse": levels > 1, "steps": 2, "t_low": 3, "value_reach": 2}
    model = randomise(GHR(2, 6, 1, conv=None, values="sum", value_channels=3, **options))
    data = hierarchy(12, 18, levels=levels, edge_dim=None)
    state = model.initial_state(data)
    for _ in range(2):
        _, state = model.step(data, state)
    assert relative_error(state.values[0], add_by_loops(model, data)) < 1e-12


def test_a_level_knows_whether_it_is_the_finest_between_or_the_coarsest():
    values = SumValues(SumCell(2, 3, reach=1, directions=False), 2, (None, 4))
    updates = [values.update_of(k, ("a", "b", "c"), None) for k in range(3)]
    assert [update.kind for update in updates] == [0, 1, 2]
    assert [update.part for update in updates] == ["a", "b", "c"]
    assert [update.above for update in updates] == ["b", "c", None]
    assert values.update_of(0, ("a",), None).kind == 0, "a level by itself is the finest"
    assert [values.control_edge_dim(k) for k in range(2)] == [None, 4]


def test_a_control_weighs_what_arrives():
    model = randomise(GHR(2, 6, 1, conv="gine", edge_dim=3, values="sum", value_channels=3))
    data = hierarchy(8, 12)
    encoded = model.encode(data)
    step = model._begin(encoded, model.initial_state(encoded))
    top, before = step.levels[1], step.states[1]
    after = top.update(before, None, top.read_below(step.states[0]))
    gain = model.values.cell.gain(model.cells[1].norm(after.control.state)).detach()
    plain = model.values.cell.move(top.part, 2)
    expected = [
        [v * (1 + math.tanh(g)) for v, g in zip(*rows, strict=True)]
        for rows in zip(plain.tolist(), gain.tolist(), strict=True)
    ]
    assert relative_error(after.held.value, expected) < 1e-12

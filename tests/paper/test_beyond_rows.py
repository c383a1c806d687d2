import pytest
import torch

from ghr.datasets import mae_by_distance
from ghr.paper.beyond import BEYOND, FAR, FarTest, judge_far
from ghr.train import predict


def test_the_rows_cover_what_the_table_compares():
    assert len({row.name for row in BEYOND}) == len(BEYOND) == 8
    for row in BEYOND:
        model, data = row.recipe.model, row.recipe.data
        assert model.t_low > data.in_range, "every step that the loss counts reaches as far as training goes"
        assert row.name.startswith(f"cap{data.in_range}-")
        assert ("lengths" in row.name) == data.weighted
        assert ("flat" in row.name) == (model.levels == 1)
        assert row.reported is None
        assert len(row.seeds) == 3


def test_full_half_and_a_third_of_what_the_distance_needs():
    assert [[test.updates(part) for part in (1, 2, 3)] for test in FAR] == [[40, 20, 14], [90, 45, 30]]


@pytest.mark.parametrize(("row", "counts"), [(BEYOND[0], (1, 5)), (BEYOND[1], (5, 1))])
def test_judging_runs_so_many_low_level_updates_on_fresh_graphs(tmp_path, row, counts):
    graphs = FarTest("small", 8, 30).load(tmp_path, row.recipe)
    other = row.recipe.load(tmp_path, "test")
    assert not torch.equal(graphs[0].pos, other[0].pos)
    model = row.recipe.build()
    judged = judge_far(model, row, graphs, 5)
    prediction, target = predict(model, graphs, steps=counts[0], t_low=counts[1])
    expected = mae_by_distance(prediction, target, graphs.hops[graphs.mask], 5)
    assert judged["out_of_range"] == pytest.approx(expected["out_of_range"])
    assert judged["updates"] == 5
    beyond = graphs.hops[graphs.mask] > 5
    pairs = list(zip(prediction[beyond].flatten().tolist(), target[beyond].flatten().tolist(), strict=True))
    lost = [(p, t) for p, t in pairs if p > 2 * t]
    assert judged["lost"] == pytest.approx(len(lost) / len(pairs))
    found = [abs(p - t) for p, t in pairs if p <= 2 * t]
    assert judged["found"] == (pytest.approx(sum(found) / len(found), rel=1e-5) if found else None)

import pytest
import torch
from analysis_cases import graph, small, three_levels

from ghr import GHR, Task
from ghr.analysis import measure_influence
from ghr.testing import path_graph


def test_it_is_what_a_small_change_of_the_input_does():
    model = three_levels().double()
    data = model.prepare(graph()).clone()
    data.x, data.edge_attr = data.x.double() + 0.1, data.edge_attr.double()
    for k in (1, 2):
        data[f"level{k}_edge_attr"] = data[f"level{k}_edge_attr"].double()
    influence = measure_influence(model, data, [3, 7])
    with torch.no_grad():
        for node in (0, 5, 7):
            up, down = data.clone(), data.clone()
            up.x[node] += 1e-6
            down.x[node] -= 1e-6
            slope = (model(up) - model(down)).abs()[[3, 7], 0] / 2e-6
            torch.testing.assert_close(influence[:, node], slope, rtol=1e-4, atol=1e-7)


def test_a_stack_sees_as_far_as_it_has_layers():
    data = path_graph(12, edge_dim=1)
    (influence,) = measure_influence(small("gine"), data, [0])
    assert (influence[:4] > 0).all()
    assert (influence[4:] == 0).all()


def test_a_constant_depends_on_nothing():
    assert measure_influence(small("constant"), graph(), [1]).abs().max() == 0


def test_codes_are_followed_from_the_encoder_on():
    data = graph()
    data.x = torch.arange(24).remainder(3).unsqueeze(1)
    task = Task("node", out_channels=3, loss="cross_entropy")
    torch.manual_seed(0)
    model = GHR.for_data([data.clone().update({"y": torch.zeros(24).long()})], task, hidden_channels=8, steps=1)
    (influence,) = measure_influence(model, model.prepare(data), [2], None)
    assert influence.shape == (24,)
    assert influence[2] > 0


def test_rows_and_columns_that_are_not_there_are_sentences():
    model, data = small("gine"), graph()
    for arguments, words in ((([12],), "A row must be"), (([-1],), "A row must be"), (([0], 1), "column must be")):
        with pytest.raises(ValueError, match=words):
            measure_influence(model, data, *arguments)
    assert measure_influence(model, data, []).shape == (0, 12)

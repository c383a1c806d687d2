import pytest
import torch
from torch_geometric.data import Batch, Data

from cases import hierarchy, randomise
from ghr import GHR, Settled
from ghr.models.settle import check_steps
from ghr.testing import path_graph


def test_stops_at_the_first_prediction_that_is_like_the_one_before():
    values = [torch.tensor([v, 2 * v]) for v in (8.0, 4.0, 4.04, 4.040001, 9.0)]
    assert len(Settled(tolerance=1e-6).until(values)) == 4
    assert len(Settled(tolerance=0.1).until(values)) == 3
    assert len(Settled(tolerance=0).until(values)) == 5
    assert len(Settled().until([torch.empty(0), torch.empty(0), torch.empty(0)])) == 2


def test_the_largest_graph_sets_the_limit():
    batch = torch.tensor([0] * 7 + [1] * 20 + [2])
    assert Settled().most(batch, 1) == 21
    assert Settled().most(batch, 6) == 5
    assert Settled(limit=3).most(batch, 1) == 3


def test_a_contracting_model_settles_and_a_drifting_one_runs_to_the_limit(caplog):
    torch.manual_seed(0)
    model = randomise(GHR(2, 6, 1, edge_dim=3, conv="adgn"), scale=0.15)
    data = hierarchy(30, 45)
    drifting = model.rollout(data, "auto", t_high=2, t_low=3)
    assert len(drifting) == -(-30 // 6) + 1
    assert "have not settled within 6 steps: the last one changed them by" in caplog.text
    assert torch.equal(model(data, steps="auto", t_high=2, t_low=3), drifting[-1])
    caplog.clear()
    assert len(model.rollout(data, Settled(limit=3))) == 3
    tolerant = model.rollout(data, Settled(tolerance=1e9))
    assert len(tolerant) == 2
    assert torch.equal(tolerant[1], model.rollout(data, 2)[1])
    assert not caplog.text, "whoever gives a limit of their own asked for no more"


def test_bad_rules_are_refused():
    with pytest.raises(ValueError, match='"auto" or Settled'):
        check_steps("automatic")
    with pytest.raises(ValueError, match="steps must be a whole number"):
        check_steps(0)
    with pytest.raises(ValueError, match="tolerance must be a finite number of at least 0; got -1"):
        Settled(tolerance=-1)
    with pytest.raises(ValueError, match="limit must be a whole number"):
        Settled(limit=0)


def test_what_grows_by_the_same_at_every_step_is_left_alone(caplog):
    def values(step):  # nodes that are reached after one to four steps, and one that never is
        return torch.tensor([[min(step, distance)] for distance in (1.0, 2.0, 3.0, 4.0)] + [[2.0 * step]])

    with caplog.at_level("INFO"):
        taken = Settled().until(values(step) for step in range(1, 100))
    assert len(taken) == 6  # the change from the fifth to the sixth is the first that is like the one before
    assert "1 predictions grow by the same at every step" in caplog.text


def test_chosen_values_settle_where_parts_of_the_graph_have_no_source():
    two_paths = Batch.from_data_list([path_graph(9), path_graph(7)])
    data = Data(x=two_paths.x.clone(), edge_index=two_paths.edge_index)
    data.x[9:] = 0
    model = GHR(1, 4, 1, conv=None, levels=1, values="select", steps=1, t_low=1).eval()
    with torch.no_grad():  # listen to the smallest, in steps of one, and stay at zero where x is one
        cell = model.values.cells[0]
        cell.edges.base.weight.zero_(), cell.edges.base.bias.fill_(50.0)
        cell.difference.weight.fill_(-1.0), cell.choice.weight.fill_(100.0)
        cell.edges.step[2].weight.zero_(), cell.edges.step[2].bias.fill_(0.5413)
        cell.gate_input.weight.fill_(1.0), cell.gate_input.bias.zero_()
        cell.gate.weight.fill_(100.0), cell.gate.bias.fill_(-100.0)
    steps = model.rollout(data, "auto")
    assert 9 <= len(steps) <= 12
    torch.testing.assert_close(steps[-1][:9, 0], torch.arange(9.0), rtol=1e-3, atol=1e-3)

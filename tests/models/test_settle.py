import pytest
import torch

from cases import hierarchy, randomise
from ghr import GHR, Settled
from ghr.models.settle import check_steps


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

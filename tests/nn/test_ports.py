import pytest
import torch

from cases import hierarchy, randomise
from dynamics_cases import check_reset
from ghr.nn.aggregation import make_aggregation
from ghr.nn.ports import DAMPINGS, FORCINGS, append_time


def neighbourhood():
    graph = hierarchy(levels=1)
    return make_aggregation("naive", graph.edge_index, 9, torch.double, undirected=True)


def positions():
    return torch.randn(9, 4, generator=torch.Generator().manual_seed(0)).double()


@pytest.mark.parametrize("name", DAMPINGS)
def test_only_a_plain_vector_may_add_energy(name):
    value = randomise(DAMPINGS[name](4))(positions(), neighbourhood())
    assert value.shape in ((9, 4), (1, 4))
    assert value.max() > 0
    assert (value.min() < 0) == (name == "param")


@pytest.mark.parametrize("name", FORCINGS)
def test_forces_change_with_time(name):
    force = randomise(FORCINGS[name](4))
    early, late = (force(positions(), time, neighbourhood()) for time in (0.0, 1.0))
    assert early.shape == (9, 4)
    assert not torch.allclose(early, late)
    with torch.no_grad():
        for parameter in force.parameters():
            parameter *= 20
    assert (force(positions(), 1.0, neighbourhood()).abs().max() <= 1) == (name == "graph")


def test_time_is_the_last_column():
    assert append_time(torch.zeros(2, 1), 0.5).tolist() == [[0.0, 0.5], [0.0, 0.5]]


@pytest.mark.parametrize("build", [*DAMPINGS.values(), *FORCINGS.values()])
def test_reset_and_repr(build):
    check_reset(lambda: build(5))
    assert repr(build(5)) == f"{build.__name__}(5)"

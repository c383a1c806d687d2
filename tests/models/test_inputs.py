import pytest
import torch
from torch import nn
from torch_geometric.data import Data

from cases import hierarchy
from ghr import GHR, DeepGNN
from ghr.models.inputs import check_input, check_positive


def no_nodes(data):
    data.x, data.edge_index, data.edge_attr = data.x[:0], data.edge_index[:, :0], data.edge_attr[:0]


def edge_too_high(data):
    data.edge_index[1, 3] = 9


def edge_below_zero(data):
    data.edge_index[0, 3] = -1


def edges_of_wrong_type(data):
    data.edge_index = data.edge_index.double()


def edges_of_wrong_shape(data):
    data.edge_index = data.edge_index.T.contiguous()


def no_edge_index(data):
    data.edge_index = None


def nan_in_x(data):
    data.x[2, 0] = float("nan")


def infinity_in_x(data):
    data.x[2, 0] = float("inf")


def nan_in_edge_attr(data):
    data.edge_attr[1, 2] = float("nan")


def too_few_edge_features(data):
    data.edge_attr = data.edge_attr[1:]


def too_many_channels(data):
    data.x = torch.cat([data.x, data.x], dim=1)


def flat_x(data):
    data.x = data.x[:, 0]


def no_x(data):
    data.x, data.num_nodes = None, 9


def integer_x(data):
    data.x = data.x.long()


WRONG = [
    (no_nodes, "The graph has no nodes; at least one is needed"),
    (edge_too_high, "edge_index of level 0 has node 9, but nodes run from 0 to 8"),
    (edge_below_zero, "edge_index of level 0 has node -1, but nodes run from 0 to 8"),
    (edges_of_wrong_type, r"edge_index of level 0 must be an int64 tensor of shape \(2, E\); got torch.float64"),
    (edges_of_wrong_shape, r"edge_index of level 0 must be an int64 tensor of shape \(2, E\)"),
    (no_edge_index, "The graph has no edge_index"),
    (nan_in_x, "x has 1 entries that are not finite numbers"),
    (infinity_in_x, "x has 1 entries that are not finite numbers"),
    (nan_in_edge_attr, "edge_attr of level 0 has 1 entries that are not finite numbers"),
    (too_few_edge_features, "edge_attr of level 0 has 17 rows for 18 edges"),
    (too_many_channels, r"built for x of shape \(N, 2\); got \(9, 4\)"),
    (flat_x, r"built for x of shape \(N, 2\); got \(9,\)"),
    (no_x, r"built for x of shape \(N, 2\); got None"),
    (integer_x, "x must hold floating point numbers; got torch.int64"),
]


@pytest.mark.parametrize(("spoil", "sentence"), WRONG)
@pytest.mark.parametrize("kind", [GHR, DeepGNN])
def test_every_model_says_what_is_wrong(kind, spoil, sentence):
    data = hierarchy()
    assert data.num_edges == 18
    model = kind(2, 4, 1, edge_dim=3).double()
    assert model(data).shape == (9, 1)
    spoil(data)
    with pytest.raises(ValueError, match=sentence) as caught:
        model(data)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("kind", [GHR, DeepGNN])
def test_integer_edge_features_are_refused(kind):
    data = hierarchy()
    data.edge_attr = data.edge_attr.long()
    with pytest.raises(ValueError, match="edge_attr"):
        kind(2, 4, 1, edge_dim=3).double()(data)


def test_coarse_levels_are_checked_too():
    data = hierarchy()
    data.level1_edge_index[0, 0] = 99
    with pytest.raises(ValueError, match="edge_index of level 1 has node 99"):
        GHR(2, 4, 1, edge_dim=3).double()(data)


def test_good_graphs_pass():
    check_input(hierarchy(), 2, nn.Linear(1, 1).double())
    check_input(Data(x=torch.zeros(1, 3), edge_index=torch.empty(2, 0, dtype=torch.long)), 3, nn.Linear(1, 1))


def test_numbers_of_another_width_are_refused():
    with pytest.raises(ValueError, match=r"x holds torch\.float64, but the model computes with torch.float32"):
        GHR(2, 4, 1, edge_dim=3)(hierarchy())


def test_clusters_that_are_not_there_are_refused():
    outside, short = hierarchy(), hierarchy()
    outside.level1_assignment[0] = 99
    short.level1_assignment = short.level1_assignment[1:]
    with pytest.raises(ValueError, match="level 1 assigns a node to 99"):
        GHR(2, 4, 1, edge_dim=3).double()(outside)
    with pytest.raises(ValueError, match="but the level below has"):
        GHR(2, 4, 1, edge_dim=3).double()(short)


@pytest.mark.parametrize("value", [0, -2, 1.0, True, None, "3"])
def test_what_is_no_count_is_refused(value):
    with pytest.raises(ValueError, match=f"steps must be a whole number of at least 1; got {value!r}"):
        check_positive("steps", value)


def test_counts_pass():
    check_positive("steps", 1)
    check_positive("steps", 10**6)

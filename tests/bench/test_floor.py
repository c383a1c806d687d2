import pytest
import torch

from ghr import HierarchicalData
from ghr.bench import select
from ghr.bench.floor import product_flops, product_speed


@pytest.fixture
def data():
    """Five nodes, three edges; two clusters, one edge."""
    data = HierarchicalData(x=torch.ones(5, 1), edge_index=torch.tensor([[0, 1, 2], [1, 2, 3]]))
    data.append_level(torch.tensor([0, 0, 1, 1, 1]), 2, torch.tensor([[0], [1]]), None)
    return data


def test_products_of_gated_gine_are_counted_by_hand(data):
    training, inference = select(["A"])[0], select(["D"])[0]
    d, inner = 32, 48
    encoders = 5 * 1 * d + 3 * 1 * d + 1 * 2 * d
    updates = 72 * 5 * 3 * d * inner + 12 * 2 * 3 * d * inner + 12 * 2 * d * d
    assert product_flops(training, data) == 2 * 3 * (encoders + updates + 4 * 5 * d)
    assert product_flops(inference, data) == 2 * (encoders + updates + 5 * d)


def test_products_of_gated_gcn_are_counted_by_hand(data):
    d = 256
    encoders = 5 * 1 * d + 1 * 1 * d
    updates = 27 * (4 * 5 + 3) * d * d + 9 * (4 * 2 + 1) * d * d + 9 * 2 * d * d
    assert product_flops(select(["C"])[0], data) == 2 * 3 * (encoders + updates + 3 * 5 * d)


def test_the_speed_is_that_of_a_product():
    assert product_speed(64, repeats=2) > 0

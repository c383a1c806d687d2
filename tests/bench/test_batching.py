import pytest
import torch

from ghr.bench import select


@pytest.mark.parametrize("number", [0, 1])
def test_the_batch_that_is_made_is_the_one_of_the_step(number):
    workload = select(["I"])[number].quick()
    data = workload.load()
    made = workload.prepare("ghr", data)()
    assert made.num_graphs == data.num_graphs
    assert torch.equal(made.levels[1].edge_index, data.levels[1].edge_index)
    assert workload.prepare("plain", data)().shape == (data.num_nodes, 1)

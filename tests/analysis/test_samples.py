import numpy as np
import pytest
import torch
from analysis_cases import EDGE, GRAPH, NODE, graph, small
from torch_geometric.data import Data

from ghr.analysis.samples import count_row_hops, draw_graphs, draw_rows, join, prepare
from ghr.testing import path_graph


def test_graphs_are_drawn_once_each_in_order_and_by_the_seed():
    graphs = [graph(seed=seed) for seed in range(9)]
    drawn = draw_graphs(graphs, 4, 0)
    assert drawn == sorted(set(drawn))
    assert len(drawn) == 4
    assert drawn == draw_graphs(graphs, 4, 0)
    assert any(drawn != draw_graphs(graphs, 4, seed) for seed in range(1, 5))
    assert draw_graphs(graphs, 99, 3) == [*range(9)]
    with pytest.raises(ValueError, match="there are none"):
        draw_graphs([], 4, 0)


def test_rows_are_drawn_among_those_that_count():
    data = graph()
    assert draw_rows(data, NODE, 99, (0, 0)) == [*range(12)]
    assert draw_rows(data, EDGE, 99, (0, 0)) == [*range(data.num_edges)]
    data.mask = torch.arange(12) % 3 == 0
    assert draw_rows(data, NODE, 99, (0, 0)) == [0, 3, 6, 9]
    assert len(draw_rows(data, NODE, 2, (0, 0))) == 2
    assert draw_rows(data, GRAPH, 99, (0, 0)) == [*range(12)]  # a mask of graphs is none of nodes


def test_an_edge_is_as_far_as_its_nearer_end():
    data = path_graph(5)
    data.edge_index = torch.tensor([[0, 3], [1, 4]])
    assert count_row_hops(data, NODE, [0]).tolist() == [[0, 1, -1, -1, -1]]
    assert count_row_hops(data, EDGE, [0, 1]).tolist() == [[0, 0, -1, -1, -1], [-1, -1, -1, 0, 0]]
    data = path_graph(5)
    edges = [*range(data.num_edges)]
    nearest = np.minimum(*(abs(np.arange(5) - data.edge_index[end].numpy()[:, None]) for end in (0, 1)))
    assert count_row_hops(data, EDGE, edges).tolist() == nearest.tolist()


def test_a_graph_is_prepared_as_the_model_needs_it():
    data, model = graph(), small("ghr")
    assert prepare(model, data, double=False).num_levels == 2
    prepared = prepare(model, model.prepare(data), double=True)
    assert (prepared.num_levels, prepared.x.dtype, data.x.dtype) == (2, torch.float64, torch.float32)
    with pytest.raises(ValueError, match="graphs of PyTorch Geometric"):
        prepare(model, [data], double=False)


def test_graphs_with_other_attributes_are_no_batch():
    assert join([graph(), graph()]).num_nodes == 24
    with pytest.raises(ValueError, match="cannot form a batch"):
        join([graph(), Data(x=torch.ones(1, 1), length=torch.ones(1), edge_index=torch.zeros(2, 0, dtype=torch.long))])

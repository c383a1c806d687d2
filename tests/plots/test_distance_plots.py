import pytest
import torch
from matplotlib.figure import Figure
from torch_geometric.data import Data

from ghr.datasets import RGGSSSP
from ghr.plots.distances import draw_distances, draw_predictions, find_furthest


@pytest.fixture
def graph(tmp_path):
    graphs = RGGSSSP(tmp_path, "small", "test", num_graphs=40)
    return next(graph for graph in graphs if not graph.mask.all())


def colours(axes):
    return next(torch.tensor(c.get_array()).float() for c in axes.collections if c.get_array() is not None)


def test_reached_nodes_have_the_colours_of_their_values_clipped_to_the_scale(graph):
    axes = Figure().subplots()
    draw_distances(axes, graph, graph.y - 1, 3.0)
    expected = (graph.y[graph.mask, 0] - 1).clamp(0, 3)
    assert torch.allclose(colours(axes), expected, atol=1e-6)
    assert len(expected) < graph.num_nodes
    source = next(c.get_offsets() for c in axes.collections if c.get_label() == "source")
    assert torch.allclose(torch.tensor(source[0]).float(), graph.pos[int(graph.x.argmax())])


def test_every_prediction_has_a_picture_beside_the_truth(graph):
    figure = draw_predictions(graph, {"zero": torch.zeros_like(graph.y), "truth": graph.y}, 5)
    top = int(graph.y.max())
    titles = [axes.get_title() for axes in figure.axes]
    assert titles[:3] == [f"true distance, up to {top} hops", "predicted by zero", "predicted by truth"]
    true, zero, again = (colours(axes) for axes in figure.axes[:3])
    assert torch.equal(true, again)
    assert not zero.any()
    assert [line.get_ydata()[0] for line in figure.axes[3].lines] == [5], "the trained range is marked in the scale"


def test_the_furthest_graph_is_the_largest_of_those_that_reach_as_far():
    sizes = [(3, 5), (7, 2), (7, 4), (6, 9)]
    graphs = [Data(hops=torch.full((nodes,), hops), num_nodes=nodes) for hops, nodes in sizes]
    assert find_furthest(graphs) is graphs[2]

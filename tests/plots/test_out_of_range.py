import numpy as np
import pytest
import torch
from matplotlib.image import imread

from ghr.datasets import RGGSSSP
from ghr.plots.out_of_range import draw_out_of_range


@pytest.fixture
def graph(tmp_path):
    return RGGSSSP(tmp_path, "small", "test", num_graphs=1)[0]


def errors(slope):
    return {"by_distance": {str(d): {"mae": slope * d, "count": 1} for d in range(9)}}


def test_the_figure_shows_the_curves_and_the_predictions(tmp_path, graph):
    draw_out_of_range(tmp_path / "a.png", {"GHR": errors(0.1), "deep": errors(0.4)}, 5, graph, {"GHR": graph.y})
    draw_out_of_range(
        tmp_path / "b.png", {"GHR": errors(0.1), "deep": errors(0.4)}, 5, graph, {"GHR": torch.zeros_like(graph.y)}
    )
    good, bad = imread(tmp_path / "a.png"), imread(tmp_path / "b.png")
    assert good.shape == bad.shape
    width = good.shape[1]
    assert np.array_equal(good[:, : width // 2], bad[:, : width // 2]), "same curves, same truth"
    assert not np.array_equal(good[:, width * 2 // 3 :], bad[:, width * 2 // 3 :]), "other predictions, other picture"


def test_a_folder_that_is_not_there_is_a_sentence(tmp_path, graph):
    with pytest.raises(OSError, match="Could not write"):
        draw_out_of_range(tmp_path / "nowhere" / "a.png", {"GHR": errors(1)}, 5, graph, {"GHR": graph.y})

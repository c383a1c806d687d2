import numpy as np
import pytest

from ghr.analysis import Profile
from ghr.plots.influence import draw_influence

HOPS = np.array([0, 1, 1, 2, 3])
PROFILE = Profile.of([np.array([4.0, 2.0, 1.0, 1e-9, 0.0])], [HOPS]).describe()
NOTHING = Profile.of([np.zeros(5)], [HOPS]).describe()


def test_influence_stands_beside_errors():
    figure = draw_influence({"near": PROFILE}, {"near": {0: 0.5, 2: 1.5, 1: 1.0}}, in_range=1, title="Both")
    left, right = figure.axes
    curve, own, even = left.lines
    assert curve.get_xdata().tolist() == [0, 1]
    assert curve.get_ydata() == pytest.approx([4 / 7, 3 / 7 / 2], rel=1e-6)
    assert own.get_xdata()[0] == pytest.approx(3 / 7)
    assert even.get_xdata()[0] == pytest.approx(7 / 5)
    assert [text.get_text() for text in left.get_legend().get_texts()] == ["near: range 0.4", "all nodes alike: 1.4"]
    assert right.lines[0].get_xydata().tolist() == [[0, 0.5], [1, 1.0], [2, 1.5]]
    assert right.lines[0].get_color() == curve.get_color()
    assert len(right.patches) == 1


def test_without_distances_there_is_one_panel_and_no_range_is_said():
    figure = draw_influence({"constant": NOTHING})
    (axes,) = figure.axes
    assert [text.get_text() for text in axes.get_legend().get_texts()] == ["constant: no range"]
    assert len(axes.lines) == 1

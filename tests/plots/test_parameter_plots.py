from matplotlib.colors import to_hex

from ghr.plots.colours import COLOURS
from ghr.plots.parameters import Sized, draw_parameters

MODELS = [
    Sized("a", 0, 10_000, {"near": (0.5, 0.1), "far": (2.0, None)}),
    Sized("b", 2, 20_000, {"near": (1.0, None), "far": None}),
]


def test_points_stand_at_their_size_and_the_legend_names_their_numbers():
    figure = draw_parameters(MODELS, ["near", "far"])
    near, far = figure.axes
    assert [text.get_text() for text in figure.legends[0].get_texts()] == ["1 a", "2 b"]
    assert [to_hex(text.get_color()) for text in figure.legends[0].get_texts()] == [COLOURS[0], COLOURS[2]]
    assert [tuple(bar.lines[0].get_xydata()[0]) for bar in near.containers] == [(10_000, 0.5), (20_000, 1.0)]
    assert len(far.containers) == 1, "what has no error is not drawn"
    assert [text.get_text() for text in near.texts] == ["1", "2"]
    assert (near.get_title(), far.get_title()) == ("near", "far")


def test_nothing_to_draw_is_empty_axes():
    figure = draw_parameters([], ["near", "far"])
    assert not figure.legends
    assert len(figure.axes) == 2

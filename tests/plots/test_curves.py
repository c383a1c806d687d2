from ghr.plots.curves import Panel, draw_curves

LINE = {d: (d / 10, 0.1) for d in range(9)}


def test_every_curve_has_its_points_and_its_name():
    figure = draw_curves([Panel("left", 5, {"a": LINE, "b": {1: (2.0, None)}}), Panel("right", 8, {"c": LINE})])
    left, right = figure.axes
    assert [text.get_text() for text in left.get_legend().get_texts()] == ["a", "b"]
    assert [text.get_text() for text in right.get_legend().get_texts()] == ["c"]
    assert left.lines[0].get_xydata().tolist() == [[d, d / 10] for d in range(9)]
    assert left.patches[0].get_x() + left.patches[0].get_width() == 5.5, "the trained range is shaded"
    assert left.get_title() == "left"


def test_a_lost_model_does_not_flatten_the_others():
    lost = {d: (1e6, None) for d in range(9)}
    for curves in ({"lost": lost, "good": LINE}, {"good": LINE, "lost": lost}):
        (axes,) = draw_curves([Panel("", 5, curves)]).axes
        assert axes.get_ylim() == (0, 8.5)


def test_the_panels_show_the_same_errors_whichever_has_the_larger():
    high = {d: (5.0, 0.0) for d in range(9)}
    for panels in ([Panel("", 5, {"a": LINE}), Panel("", 5, {"a": high})], [Panel("", 5, {"a": high})]):
        assert all(5 < axes.get_ylim()[1] < 8 for axes in draw_curves(panels).axes)


def test_nothing_to_draw_is_empty_axes():
    (axes,) = draw_curves([Panel("", 5, {})]).axes
    assert not axes.lines
    assert axes.get_legend() is None


def test_a_curve_under_another_is_wider():
    (axes,) = draw_curves([Panel("", 5, dict.fromkeys("abc", LINE))]).axes
    widths = [line.get_linewidth() for line in axes.lines]
    assert widths == sorted(set(widths), reverse=True)


def test_a_label_has_the_same_line_in_every_panel_and_one_legend_names_it():
    labels = ["a", "b", "c", "never drawn"]
    panels = [Panel("", None, dict.fromkeys(drawn, LINE)) for drawn in (["a", "b"], ["b", "c"], ["c"], ["c", "a"])]
    figure = draw_curves(panels, labels)
    looks = {(line.get_label(), line.get_color(), line.get_linestyle()) for axes in figure.axes for line in axes.lines}
    assert len(looks) == 3
    (legend,) = figure.legends
    assert [text.get_text() for text in legend.get_texts()] == ["a", "b", "c"]
    assert all(axes.get_legend() is None for axes in figure.axes)


def test_many_panels_stand_in_rows_of_two():
    drawn = [axes for axes in draw_curves([Panel("", 5, {"a": LINE})] * 5).axes if axes.axison]
    assert len(drawn) == 5
    assert len({axes.get_position().x0 for axes in drawn}) == 2


def test_a_logarithmic_axis_is_not_stretched_by_errors_of_rounding():
    curves = {"exact": {d: (1e-15 if d < 3 else 0.01, None) for d in range(9)}, "bad": LINE}
    (axes,) = draw_curves([Panel("", None, curves)], logarithmic=True).axes
    assert axes.get_yscale() == "log"
    assert axes.get_ylim()[0] > 1e-6


def test_a_logarithmic_axis_goes_down_to_a_very_good_model_but_not_to_an_exact_one():
    for error, most in ((2e-5, 2e-5), (1e-14, 1e-5)):
        curves = {"good": {d: (error, None) for d in range(9)}, "bad": LINE, "none": {}}
        (axes,) = draw_curves([Panel("", None, curves)], logarithmic=True).axes
        assert 1e-8 < axes.get_ylim()[0] < most

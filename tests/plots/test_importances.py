from ghr.plots.importances import draw_all_importances, draw_importances


def test_the_most_important_setting_stands_on_top(tmp_path):
    figure = draw_importances({"lr": 0.2, "steps": 0.7, "pool": 0.1}, "ghr on echo-sssp")
    axes = figure.axes[0]
    assert [label.get_text() for label in axes.get_yticklabels()] == ["pool", "lr", "steps"]
    assert [bar.get_width() for bar in axes.patches] == [0.1, 0.2, 0.7]
    figure.savefig(tmp_path / "importances.png")
    assert (tmp_path / "importances.png").stat().st_size > 1000


def test_several_stand_side_by_side():
    figure = draw_all_importances({"one": {"lr": 1.0}, "two": {"lr": 0.4, "steps": 0.6}})
    assert [axes.get_title() for axes in figure.axes] == ["one", "two"]
    assert [len(axes.patches) for axes in figure.axes] == [1, 2]
    assert [bar.get_width() for bar in figure.axes[1].patches] == [0.4, 0.6]

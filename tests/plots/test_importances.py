from ghr.plots.importances import draw_importances


def test_the_most_important_setting_stands_on_top(tmp_path):
    figure = draw_importances({"lr": 0.2, "steps": 0.7, "pool": 0.1}, "ghr on echo-sssp")
    axes = figure.axes[0]
    assert [label.get_text() for label in axes.get_yticklabels()] == ["pool", "lr", "steps"]
    assert [bar.get_width() for bar in axes.patches] == [0.1, 0.2, 0.7]
    figure.savefig(tmp_path / "importances.png")
    assert (tmp_path / "importances.png").stat().st_size > 1000

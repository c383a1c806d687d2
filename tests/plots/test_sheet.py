import pytest
import torch
from matplotlib.figure import Figure
from matplotlib.image import imread

from ghr.datasets import LRIM, RGGSSSP, ECHOSynth
from ghr.plots.sheet import draw_sheet


@pytest.fixture
def figures(monkeypatch):
    """The figures that were saved."""
    saved, original = [], Figure.savefig

    def savefig(self, *arguments, **options):
        saved.append(self)
        original(self, *arguments, **options)

    monkeypatch.setattr(Figure, "savefig", savefig)
    return saved


def panels(figure):
    return [axes for axes in figure.axes if axes.get_title()]


def test_nodes_are_coloured_by_target_in_its_unit(tmp_path, figures):
    graphs = list(ECHOSynth(tmp_path, "sssp", "val", num_graphs=6))
    draw_sheet(tmp_path / "sheet.png", graphs, title="Some graphs", unit="hops", scale=40.0)
    assert imread(tmp_path / "sheet.png").shape[2] == 4
    (figure,) = figures
    assert figure.get_suptitle() == "Some graphs"
    assert len(panels(figure)) == 6
    for axes, graph in zip(panels(figure), graphs, strict=True):
        farthest = round(40 * float(graph.y.max()))
        assert axes.get_title() == f"{graph.num_nodes} nodes, 0 to {farthest} hops"
        colours = next(c.get_array() for c in axes.collections if c.get_array() is not None)
        assert torch.allclose(torch.tensor(colours), 40 * graph.y[:, 0].double(), atol=1e-5)


def test_lattices_are_images_and_graph_targets_fill_their_graph(tmp_path, figures):
    lattices = list(LRIM(tmp_path, size=4, temperature=6.0, num_graphs=1, split="test"))
    draw_sheet(tmp_path / "a.png", lattices, title="Lattices", unit="J")
    (image,) = panels(figures[0])[0].images
    assert torch.allclose(torch.tensor(image.get_array().data).flatten(), lattices[0].y[:, 0].double(), atol=1e-5)
    graphs = list(ECHOSynth(tmp_path, "diam", "val", num_graphs=1))
    draw_sheet(tmp_path / "b.png", graphs, title="Diameters", unit="hops", scale=40.0)
    diameter = round(40 * float(graphs[0].y))
    assert panels(figures[1])[0].get_title() == f"{graphs[0].num_nodes} nodes, {diameter} hops"


def test_nodes_out_of_reach_are_not_coloured(tmp_path, figures):
    graphs = [graph for graph in RGGSSSP(tmp_path, num_graphs=40) if not graph.mask.all()][:2]
    draw_sheet(tmp_path / "a.png", graphs, title="Graphs", unit="hops")
    for axes, graph in zip(panels(figures[0]), graphs, strict=True):
        colours = next(c.get_array() for c in axes.collections if c.get_array() is not None)
        assert len(colours) == int(graph.mask.sum()) < graph.num_nodes

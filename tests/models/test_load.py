import pytest
import torch
from torch import nn
from torch_geometric.data import Data

import ghr
from ghr import GHR, DeepGNN, GraphModel, MinPlusGHR
from ghr.hierarchy.lattice import lattice_edges
from ghr.models.load import find_class
from ghr.models.pretrained import BUNDLED
from ghr.testing import path_graph

NAMES = sorted(path.parent.name for path in BUNDLED.glob("*/config.json"))


@pytest.mark.parametrize("name", NAMES)
def test_every_bundled_model_is_loaded_by_its_name(name):
    model = ghr.load(name)
    assert isinstance(model, GHR | MinPlusGHR)
    assert not model.training
    assert "steps" in model.loops
    graph = Data(x=torch.ones(16, 1), edge_index=lattice_edges(4))  # which every one of them takes
    graph.edge_attr = torch.ones(graph.num_edges, 1)
    prediction = model(model.prepare(graph))
    assert prediction.shape == (16, 1)
    assert torch.isfinite(prediction).all()


def test_there_are_some():
    assert len(NAMES) >= 4


def test_any_class_is_loaded_from_a_folder(tmp_path):
    model = DeepGNN(1, 4, 1, layers=1)
    model.save_pretrained(tmp_path / "a")
    for path in (tmp_path / "a", str(tmp_path / "a")):
        again = ghr.load(path)
        assert type(again) is DeepGNN
        assert torch.equal(again(path_graph(4)), model(path_graph(4)))


def test_what_is_not_there_is_refused_with_the_names_that_are(tmp_path):
    with pytest.raises(FileNotFoundError, match=f"no saved model at nothing .* with the package: {', '.join(NAMES)}"):
        ghr.load("nothing")
    (tmp_path / "config.json").write_text('{"train": {}, "model": {"name": "ghr"}}')
    with pytest.raises(ValueError, match="is not the config of a saved model of this version"):
        ghr.load(tmp_path)


class Mine(GraphModel):
    def __init__(self, in_channels: int, hidden_channels: int, out_channels: int, *, bias: bool = True) -> None:
        super().__init__()
        self.map = nn.Linear(in_channels, out_channels, bias)
        self.remember(in_channels=in_channels, hidden_channels=hidden_channels, out_channels=out_channels, bias=bias)

    def rollout(self, data: Data, **loops: object) -> list[torch.Tensor]:
        return [self.map(data.x)]


def test_a_class_of_one_s_own_is_loaded_once_it_is_in_the_map(tmp_path, monkeypatch):
    Mine(1, 4, 1, bias=False).save_pretrained(tmp_path)
    with pytest.raises(ValueError, match=r"No model of ghr\.MODELS is a Mine; add yours .* = ghr\.Entry\(Mine\)"):
        ghr.load(tmp_path)
    monkeypatch.setitem(ghr.MODELS, "mine", ghr.Entry(Mine, {"bias": False}))
    assert type(ghr.load(tmp_path)) is Mine
    assert find_class("Mine") is Mine
    with pytest.raises(ValueError, match="Mine has no option 'colour'"):
        ghr.load(tmp_path, colour="red")


@pytest.mark.parametrize("place", [None, 5, b"model", ["model"], torch.ones(2)])
def test_a_place_is_a_name_or_a_path(place):
    with pytest.raises(ValueError, match="A model is loaded by its name or the path of its folder; got"):
        ghr.load(place)


def test_a_name_that_no_file_can_have_is_no_model():
    with pytest.raises(FileNotFoundError, match="There is no saved model at 'aaa"):
        ghr.load("a" * 500)

import pytest
from torch import nn

from ghr import GHR, MODELS, DeepGNN, Entry, GraphModel, Task
from ghr.testing import random_graph

EXAMPLE = random_graph(6, 9, edge_dim=1)


def test_user_before_name_before_suggestion_before_class():
    entry = Entry(GHR, {"conv": "gine", "steps": 3})
    suggested = {"conv": "gcn", "steps": 7, "t_low": 5, "hidden_channels": 8, "rounds": 1}
    config = entry.for_data(EXAMPLE, Task("node"), {"steps": 2, "rounds": 2}, suggested).config
    assert config["steps"] == 2
    assert config["conv"] == "gine"
    assert (config["t_low"], config["hidden_channels"]) == (5, 8)
    assert (config["pool"], config["t_high"]) == ("max", 1)
    assert config["coarsen"]["rounds"] == 2
    alone = entry.for_data(EXAMPLE, Task("node"), {}).config
    assert (alone["steps"], alone["t_low"], alone["hidden_channels"]) == (3, 1, 32)


def test_a_model_takes_what_concerns_it():
    suggested = {"steps": 2, "t_high": 3, "t_low": 4, "pool": "sum", "rounds": 1, "anything": 1}
    flat = MODELS["recurrent-gine"].for_data(EXAMPLE, Task("node"), {}, suggested)
    assert (flat.config["levels"], flat.config["steps"], flat.config["t_low"]) == (1, 1, 20)
    stack = MODELS["deep-gine"].for_data(EXAMPLE, Task("node"), {}, suggested)
    assert stack.config["steps"] is None
    coarse = MODELS["ghr"].for_data(EXAMPLE, Task("node"), {}, suggested)
    assert (coarse.config["t_high"], coarse.config["pool"], coarse.config["coarsen"]["rounds"]) == (3, "sum", 1)


@pytest.mark.parametrize("own", [{"partition": "graclus"}, {"coarsen": {}}])
def test_who_chooses_a_partition_is_suggested_no_options_of_another(own):
    suggested = {"t_high": 3, "partition": "grid", "block": 3}
    assert MODELS["ghr"].for_data(EXAMPLE, Task("node"), own, suggested).config["coarsen"]["partition"] == "graclus"


def test_a_suggested_readout_is_taken_by_all_that_have_one():
    suggested = {"readout": "graph-mlp"}
    for name in ("ghr", "deep-gine", "gps"):
        assert MODELS[name].for_data(EXAMPLE, Task("graph"), {}, suggested).config["readout"] == "graph-mlp"


def test_distances_keep_their_own_readout():
    """A readout with a constant, good for GHR, would spoil lengths beyond those of training."""
    marked = random_graph(6, 9)
    marked.x = marked.x.abs().clamp(max=1)
    model = MODELS["min-plus"].for_data(marked, Task("node"), {}, {"readout": "node", "steps": 9})
    assert (model.config["readout"], model.config["steps"]) == ("proportional", 2)


class Plain(GraphModel):
    def __init__(self, in_channels, hidden_channels, out_channels):
        super().__init__()
        self.map = nn.Linear(in_channels, out_channels)
        self.remember(in_channels=in_channels, hidden_channels=hidden_channels, out_channels=out_channels)


def test_a_model_without_a_readout_is_suggested_none():
    model = Entry(Plain).for_data(EXAMPLE, Task("node"), {}, {"readout": "node-mlp", "hidden_channels": 8})
    assert model.config == {"in_channels": 1, "hidden_channels": 32, "out_channels": 1}


@pytest.mark.parametrize("build", [nn.Linear, "ghr", GHR(1, 2, 1), None])
def test_only_classes_of_models_have_an_entry(build):
    with pytest.raises(ValueError, match="A model is built by a subclass of GraphModel; got"):
        Entry(build)


def test_all_names_of_the_map_have_words():
    for name, entry in MODELS.items():
        assert name == name.lower()
        assert entry.summary, name
        assert entry.reference, name
        unknown = set(entry.options) - set(entry.build.option_names())
        assert not unknown, name
    assert {entry.build for entry in MODELS.values()} >= {GHR, DeepGNN}


@pytest.mark.parametrize("options", [None, 5, ["levels"], {1: 2}])
def test_options_are_named(options):
    for call in (lambda: Entry(GHR, options), lambda: Entry(GHR).for_data(EXAMPLE, Task("node"), options)):
        with pytest.raises(ValueError, match="The options of a model are a mapping of names to values; got"):
            call()

import html
import io
import json
import re
import sys

import pytest
import torch
from view_cases import GRAPH, NODE, graph, small, three_levels

from cases import ANY_GRAPH
from ghr import Coarsen, Graclus, Task, progress
from ghr.hierarchy.data import levels_of
from ghr.ops.backend import using
from ghr.plots import sparse_layout
from ghr.view import Page, Subject, make_page
from ghr.view.collect import Frame, Recording
from ghr.view.page import MOST_NODES


def content(page):
    return json.loads(re.search(r'id="content">(.*?)</script>', page.text, re.DOTALL)[1])


def test_a_page_holds_all_that_it_shows():
    page = make_page([Subject("mine", three_levels())], graph(), NODE, hops=torch.arange(24) % 5, in_range=3)
    held = content(page)
    assert (held["title"], held["nodes"], held["inRange"]) == ("mine", 24, 3)
    (run,) = held["runs"]
    assert [field["key"] for field in run["fields"]][:3] == ["prediction", "error", "change"]
    assert sum(field["key"].startswith("influence") for field in run["fields"]) == 8
    assert sum(field["key"].startswith("state") for field in run["fields"]) == 4
    assert len(run["byDistance"]["error"]) == len(run["frames"]) == 29
    assert dict(run["facts"])["parameters"] == f"{three_levels().num_parameters:,}"
    assert not re.search(r"https?://|src=|@import|url\(", page.text)
    assert not re.search(r"\{\{(title|css|js|data)\}\}", page.text)


@pytest.mark.parametrize("name", ANY_GRAPH)
def test_every_model_has_a_page(name):
    with using("torch"):  # kernels would have to be compiled
        (run,) = content(make_page([Subject(name, small(name))], graph(), NODE, nodes=(3,)))["runs"]
    keys = {field["key"] for field in run["fields"]}
    assert {"prediction", "error"} <= keys
    assert len(run["frames"]) == (1 if name == "constant" else len(run["error"]))
    assert len(run["frames"]) == 1 or "change" in keys
    assert run["error"][-1] is not None


def test_what_may_take_long_has_a_bar(monkeypatch):
    monkeypatch.setattr(progress, "DELAY", 0.0)
    monkeypatch.setattr(sparse_layout, "LARGE", 3)
    monkeypatch.setattr(sys, "stderr", io.StringIO())
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True, raising=False)
    for name in ("ghr", "gcn"):
        make_page([Subject("mine", small(name))], graph(), NODE, nodes=(0,))
    said = sys.stderr.getvalue()
    assert [word for word in ("Layout", "Updates", "Layers", "Influence") if f"{word}: " not in said] == []


def test_channels_that_are_not_there_are_named():
    (run,) = content(make_page([Subject("mine", small("ghr"))], graph(), NODE, channels=(1, 8, "pc9")))["runs"]
    assert [field["title"] for field in run["fields"] if field["key"].startswith("state")] == ["state, channel 1"]
    assert "Not there, of 8 channels: 8, pc9." in run["notes"]


def test_two_models_have_the_same_colours_for_the_same_unit():
    subjects = [Subject("one", small("ghr")), Subject("two", small("deep-gine"))]
    first, second = content(make_page(subjects, graph(), NODE))["runs"]
    for key in ("prediction", "error"):
        spans = [next(field["span"] for field in run["fields"] if field["key"] == key) for run in (first, second)]
        assert spans[0] == spans[1]
    assert (len(first["levels"]), len(second["levels"]), second["unit"]) == (2, 1, "layer")


@pytest.mark.parametrize(
    "task", [GRAPH, Task("edge"), Task("node", out_channels=3, loss="cross_entropy")], ids=["graph", "edge", "classes"]
)
def test_other_tasks(task):
    data = graph(task=task)
    held = content(make_page([Subject("mine", small("ghr", task))], data, task))
    (run,) = held["runs"]
    keys = [field["key"] for field in run["fields"]]
    assert ("prediction" in keys) == (task.level != "graph")
    assert (run["answer"] is None) == (task.level != "graph")
    assert run["error"][-1] > 0


def test_a_graph_without_targets_has_no_errors():
    data = graph()
    del data["y"]
    held = content(make_page([Subject("mine", small("ghr"))], data, NODE, nodes=()))
    assert (held["target"], held["runs"][0]["error"]) == (None, None)
    assert not any(field["key"] in ("error", "influence0") for field in held["runs"][0]["fields"])


def test_it_shows_itself_in_a_notebook_and_is_written_whole(tmp_path):
    page = make_page([Subject("<b>&", small("mlp"))], graph(), NODE)
    frame = page._repr_html_()
    assert html.unescape(re.search(r'srcdoc="([^"]*)"', frame)[1]) == page.text
    assert "<title>&lt;b&gt;&amp;</title>" in page.text
    assert page.save(tmp_path / "page.html").read_text() == page.text
    assert [path.name for path in tmp_path.iterdir()] == ["page.html"]
    assert repr(page).startswith("Page('<b>&', 0.")


def test_numbers_that_are_none_do_not_break_it():
    model = small("ghr")
    with torch.no_grad():
        next(model.readout.parameters()).fill_(torch.nan)
    assert content(make_page([Subject("mine", model)], graph(), NODE))["runs"][0]["error"][-1] is None


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"nodes": (3, 24)}, "There is no node 24: this graph has the nodes 0 to 23."),
        ({"nodes": range(9)}, "the influence on at most 8 nodes; got 9"),
        ({"channels": range(9)}, "at most 8 channels or components; got 9"),
        ({"channels": (-1,)}, "numbers of channels from 0, such as 3, and principal components, such as pc1; got -1"),
        ({"channels": ("pc0",)}, "such as pc1; got 'pc0'"),
        ({"frames": 65}, "frames must be a whole number of at most 64; got 65"),
        ({"output": 1}, "output must be a whole number of at most 0; got 1"),
    ],
)
def test_bad_options_are_sentences(options, sentence):
    with pytest.raises(ValueError, match=re.escape(sentence)):
        make_page([Subject("mine", small("ghr"))], graph(), NODE, **options)


def test_what_a_page_cannot_show_is_a_sentence():
    subject = Subject("mine", small("mlp"))
    with pytest.raises(ValueError, match="one model, or two side by side; got 3"):
        make_page([subject] * 3, graph(), NODE)
    large = graph(MOST_NODES + 1, 10)
    with pytest.raises(ValueError, match="up to 20,000 nodes; this one has 20,001"):
        make_page([subject], large, NODE)
    with pytest.raises(ValueError, match="here graphs have them"):
        make_page([Subject("mine", small("ghr", GRAPH))], graph(task=GRAPH), GRAPH, nodes=(1,))


def test_a_graph_that_is_coarsened_already_keeps_its_levels():
    data = Coarsen(Graclus(rounds=2))(graph())
    held = content(make_page([Subject("mine", small("ghr"))], data, NODE, nodes=()))
    assert [level["nodes"] for level in held["runs"][0]["levels"]] == [level.num_nodes for level in data.levels]


def test_five_thousand_nodes_and_64_frames_stay_below_3_megabytes(monkeypatch):
    size = 5000
    data = graph(size, 30_000)
    noise = torch.randn(64, size, 8, generator=torch.Generator().manual_seed(0))  # what compresses worst
    data.pos = noise[0, :, :2]
    frames = [Frame(number, 1, 0, states[:, :1], (states,)) for number, states in enumerate(noise)]
    recording = Recording(tuple(frames), "update", 63, 63, levels_of(data))
    monkeypatch.setattr("ghr.view.page.collect", lambda *given, **options: recording)
    page = make_page([Subject("mine", small("mlp"))], data, NODE, nodes=(0,), channels=range(8))
    (run,) = content(page)["runs"]
    assert 2_000_000 < len(page.text.encode()) < 3_000_000
    assert {"prediction", "error", "change", "influence0", "state0"} <= {field["key"] for field in run["fields"]}
    assert any(note.startswith("Left out, to keep the page below 3 MB: state, channel") for note in run["notes"])


def test_a_page_is_a_value():
    assert Page("a", "b") == Page("a", "b")

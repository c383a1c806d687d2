"""The page in a real browser: it loads, steps, plays, links its panes and shows the right numbers."""

import re
import time

import pytest
import torch
from view_cases import GRAPH, NODE, graph, small, three_levels

from ghr.analysis import measure_influence
from ghr.view import Subject, make_page
from ghr.view.collect import collect

HOPS = torch.arange(24) % 6


@pytest.fixture(scope="module")
def pages(tmp_path_factory):
    folder = tmp_path_factory.mktemp("pages")
    mine, deep = Subject("mine", three_levels()), Subject("deep", small("deep-gine"))
    options = {"hops": HOPS, "in_range": 3, "nodes": (2, 9)}
    made = {
        "one": make_page([mine], graph(), NODE, **options),
        "two": make_page([mine, deep], graph(), NODE, **options),
        "graph": make_page([Subject("mine", small("ghr", GRAPH))], graph(task=GRAPH), GRAPH),
    }
    return {name: page.save(folder / f"{name}.html") for name, page in made.items()}


@pytest.mark.parametrize("name", ["one", "two", "graph"])
def test_it_loads_in_silence_and_asks_nobody(browser, pages, name):
    browser.open(pages[name])
    assert browser.messages() == []
    assert [url for url in browser.requests() if not url.startswith(("file://", "data:"))] == []
    assert browser.run("return document.querySelectorAll('canvas').length") == {"one": 6, "two": 9, "graph": 6}[name]


def test_it_steps_by_button_slider_and_key(browser, pages):
    browser.open(pages["one"])
    assert browser.text("#frame-label") == "Frame 29 of 29"
    assert "after update 28 of 28, step 2, the graph was updated" in browser.text(".status")
    browser.click("#first")
    assert browser.text("#frame-label") == "Frame 1 of 29"
    assert "before the first update" in browser.text(".status")
    browser.click("#forward")
    assert "after update 1 of 28, step 1, level 2 was updated" in browser.text(".status")
    browser.click("#theme")  # a button has the keys now; arrows still step
    for key in ("\ue014", "\ue014", "\ue012"):  # right, right, left
        browser.press(key)
    assert browser.text("#frame-label") == "Frame 3 of 29"
    browser.run("const s = document.getElementById('slider'); s.value = 11; s.dispatchEvent(new Event('input'))")
    assert browser.text("#frame-label") == "Frame 12 of 29"
    assert browser.messages() == []


def test_stepping_changes_the_colours_and_nothing_else(browser, pages):
    browser.open(pages["one"])
    browser.choose("#field", "state0")
    picture = "const p = ghrView.panes[0]; return [p.edges.toDataURL(), p.nodes.toDataURL()]"
    browser.click("#first")
    edges, nodes = browser.run(picture)
    browser.click("#last")
    assert browser.run(picture)[0] == edges
    assert browser.run(picture)[1] != nodes


def test_it_plays_to_the_end_and_pauses(browser, pages):
    browser.open(pages["one"])
    browser.choose("#speed", "25")
    browser.click("#play")
    assert browser.text("#play-text") == "Pause"
    deadline = time.monotonic() + 60
    while browser.text("#play-text") == "Pause" and time.monotonic() < deadline:
        time.sleep(0.1)
    assert (browser.text("#play-text"), browser.text("#frame-label")) == ("Play", "Frame 29 of 29")
    browser.choose("#speed", "2")
    browser.click("#play")
    browser.click("#play")
    held = browser.text("#frame-label")
    time.sleep(0.8)
    assert browser.text("#frame-label") == held


def test_the_panes_are_linked_both_ways(browser, pages):
    data = three_levels().prepare(graph())
    first = data.levels[1].clusters
    browser.open(pages["one"])
    size = first.bincount()
    cluster = int(size.argmax())
    browser.point_at(1, cluster)
    members = (first == cluster).nonzero().flatten().tolist()
    assert sorted(browser.run("return ghrView.panes[0].lit")) == members
    assert f"Cluster {cluster} of {len(members)} nodes" in browser.text(".pane:nth-child(2) figcaption")
    browser.point_at(0, members[0])
    assert browser.run("return ghrView.panes[1].lit") == [cluster]
    browser.choose("#level", "2")
    second = data.levels[2].clusters[first]
    top = int(second[members[0]])
    browser.point_at(0, members[0])
    assert browser.run("return ghrView.panes[1].lit") == [top]
    browser.point_at(1, top)
    assert sorted(browser.run("return ghrView.panes[0].lit")) == (second == top).nonzero().flatten().tolist()


def test_numbers_at_nodes_are_those_of_the_model(browser, pages):
    model = three_levels()
    data = model.prepare(graph())
    frames = collect(model, data).frames
    browser.open(pages["one"])
    read = "return Array.from(ghrView.valuesOf(ghrView.runs[0], arguments[0], arguments[1], arguments[2]))"
    for number in (0, 3, 14, 28):
        found = torch.tensor(browser.run(read, "prediction", 0, number))
        truth = frames[number].prediction[:, 0]
        torch.testing.assert_close(found, truth, rtol=0, atol=float(truth.max() - truth.min()) / 1e4 + 1e-6)
        error = torch.tensor(browser.run(read, "error", 0, number))
        torch.testing.assert_close(error, (truth - graph().y[:, 0]).abs(), rtol=0, atol=1e-3)
    clusters = data.levels[1].clusters
    mean = torch.tensor(browser.run(read, "prediction", 1, 28))
    expected = torch.stack([frames[28].prediction[clusters == k, 0].mean() for k in range(len(mean))])
    torch.testing.assert_close(mean, expected, rtol=0, atol=1e-3)
    influence = measure_influence(model, data, [9])[0]
    found = torch.tensor([value or 0.0 for value in browser.run(read, "influence1", 0, 0)])
    torch.testing.assert_close(found, influence / influence.max(), rtol=0.1, atol=1e-6)


def test_a_node_has_a_history(browser, pages):
    browser.open(pages["one"])
    browser.point_at(0, 7)
    browser.press_pointer()
    model = three_levels()
    prediction = model(model.prepare(graph()))[7].item()
    text = browser.text("#history-text")
    assert browser.text("#history-title") == "Node 7"
    assert float(re.search(r"predicts (\S+)", text)[1]) == pytest.approx(prediction, abs=2e-3)
    assert float(re.search(r"the target, (\S+?)\.? ", text)[1]) == pytest.approx(graph().y[7].item(), abs=1e-3)
    assert "1 hop away" in text
    assert browser.run("return document.querySelectorAll('#history-chart path').length") == 1
    browser.press("\ue00c")
    assert "Click a node" in browser.text("#history-text")


def test_errors_by_distance_are_those_of_the_frame(browser, pages):
    browser.open(pages["one"])
    model = three_levels()
    error = (model(model.prepare(graph())).detach() - graph().y).abs()[:, 0]
    near, far = (float(error[HOPS <= 3].mean()), float(error[HOPS > 3].mean()))
    said = re.search(r"mine: (\S+) up to 3 hops as in training, (\S+) beyond", browser.text("#distance-text"))
    assert [float(said[1]), float(said[2])] == pytest.approx([near, far], rel=1e-3)


def test_every_field_and_both_themes_and_zoom_draw_without_complaint(browser, pages):
    browser.open(pages["two"])
    keys = browser.run("return [...document.querySelectorAll('#field option')].map((o) => o.value)")
    assert {"prediction", "error", "change", "influence0", "influence1", "state0"} <= {*keys}
    for key in keys:
        browser.choose("#field", key)
        assert browser.run("return ghrView.state.field") == key
    before = browser.run("return document.documentElement.dataset.theme")
    browser.click("#theme")
    assert browser.run("return document.documentElement.dataset.theme") != before
    browser.click("#zoom-in")
    assert browser.run("return ghrView.state.zoom.k") == 1.25
    browser.click("#fit")
    assert browser.run("return ghrView.state.zoom.k") == 1
    assert browser.messages() == []


def test_two_runs_move_together(browser, pages):
    browser.open(pages["two"])
    browser.run("const s = document.getElementById('slider'); s.value = 2; s.dispatchEvent(new Event('input'))")
    first, second = browser.run("return [...document.querySelectorAll('.status')].map((e) => e.textContent)")
    assert first.startswith("after update 2 of 28")
    assert second.startswith("after layer 2 of 3")
    browser.click("#last")
    assert browser.run("return document.querySelectorAll('.status')[1].textContent").startswith("after layer 3 of 3")


def test_nothing_is_wider_than_a_phone(browser, pages):
    size = {"width": 360, "height": 740, "deviceScaleFactor": 2, "mobile": True}
    browser.driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
    try:
        browser.open(pages["two"])
        assert browser.run("return document.documentElement.scrollWidth") <= 360
        assert browser.run("return [...document.querySelectorAll('button')].every((b) => b.offsetHeight >= 40)")
    finally:
        browser.driver.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})


def test_the_answer_for_a_graph_has_a_history(browser, pages):
    browser.open(pages["graph"])
    model = small("ghr", GRAPH)
    answer = model(model.prepare(graph(task=GRAPH))).item()
    assert browser.text("#history-title") == "Prediction for the graph"
    assert float(re.search(r"predicts (\S+)", browser.text("#history-text"))[1]) == pytest.approx(answer, rel=1e-3)

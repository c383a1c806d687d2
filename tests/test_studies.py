"""The studies at the root of the repository, which are no part of the package."""

import importlib
import json
import math
import os
import subprocess
import sys
from pathlib import Path

import networkx as nx
import pytest
import torch
from torch_geometric.data import Data

from cases import randomise, relative_error
from ghr import CentrePaths, Coarsen, Graclus, MinPlusGHR
from ghr.datasets import RGGSSSP
from ghr.testing import assert_batch_equals_loop, assert_permutation_equivariant, random_graph

FOLDER = Path(__file__).parent.parent / "studies" / "min_plus_parts"


def load(name):
    """Import a script of the study as it imports its own neighbours, and forget all of them again."""
    names = ("variants", "questions", "run")
    sys.path.insert(0, str(FOLDER))
    try:
        return importlib.import_module(name)
    finally:
        sys.path.remove(str(FOLDER))
        for other in names:
            sys.modules.pop(other, None)


variants, questions, script = load("variants"), load("questions"), load("run")


def test_the_quick_study_runs_and_writes_its_table(tmp_path):
    folders = {"--runs": tmp_path / "runs", "--data": tmp_path / "data", "--out": tmp_path / "out"}
    options = [str(word) for pair in folders.items() for word in pair]
    command = [sys.executable, str(FOLDER / "run.py"), "--quick", *options]
    alone = {**os.environ, "OMP_NUM_THREADS": "1", "NUMBA_NUM_THREADS": "1"}  # tiny graphs: threads would only wait
    done = subprocess.run(command, capture_output=True, text=True, env=alone)
    assert done.returncode == 0, done.stderr
    text = (tmp_path / "out" / "table-trials.md").read_text(encoding="utf-8")
    assert text in done.stdout
    assert "**Nothing here is in the paper.**" in text
    assert "not run" not in text
    evaluated = json.loads((tmp_path / "out" / "table-trials.json").read_text())["evaluated"]
    assert [found["updates"] for found in evaluated] == [8] * 11 + [4] * 3
    by_edges = {found["coarse_edges"]: found["in_range"] for found in evaluated[11:]}
    assert len(by_edges) == len(set(by_edges.values())) == 3
    by_part = {found["row"]: found["out_of_range"] for found in evaluated[:6]}
    assert len(by_part) == len(set(by_part.values())) == 6, "a part that is replaced changes the errors"


def test_every_trial_changes_one_thing():
    plain, *others = script.REPLACED
    assert plain.model == "min-plus"
    for trial in others:
        assert len(trial.options) == 1
        assert trial.question == plain.question
    trials = (*script.REPLACED, *script.QUESTIONS, script.TWO_LEVELS)
    assert len({trial.folder for trial in trials}) == len(trials) == 12
    assert all(trial.question.weighted for trial in script.QUESTIONS)
    assert [trial.epochs for trial in trials if trial.epochs != 12] == [48]


def test_the_best_constant_is_the_median_out_of_range():
    far = Data(y=torch.tensor([[50.0], [1.0], [2.0], [9.0]]), hops=torch.tensor([5, 6, 7, 8]))
    assert script.measure_constant([far], 5) == pytest.approx((1 + 0 + 7) / 3)


@pytest.fixture
def graphs(tmp_path):
    return RGGSSSP(tmp_path, "small", "val", weighted=True, num_graphs=5)


def table(data):
    graph = nx.Graph()
    graph.add_nodes_from(range(data.num_nodes))
    ends = zip(data.edge_index.T.tolist(), data.edge_attr[:, 0].tolist(), strict=True)
    graph.add_weighted_edges_from((a, b, length) for (a, b), length in ends)
    return graph


def test_an_offset_is_as_long_as_its_edge(graphs):
    for data in graphs:
        length = data.edge_attr[:, 0].clone()
        changed = questions.Offsets()(data)
        assert changed.edge_attr.shape == (data.num_edges, 2)
        torch.testing.assert_close(changed.edge_attr.norm(dim=1), length)


def test_the_widest_path_has_the_shortest_longest_edge(graphs):
    for data in graphs:
        nodes = range(data.num_nodes)
        longest = [[0.0 if i == j else float("inf") for j in nodes] for i in nodes]
        for (i, j), length in zip(data.edge_index.T.tolist(), data.edge_attr[:, 0].tolist(), strict=True):
            longest[i][j] = length
        for via in nodes:
            for i in nodes:
                longest[i] = [min(old, max(longest[i][via], longest[via][j])) for j, old in enumerate(longest[i])]
        expected = torch.tensor(longest[int(data.x.argmax())]).where(data.mask, torch.tensor(0.0))
        torch.testing.assert_close(questions.WidestPath()(data).y[:, 0], expected)


def test_a_budget_is_half_of_the_longest_way(graphs):
    for data in graphs:
        distance = data.y.clone()
        asked = questions.Budget()(data)
        half = float(distance[data.mask].max()) / 2
        assert float(asked.budget[0]) == pytest.approx(half)
        assert asked.budget.shape == asked.scale.shape == asked.y.shape
        assert float(asked.scale[0]) == pytest.approx(float(data.edge_attr.mean()))
        assert asked.y[:, 0].tolist() == [float(d <= half) for d in distance[:, 0].tolist()]


def coarsen(data):
    return Coarsen(Graclus(rounds=3), CentrePaths())(data)


def test_shortened_coarse_edges_are_the_shortest_between_centres(graphs):
    for data in graphs:
        cheap = coarsen(data)
        before = cheap.level1_edge_attr.clone()
        exact, graph = questions.shorten_coarse_edges(cheap), table(data)
        assert torch.equal(cheap.level1_edge_attr, before), "the graph given stays as it is"
        assert questions.keep_coarse_edges(cheap) is cheap
        level = exact.levels[1]
        centre = {}
        for node, (cluster, r) in enumerate(
            zip(level.assignment.tolist(), level.centre_distance.tolist(), strict=True)
        ):
            if r == 0:
                centre[cluster] = node
        for (a, b), length in zip(level.edge_index.T.tolist(), level.edge_attr[:, 0].tolist(), strict=True):
            expected = nx.dijkstra_path_length(graph, centre[a], centre[b])
            assert length == pytest.approx(expected, rel=1e-5)
        assert bool((level.edge_attr <= before * (1 + 1e-6)).all())


def test_levelled_coarse_edges_keep_the_mean(graphs):
    cheap = coarsen(graphs[0])
    constant = questions.level_coarse_edges(cheap).level1_edge_attr
    assert constant.unique().numel() == 1
    assert float(constant[0]) == pytest.approx(float(cheap.level1_edge_attr.mean()))
    alone = Data(x=torch.ones(1, 1), edge_index=torch.empty(2, 0, dtype=torch.long), edge_attr=torch.empty(0, 1))
    assert questions.level_coarse_edges(coarsen(alone)).level1_edge_attr.shape == (0, 1)


def make_graph(seed=0, nodes=9):
    data = random_graph(nodes, 2 * nodes, in_channels=1, edge_dim=1, seed=seed)
    data.x = torch.eye(nodes)[:, :1].double()
    data.edge_attr = data.edge_attr.abs().double() + 0.1
    return data


def make_trial(**options):
    torch.manual_seed(0)
    return randomise(variants.TrialGHR(hidden_channels=3, steps=1, t_low=1, **options), scale=0.3).eval()


def arrive_by_loops(model, x, data, first):
    rate = [math.log1p(math.exp(value)) for value in model.cell.rate.tolist()]
    if model.norm is not None:
        scales = [math.sqrt(sum(v * v for v in row) / len(row) + 1e-6) for row in x]
        gains = model.norm.weight.tolist()
        x = [[g * v / scale for g, v in zip(gains, row, strict=True)] for row, scale in zip(x, scales, strict=True)]
    rows = []
    for i in range(len(x)):
        edges = [
            (j, e[0])
            for (j, target), e in zip(data.edge_index.T.tolist(), data.edge_attr.tolist(), strict=True)
            if target == i
        ]
        row = []
        for c, w in enumerate(rate):
            m = [x[j][c] + w * e for j, e in edges]
            if not m:
                value = first[i][c]
            elif model.aggregate == "min":
                value = min(m)
            elif model.aggregate == "soft min":
                beta = math.exp(5 * model.sharpness[c].item())
                share = [math.exp(-beta * (v - min(m))) for v in m]
                value = sum(s * v for s, v in zip(share, m, strict=True)) / sum(share)
            else:
                value = sum(m) / (len(m) if model.aggregate == "mean" else 1)
            row.append(min(value, first[i][c]))
        rows.append(row)
    return rows


@pytest.mark.parametrize("norm", [False, True])
@pytest.mark.parametrize("aggregate", ["min", "soft min", "mean", "sum"])
def test_what_arrives_equals_the_loops(aggregate, norm):
    model, data = make_trial(aggregate=aggregate, norm=norm), make_graph()
    data.edge_index, data.edge_attr = data.edge_index[:, :14], data.edge_attr[:14]  # some nodes that nothing reaches
    x, first = 2 * torch.rand(9, 3).double(), 5 + torch.rand(9, 3).double()
    ours = model.arrive(x, data.edge_index, model.cell.cost(data.edge_attr[:, 0]), first)
    assert relative_error(ours, arrive_by_loops(model, x.tolist(), data, first.tolist())) <= 1e-12


@pytest.mark.parametrize("aggregate", ["min", "soft min", "mean", "sum"])
def test_laws(aggregate):
    model = make_trial(aggregate=aggregate)
    assert_permutation_equivariant(model, make_graph(), rtol=1e-10)
    assert_batch_equals_loop(model, [make_graph(n, n) for n in (5, 12, 9)], rtol=1e-10)


def test_with_its_defaults_it_is_the_extension():
    torch.manual_seed(0)
    model = variants.TrialGHR(steps=2, t_low=3).double()
    plain = MinPlusGHR(levels=1, steps=2, t_low=3).double()
    plain.load_state_dict(model.state_dict())
    assert torch.equal(model.eval()(make_graph()), plain.eval()(make_graph()))


def test_lengths_are_learned_as_by_the_extension():
    torch.manual_seed(0)
    model = variants.TrialGHR(steps=2, t_low=3, edge_dim=2).double()
    plain = MinPlusGHR(levels=1, steps=2, t_low=3, edge_dim=2).double()
    plain.load_state_dict(model.state_dict())
    data = make_graph()
    data.edge_attr = torch.randn(data.num_edges, 2).double()
    assert relative_error(model.eval()(data), plain.eval()(data).tolist()) <= 1e-12


def test_an_unknown_aggregate_is_a_sentence():
    with pytest.raises(ValueError, match="'max'"):
        variants.TrialGHR(aggregate="max")


def test_mixing_is_a_part_of_the_usual_size():
    sizes = []
    for mixing in (0.3, 1.0):
        torch.manual_seed(0)
        sizes.append(variants.TrialGHR(mixing=mixing).cell.l1_norm().item())
    assert sizes[1] == pytest.approx(sizes[0] / 0.3)


def test_a_budget_is_compared_with_the_distance():
    torch.manual_seed(0)
    model, data = variants.WithinBudget(hidden_channels=3, steps=2, t_low=3).double().eval(), make_graph()
    data.budget, data.scale = torch.full((9, 1), 2.0).double(), torch.full((9, 1), 0.5).double()
    distance = super(variants.WithinBudget, model).forward(data)
    steepness = math.exp(5 * model.steepness.item())
    expected = [[1 / (1 + math.exp(-steepness * (2.0 - d) / 0.5))] for d in distance[:, 0].tolist()]
    assert relative_error(model(data), expected) <= 1e-12
    assert torch.equal(model.rollout(data)[-1], model(data))


def test_running_until_settled_gives_the_same_answer():
    torch.manual_seed(0)
    model, data = variants.WithinBudget(hidden_channels=3).double().eval(), make_graph()
    data.budget, data.scale = torch.full((9, 1), 1.5).double(), torch.ones(9, 1).double()
    assert relative_error(model(data, steps="auto"), model(data, steps=12)) <= 1e-12


@pytest.mark.parametrize(
    ("kind", "options"),
    [
        (variants.TrialGHR, {"aggregate": "soft min", "norm": True, "mixing": 1.0, "steps": 3}),
        (variants.WithinBudget, {"hidden_channels": 4, "steps": 3}),
    ],
)
def test_saved_and_loaded_it_is_the_same(kind, options, tmp_path):
    model, data = kind(**options).eval(), make_graph()
    data.x, data.edge_attr = data.x.float(), data.edge_attr.float()
    data.budget, data.scale = torch.full((9, 1), 1.5), torch.ones(9, 1)
    model.save_pretrained(tmp_path)
    assert torch.equal(kind.from_pretrained(tmp_path).eval()(data), model(data))


@pytest.mark.parametrize(
    ("kind", "options"), [(variants.TrialGHR, {"aggregate": "soft min", "mixing": 1.0}), (variants.WithinBudget, {})]
)
def test_reset_parameters_resets_its_own_parts(kind, options):
    model = kind(hidden_channels=32, **options)
    before = {name: parameter.std() for name, parameter in model.named_parameters() if parameter.numel() > 1}
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.fill_(7)
    model.reset_parameters()
    if kind is variants.WithinBudget:
        assert model.steepness == torch.tensor(0.2)
    else:
        assert not model.sharpness.any()
    for name, std in before.items():
        assert torch.isclose(model.get_parameter(name).std(), std, rtol=0.3), name

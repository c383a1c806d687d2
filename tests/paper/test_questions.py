"""Questions and their answers, against plain loops."""

import math

import numpy as np
import pytest
import torch

from ghr.paper.questions import LARGE, QUESTIONS, SMALL, Drawn, QuestionRow, draw_examples, draw_training
from ghr.paper.row import AS_TRAINED
from ghr.paper.runs import RowRun

BY_NAME = {question.name: question for question in QUESTIONS}


def relax(data, start, better):
    """Repeat over all edges until nothing changes."""
    answer = list(start)
    for _ in range(len(answer)):
        for (source, target), length in zip(data.edge_index.T.tolist(), data.edge_attr[:, 0].tolist(), strict=True):
            answer[target] = better(answer[target], answer[source] + length)
    return torch.tensor(answer)


@pytest.mark.parametrize("name", ["lengths", "nearest", "one way"])
def test_shortest(name):
    for data in draw_examples(BY_NAME[name], 3, *SMALL, seed=5):
        expected = relax(data, [0.0 if mark else math.inf for mark in data.x[:, 0].tolist()], min)
        known = torch.isfinite(expected)
        assert data.x.sum() == (3 if name == "nearest" else 1)
        assert torch.equal(~data.y[:, 0].isnan(), known)
        torch.testing.assert_close(data.y[known, 0], expected[known])


@pytest.mark.parametrize("name", ["longest way", "longest time"])
def test_longest(name):
    for data in draw_examples(BY_NAME[name], 3, *SMALL, seed=5):
        assert not data.x.any()
        torch.testing.assert_close(data.y[:, 0], relax(data, [0.0] * data.num_nodes, max))


def test_one_way_streets():
    data = draw_examples(BY_NAME["one way"], 1, *SMALL, seed=0)[0]
    pairs = {*map(tuple, data.edge_index.T.tolist())}
    alone = np.mean([(target, source) not in pairs for source, target in pairs])
    assert 0.3 < alone < 0.7  # a third both ways counts two edges, the rest one


def test_a_question_is_asked(tmp_path):
    row = QuestionRow.on(BY_NAME["nearest"], seeds=(5,), graphs=6, epochs=1, tests=2)
    answers = []
    for folder in ("run", "again"):
        run = RowRun(row, 5, tmp_path / folder)
        run.work(tmp_path, quiet=True)
        answers.append(run.ask(row.tests[0], AS_TRAINED, tmp_path))
    assert answers[0] == answers[1]
    assert answers[0]["largest"] == max(float(graph.y.nan_to_num(0).max()) for graph in draw_training(row.question, 6))
    far = torch.cat([graph.y for graph in draw_examples(row.question, 2, *LARGE, seed=3)])
    beyond = far[far > answers[0]["largest"]]
    assert answers[0]["constant"] == pytest.approx(float((beyond - beyond.median()).abs().mean()))
    assert answers[0]["beyond"] > 0


def test_graphs_are_drawn_only_when_they_are_asked_for():
    drawn = []
    graphs = Drawn(lambda: drawn.append("now") or ["a", "b"], 2)
    assert (len(graphs), drawn) == (2, [])
    assert (graphs[1], [*graphs], drawn) == ("b", ["a", "b"], ["now"])

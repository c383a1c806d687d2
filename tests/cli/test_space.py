import json

import pytest

from ghr.cli.space import parse_choice, parse_space
from ghr.search import Choice, Range


@pytest.mark.parametrize(
    ("text", "values"),
    [
        ("1e-4:1e-2:log", Range(1e-4, 1e-2, log=True)),
        ("2:6", Range(2, 6)),
        (" 0 : 0.5 ", Range(0, 0.5)),
        ("-1:1", Range(-1, 1)),
        ("max,mean", Choice(["max", "mean"])),
        ("16,32,64", Choice([16, 32, 64])),
        ("true,false", Choice([True, False])),
        ("[[2,1],[1,1]]", Choice([[2, 1], [1, 1]])),
        ('["a:b","c"]', Choice(["a:b", "c"])),
        ("none,5", Choice([None, 5])),
    ],
)
def test_a_range_or_values(text, values):
    assert parse_choice(text, "--vary x") == values


@pytest.mark.parametrize(
    "text",
    ["1", "max", "1:", ":1", ":", "1:2:3", "1:2:log:log", "a:b", "true:false", "2:1", "0:1:log", "3,3", "", "[]"],
)
def test_what_is_neither_is_a_sentence(text):
    with pytest.raises(ValueError, match=r"^--vary x"):
        parse_choice(text, "--vary x")


def test_a_file_and_the_command_line_together(tmp_path):
    file = tmp_path / "space.json"
    file.write_text(
        json.dumps({"lr": "1e-4:1e-2:log", "pool": ["max", "mean"], "steps": {"low": 2, "high": 6}, "t_low": "1:2"})
    )
    assert parse_space(file, [["t_low=1:6"], ["gamma=0.5,1"]]) == {
        "lr": Range(1e-4, 1e-2, log=True),
        "pool": Choice(["max", "mean"]),
        "steps": Range(2, 6),
        "t_low": Range(1, 6),
        "gamma": Choice([0.5, 1]),
    }
    assert parse_space(None, []) == {}


@pytest.mark.parametrize(
    ("content", "words"),
    [
        ("{", "is not JSON"),
        ("[" * 100_000, "is not JSON"),
        ("[1]", "must hold a JSON object"),
        ("{}", "must hold a JSON object"),
        ('{"lr": 3}', "lr in .*space.json must be a list, a text"),
        ('{"lr": {"low": 1}}', "must be a list, a text"),
        ('{"lr": {"low": 2, "high": "x"}}', "lr in .*space.json: The largest number of a range"),
        ('{"lr": ["a"]}', "lr in .*space.json: There must be at least two values"),
    ],
)
def test_a_file_that_is_no_space_is_a_sentence(tmp_path, content, words):
    (tmp_path / "space.json").write_text(content)
    with pytest.raises(ValueError, match=words):
        parse_space(tmp_path / "space.json", [])

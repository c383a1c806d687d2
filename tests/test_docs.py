"""What the pages tell people to type."""

import json
import re
from pathlib import Path
from unittest.mock import patch

import pytest
import tomllib

from ghr import MODELS
from ghr.cli import COMMANDS
from ghr.cli.list import list_models
from ghr.datasets import BENCHMARKS

ROOT = Path(__file__).parent.parent
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
SNIPPETS = [
    pytest.param(code, id=f"{page.name}-{number}")
    for page in PAGES
    for number, code in enumerate(re.findall(r"```python\n(.*?)```", page.read_text(), re.DOTALL))
]


@pytest.mark.parametrize("code", SNIPPETS)
def test_every_snippet_runs_as_it_stands(code, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    # Pages show how to add to these; other tests shall not see it.
    with patch.dict(MODELS), patch.dict(BENCHMARKS):
        exec(compile(code, "snippet", "exec"), {"__name__": "snippet"})


@pytest.mark.parametrize("page", [*PAGES, *sorted((ROOT / "docs").glob("[ar]*/*.md"))], ids=lambda page: page.name)
def test_every_link_leads_somewhere(page):
    for target in re.findall(r"\]\(([^)#]+)\)", page.read_text()):
        assert "://" in target or (page.parent / target).exists(), target


def test_the_readme_is_a_door_and_not_the_house():
    assert len((ROOT / "README.md").read_text().split()) <= 500


def test_every_page_of_the_site_has_a_picture():
    for page in [*sorted((ROOT / "docs").glob("*.md")), *sorted((ROOT / "docs" / "api").glob("*.md"))]:
        assert re.search(r"!\[[^\]]+\]\(\S+\.png\)", page.read_text()), page.name


def test_every_extra_is_explained():
    extras = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["optional-dependencies"]
    start = (ROOT / "docs" / "start.md").read_text()
    assert [name for name in extras if f'".[{name}]"' not in start] == []


def test_every_command_is_explained():
    page = (ROOT / "docs" / "commands.md").read_text()
    assert [name for name in COMMANDS if f"| `ghr {name}" not in page] == []


@pytest.mark.parametrize("page", sorted((ROOT / "docs" / "notebooks").glob("*.ipynb")), ids=lambda page: page.name)
def test_notebooks_are_kept_without_outputs_which_the_site_makes(page):
    cells = json.loads(page.read_text())["cells"]
    assert [cell for cell in cells if cell.get("outputs")] == []


def test_the_page_of_models_has_them_all_with_their_parameters():
    page = (ROOT / "docs" / "models.md").read_text()
    lines = [line.strip("| ").split(" | ") for line in page.splitlines() if line.startswith("| `")]
    rows = {row[0]: row for row in lines}
    assert list(rows) == [f"`{name}`" for name in MODELS]
    listed = dict(re.findall(r"^(\S+) +([\d,]+) ", list_models()[0], re.MULTILINE))
    for name, entry in MODELS.items():
        row = rows[f"`{name}`"]
        assert row[3] == listed[name], name
        assert row[6] == entry.reference

"""What people install: the wheel in an environment of its own, and the citation."""

import re
import subprocess
import sys
import venv
import zipfile
from pathlib import Path

import pytest
import yaml

import ghr

ROOT = Path(__file__).parent.parent
INSIDE = """
import importlib.metadata, importlib.resources
files = {str(file) for file in importlib.metadata.files("ghr")}
print(importlib.metadata.version("ghr"), importlib.resources.files("ghr").joinpath("py.typed").is_file())
"""


@pytest.fixture(scope="module")
def wheel(tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("dist")
    build = [sys.executable, "-m", "hatchling", "build", "--directory", str(folder)]
    done = subprocess.run(build, cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    (found,) = folder.glob("*.whl")
    assert [path.name for path in folder.glob("*.tar.gz")] == [f"ghr-{ghr.__version__}.tar.gz"]
    return found


def test_the_wheel_has_everything_that_the_package_has(wheel):
    packed = {name for name in zipfile.ZipFile(wheel).namelist() if name.startswith("ghr/")}
    there = {
        str(path.relative_to(ROOT / "src"))
        for path in (ROOT / "src" / "ghr").rglob("*")
        if path.is_file() and "__pycache__" not in path.parts
    }
    assert packed == there
    assert "ghr/py.typed" in packed
    models = {name.split("/")[2] for name in packed if name.endswith("model.safetensors")}
    assert {"rgg-sssp-general", "rgg-sssp-small-cap5", "lrim-16-hard"} <= models


def test_the_wheel_installs_into_an_empty_environment(wheel, tmp_path):
    venv.create(tmp_path / "empty", with_pip=False)
    python = tmp_path / "empty" / "bin" / "python"
    install = [sys.executable, "-m", "pip", "--python", str(python), "install", "--no-deps", "--no-index", str(wheel)]
    subprocess.run([*install, "--quiet", "--disable-pip-version-check"], check=True, env={"PATH": "/usr/bin:/bin"})
    done = subprocess.run([python, "-I", "-c", INSIDE], capture_output=True, text=True, check=True, cwd=tmp_path)
    assert done.stdout == f"{ghr.__version__} True\n"
    said = subprocess.run([python.parent / "ghr", "--version"], capture_output=True, text=True, cwd=tmp_path, env={})
    assert (said.stdout, said.stderr) == (f"ghr {ghr.__version__}\n", "")


def test_the_citation_names_this_version_and_the_authors_of_the_readme():
    citation = yaml.safe_load((ROOT / "CITATION.cff").read_text())
    paper = citation["preferred-citation"]
    assert citation["version"] == ghr.__version__
    names = [f"{author['given-names']} {author['family-names']}" for author in paper["authors"]]
    readme = (ROOT / "README.md").read_text()
    assert paper["title"] in readme
    assert re.search(rf"{', '.join(names[:-1])} and {names[-1]}", readme)


def test_one_version_everywhere():
    assert f'version = "{ghr.__version__}"' in (ROOT / "pyproject.toml").read_text()

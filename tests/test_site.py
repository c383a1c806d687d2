"""The site: it builds without a warning, its links lead somewhere, and it asks no other host for anything."""

import os
import re
import subprocess
import sys
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

import pytest

pytest.importorskip("sphinx", reason="the site needs the extra docs: pip install '.[docs]'.")
ROOT = Path(__file__).parent.parent
sys.path.append(str(ROOT / "docs"))
PAGES = (
    "index start own-data how-it-works models datasets reproduction beyond speed write-a-model write-a-benchmark "
    "write-a-cell api/index generated/changelog view commands values notebooks/own-data notebooks/extrapolation"
)


class Links(HTMLParser):
    """What a page loads, and what it leads to."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.loads: list[str] = []
        self.leads: list[str] = []
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        given = dict(attrs)
        self.loads += [given[name] for name in ("src", "srcset", "data", "poster") if given.get(name)]
        if given.get("href"):
            (self.leads if tag == "a" else self.loads).append(given["href"])


@pytest.fixture(scope="module")
def site(tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("site")
    build = [sys.executable, "-m", "sphinx", "--quiet", "--fail-on-warning", "--keep-going", "--fresh-env"]
    alone = {**os.environ, "OMP_NUM_THREADS": "1", "NUMBA_NUM_THREADS": "1"}  # other tests run beside it
    done = subprocess.run([*build, str(ROOT / "docs"), str(folder)], capture_output=True, text=True, env=alone)
    assert done.returncode == 0, done.stderr
    return folder


def test_the_site_builds_and_is_whole(site):
    assert [name for name in PAGES.split() if not (site / f"{name}.html").exists()] == []
    pages = [path for path in site.rglob("*.html") if "_static" not in path.parts]
    remote, broken = [], []
    for page in pages:
        links = Links(page.read_text())
        remote += [(page.name, link) for link in links.loads if urlsplit(link).netloc]
        for link in [*links.loads, *links.leads]:
            parts = urlsplit(link)
            if not parts.scheme and parts.path and not (page.parent / unquote(parts.path)).exists():
                broken.append((page.name, link))
    assert (remote, broken) == ([], [])
    for style in site.rglob("*.css"):
        assert not re.search(r"(url\(|@import)\s*['\"]?(https?:)?//", style.read_text()), style
    how = (site / "how-it-works.html").read_text()
    assert (how.count("<iframe"), "<math" in how) == (2, True)


@pytest.mark.parametrize(
    ("formula", "parts"),
    [
        (r"\hat e_{ji}", ["<msub><mover", "</mover><mrow><mi>j</mi><mi>i</mi></mrow></msub>"]),
        (r"\min\big( S, \dots \big)", ['<mo maxsize="1.2em"', "…"]),
        (r"x \mathrel{+}= \operatorname*{softmax}_j y", ["softmax", "<mo>+</mo>"]),
    ],
)
def test_formulas_are_read_as_people_write_them(formula, parts):
    from formulas import convert

    written = re.sub(r"\s*\n\s*", "", convert(formula))
    assert [part for part in parts if part not in written] == []


def test_what_no_formula_may_have_is_an_error():
    from docutils.utils.math import MathError
    from formulas import convert

    with pytest.raises(MathError, match="unheard"):
        convert(r"\unheard x")

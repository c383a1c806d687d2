"""What of the site is made from the library itself: the changelog, and a page of `ghr view`."""

import re
import tempfile
from pathlib import Path

import ghr
from ghr.datasets import RGGSSSP
from ghr.files import write_text
from ghr.view import Subject, make_page

VIEWED = ("rgg-sssp-small-cap5", "rgg-sssp-general")  # the models of the page that "How GHR works" shows
FRAME = """<iframe src="../_static/view.html" title="The recurrence, step by step" style="width: 100%; height: 40rem;
border: 0;" loading="lazy"></iframe>
"""


def main(docs: Path) -> None:
    """Write everything below ``docs/generated`` and ``docs/static``; what is as it was stays untouched.

    Args:
        docs: The folder of the pages.
    """
    generated = docs / "generated"
    generated.mkdir(exist_ok=True)
    _write(generated / "changelog.md", changelog((docs.parent / "CHANGELOG.md").read_text()))
    _write(generated / "_view.md", view(docs / "static" / "view.html"))


def changelog(text: str) -> str:
    """Return the changelog with a picture, its links as they are from the folder of generated pages."""
    text = re.sub(r"\]\(docs/", "](../", text)
    text = re.sub(r"\]\(studies/[^)]*\)", "]", text)  # no part of the site
    title, _, rest = text.partition("\n")
    picture = "![What `ghr demo` draws in this version](../demo.png)"
    return f"{title}\n\n{picture}\n{rest}"


def view(page: Path) -> str:
    """Write a page that steps through the paper's GHR and its extension by values, and return what shows it."""
    with tempfile.TemporaryDirectory() as data:
        graphs = RGGSSSP(data, regime="large", split="test", num_graphs=1)
    graph = graphs[0]
    subjects = [Subject(name, ghr.load(name), {"steps": 6}) for name in VIEWED]
    shown = make_page(
        subjects, graph, graphs.task, title="Two models on one graph", hops=graph.hops, in_range=5, nodes=(0,)
    )
    page.parent.mkdir(exist_ok=True)
    shown.save(page)
    return FRAME


def _write(path: Path, text: str) -> None:
    if not path.exists() or path.read_text() != text:
        write_text(path, text)

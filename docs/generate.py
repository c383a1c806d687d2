"""What of the site is made from the library itself: the changelog, and pages of `ghr view`."""

import re
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path

import ghr
from ghr.datasets import RGGSSSP
from ghr.files import write_text
from ghr.view import Page, Subject, make_page

# The pages that "How GHR works" shows: their models, which come with the package, and what is asked of them.
VIEWED = {
    "steps": ("GHR step by step", ["rgg-sssp-small-cap8"], "small", {}),
    "beyond": ("Two models beyond their training", ["rgg-sssp-small-cap5", "rgg-sssp-general"], "large", {"steps": 6}),
}
FRAME = """<iframe src="_static/view-{name}.html" title="{title}" style="width: 100%; height: 46rem; border: 0;"
loading="lazy"></iframe>
<p><a href="_static/view-{name}.html">{title}, as a page of its own</a></p>
"""


def main(docs: Path) -> None:
    """Write everything below ``docs/generated`` and ``docs/static``; what is as it was stays untouched.

    Args:
        docs: The folder of the pages.
    """
    generated = docs / "generated"
    generated.mkdir(exist_ok=True)
    _write(generated / "changelog.md", changelog((docs.parent / "CHANGELOG.md").read_text()))
    with tempfile.TemporaryDirectory() as data:
        for name, (title, models, regime, loops) in VIEWED.items():
            graphs = RGGSSSP(data, regime=regime, split="test", num_graphs=1)
            view(graphs, title, models, loops).save(docs / "static" / f"view-{name}.html")
            _write(generated / f"_view-{name}.md", FRAME.format(name=name, title=title))


def changelog(text: str) -> str:
    """Return the changelog with a picture, its links as they are from the folder of generated pages."""
    text = re.sub(r"\]\(docs/", "](../", text)
    text = re.sub(r"\]\(studies/[^)]*\)", "]", text)  # no part of the site
    title, _, rest = text.partition("\n")
    picture = "![What `ghr demo` draws in this version](../demo.png)"
    return f"{title}\n\n{picture}\n{rest}"


def view(graphs: RGGSSSP, title: str, models: Sequence[str], loops: Mapping[str, int]) -> Page:
    """Return a page that steps through models on the first of some graphs.

    Args:
        graphs: The graphs.
        title: Of the page.
        models: Names of models that come with the package.
        loops: Numbers for their loops.
    """
    graph = graphs[0]
    subjects = [Subject(name, ghr.load(name), loops) for name in models]
    in_range = int(models[0][-1])  # they are named for it
    return make_page(subjects, graph, graphs.task, title=title, hops=graph.hops, in_range=in_range, nodes=(0,))


def _write(path: Path, text: str) -> None:
    if not path.exists() or path.read_text() != text:
        write_text(path, text)

"""What of the site is made from the library itself: the table of models, the changelog, a page of `ghr view`."""

import re
import subprocess
import sys
from pathlib import Path

from ghr.cli import COMMANDS
from ghr.cli.list import describe_models
from ghr.files import write_text

# What `ghr view` is given where there is such a command; the page that it writes is shown in "How GHR works".
VIEWED = "rgg-sssp-general"
MODELS = """# Models
Every model trains on every benchmark and on your own graphs, by its name: `ghr train BENCHMARK --model NAME`.

![Errors of thirteen models against their number of parameters](../reproduce/figure-parameters.png)

Errors of some of them against their size, from [the paper's ablations](../reproduce/figure-parameters.md), made again.

```{include} _models-table.md
```
"""
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
    _write(generated / "_models-table.md", models_table())
    own = generated / "models.md"
    if (docs / "models.md").exists():
        own.unlink(missing_ok=True)
    else:
        _write(own, MODELS)
    _write(generated / "changelog.md", changelog((docs.parent / "CHANGELOG.md").read_text()))
    _write(generated / "_view.md", view(docs / "static" / "view.html"))


def models_table() -> str:
    """Return all models of ``ghr.MODELS`` as a table."""
    rows = [
        f"| `{model['name']}` | {model['parameters']:,} | {', '.join(model['loops']) or 'none'} | {model['reference']} "
        f"| {model['summary']} |"
        for model in describe_models()
    ]
    head = ["| model | parameters | loops | reference | what it is |", "|---|---:|---|---|---|"]
    note = (
        "Parameters: by default, for one number per node and edge and one target per node. Loops: what can be raised "
        "after training."
    )
    return "\n".join([*head, *rows, "", note, ""])


def changelog(text: str) -> str:
    """Return the changelog with a picture, its links as they are from the folder of generated pages."""
    text = re.sub(r"\]\(docs/", "](../", text)
    text = re.sub(r"\]\(studies/[^)]*\)", "]", text)  # no part of the site
    title, _, rest = text.partition("\n")
    picture = "![What `ghr demo` draws in this version](../demo.png)"
    return f"{title}\n\n{picture}\n{rest}"


def view(page: Path) -> str:
    """Write the page of ``ghr view``, where there is such a command, and return what stands in its place."""
    if "view" not in COMMANDS:
        page.unlink(missing_ok=True)
        return "\n"
    subprocess.run([sys.executable, "-m", "ghr", "view", VIEWED, "--out", str(page), "--quiet"], check=True)
    return FRAME


def _write(path: Path, text: str) -> None:
    if not path.exists() or path.read_text() != text:
        write_text(path, text)

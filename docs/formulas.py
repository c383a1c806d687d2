"""Formulas as MathML, which browsers draw by themselves: without a script, and without asking another host."""

import html
import re
from typing import Any

from docutils import nodes
from docutils.utils.math import MathError
from docutils.utils.math.latex2mathml import tex2mathml
from sphinx.util import logging
from sphinx.util.math import get_node_equation_number

logger = logging.getLogger(__name__)
# What people write, and the nearest that the converter of docutils knows.
SPELLINGS = {
    r"\\(big|Big)(?![a-zA-Z])": r"\\\1l",
    r"\\dots(?![a-zA-Z])": r"\\ldots",
    r"\\operatorname\*": r"\\operatorname",
    r"\\mathrel\{(.)\}": r"\1",
}


def setup(app: Any) -> None:
    """Let formulas of pages and docstrings be MathML."""
    app.add_html_math_renderer("mathml", inline_renderers=(_inline, None), block_renderers=(_block, None))


def convert(formula: str, *, block: bool = False) -> str:
    """Return a formula in the language of TeX as MathML.

    Args:
        formula: Without dollars.
        block: Whether it stands on lines of its own.

    Raises:
        MathError: Where it has a command that is not known.
    """
    for written, known in SPELLINGS.items():
        formula = re.sub(written, known, formula)
    formula = re.sub(r"\\begin\{aligned\}|\\end\{aligned\}", "", formula) if block else formula
    try:
        return str(tex2mathml(formula, as_block=block))
    except (AttributeError, SyntaxError) as error:
        raise MathError(f"It cannot be read: {error}.") from error


def _inline(writer: Any, node: nodes.Element) -> None:
    writer.body.append(_write(node, block=False))
    raise nodes.SkipNode


def _block(writer: Any, node: nodes.Element) -> None:
    number = get_node_equation_number(writer, node) if node.get("label") else ""
    note = f'<span class="eqno">({number})</span>' if number else ""
    writer.body.append(writer.starttag(node, "div", CLASS="math formula"))
    writer.body.append(f"{note}{_write(node, block=True)}</div>\n")
    raise nodes.SkipNode


def _write(node: nodes.Element, *, block: bool) -> str:
    try:
        return convert(node.astext(), block=block)
    except MathError as error:
        logger.warning("The formula %s: %s", node.astext(), error, location=node, type="math")
        return f"<code>{html.escape(node.astext())}</code>"

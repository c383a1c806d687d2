"""Formulas as MathML, which browsers draw by themselves: without a script, and without asking another host."""

import html
import re
from typing import Any
from xml.etree import ElementTree

from docutils import nodes
from docutils.utils.math import MathError
from docutils.utils.math.latex2mathml import tex2mathml
from sphinx.util import logging
from sphinx.util.math import get_node_equation_number

logger = logging.getLogger(__name__)
SPACE = "{http://www.w3.org/1998/Math/MathML}"
ElementTree.register_namespace("", SPACE.strip("{}"))
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
        return _part_accents(str(tex2mathml(formula, as_block=block)))
    except (AttributeError, SyntaxError) as error:
        raise MathError(f"It cannot be read: {error}.") from error


def _part_accents(text: str) -> str:
    """Return MathML in which the index of a letter with an accent stands beside it, not below."""
    root = ElementTree.fromstring(text.replace("&ApplyFunction;", "\u2061"))  # an entity that XML does not have
    for node in root.iter(f"{SPACE}munderover"):
        letter, index, accent = node
        if accent.tag == f"{SPACE}mo" and accent.get("stretchy") == "false":
            node.tag = f"{SPACE}msub"
            both = ElementTree.Element(f"{SPACE}mover", accent="true")
            both.extend([letter, accent])
            node[:] = [both, index]
    return ElementTree.tostring(root, encoding="unicode")


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

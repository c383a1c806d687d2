"""The site: `make docs` builds it into docs/_build/html, and every warning is an error."""

import os
import sys
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent
sys.path[:0] = [str(HERE), str(HERE.parent / "src")]
# Notebooks are executed with tiny sizes; compiling kernels would take longer than running without them.
os.environ.setdefault("GHR_BACKEND", "torch")
os.environ["PYTHONPATH"] = os.pathsep.join([str(HERE.parent / "src"), os.environ.get("PYTHONPATH", "")])

import formulas  # noqa: E402 (beside this file)
import generate  # noqa: E402
import references  # noqa: E402

import ghr  # noqa: E402

generate.main(HERE)

project = "ghr"
author = "Stefano Carotti, Marco Pacini, Alessio Gravina, Davide Bacciu, Bruno Lepri, Sebastiano Bontorin"
version = release = ghr.__version__
copyright = "the authors of ghr, MIT licence"

extensions = ["myst_nb", "sphinx.ext.autodoc", "sphinx.ext.napoleon"]
exclude_patterns = ["_build", "generated/_*"]
html_theme = "furo"
html_math_renderer = "mathml"
html_title = f"ghr {ghr.__version__}"
html_static_path = ["static"]
html_css_files = ["site.css"]

myst_enable_extensions = ["dollarmath", "amsmath", "colon_fence"]
myst_heading_anchors = 3
nb_execution_mode = "force"
nb_execution_timeout = 900  # seconds of a cell, on a machine that is busy with other things
nb_execution_raise_on_error = True
nb_execution_in_temp = True  # what a notebook writes is thrown away
nb_output_stderr = "remove"  # warnings about the machine that builds

autodoc_typehints = "description"
autodoc_typehints_description_target = "documented"
autodoc_member_order = "bysource"
autodoc_default_options = {"members": True, "exclude-members": "training"}
napoleon_google_docstring = True
napoleon_numpy_docstring = False
napoleon_custom_sections = ["Shapes"]
napoleon_use_ivar = True


def setup(app: Any) -> None:
    """Connect what draws formulas and what checks references."""
    formulas.setup(app)
    references.setup(app)

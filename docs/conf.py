"""The documentation site: ``make docs`` builds it offline into build/docs and fails at any
warning.
"""

from __future__ import annotations

import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE / "_extensions"), str(HERE.parent / "src")]

project = "Fascicle"
author = "The Fascicle developers"
copyright = "The Fascicle developers, Apache License 2.0"  # noqa: A001 (the name that Sphinx reads)
extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx.ext.napoleon", "reference_pages"]
exclude_patterns = ["_extensions", "_scripts"]
templates_path = ["_templates"]
html_theme = "furo"
html_title = "Fascicle"
html_copy_source = False
html_show_sphinx = False
highlight_language = "none"  # of blocks that name no language

myst_heading_anchors = 4  # the anchors that code hosts make of headings
myst_enable_extensions = ["tasklist"]

autodoc_typehints = "signature"
autodoc_member_order = "bysource"
napoleon_google_docstring = True
napoleon_numpy_docstring = False
python_use_unqualified_type_names = True

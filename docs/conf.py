"""The site: `make docs`. Nothing is fetched from the network, neither when it is built nor when it is read."""

import re
import sys
from importlib.metadata import version as installed
from pathlib import Path

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE / "_ext"))

import gallery
import kernop

project, author = "kernop", "The kernop developers"
copyright = "The kernop developers, MIT licence"
version = release = installed("kernop")

extensions = [
    "myst_nb",
    "sphinx.ext.autodoc",
    "sphinx.ext.mathjax",
    "sphinx-mathjax-offline",
    "sphinx_gallery.gen_gallery",
    "sphinx_copybutton",
    "sphinx_design",
]
exclude_patterns = ["_build", "_ext", "results", "gallery/**/*.ipynb", "gallery/**/GALLERY_HEADER.rst"]
suppress_warnings = ["config.cache"]  # functions in the settings of the gallery
nitpicky = True
default_role = "code"  # `names` in the stories of examples

myst_enable_extensions = ["colon_fence", "dollarmath", "deflist"]
myst_heading_anchors = 3
nb_execution_mode = "off"  # notebooks are stored with their outputs; tests/test_notebooks.py runs them

autodoc_typehints = "none"  # shapes and kinds are told in words
autodoc_member_order = "bysource"

sphinx_gallery_conf = gallery.settings(HERE)

html_theme = "pydata_sphinx_theme"
html_title = "kernop"
html_static_path = ["_static"]
html_css_files = ["kernop.css"]
html_show_sourcelink = False
html_logo = "_static/logo.svg"
html_favicon = "_static/logo.svg"
html_theme_options = {
    "logo": {"text": "kernop"},
    "header_links_before_dropdown": 6,
    "navbar_align": "left",
    "navbar_end": ["theme-switcher"],
    "show_prev_next": True,
    "secondary_sidebar_items": ["page-toc"],
    "footer_start": ["copyright"],
    "footer_end": [],
    "pygments_light_style": "tango",
    "pygments_dark_style": "monokai",
}
ALONE = ("index", "five-minutes", "theory", "coming-from", "limits", "benchmarks", "changelog")
html_sidebars: dict[str, list[str]] = {page: [] for page in ALONE}  # no pages below them


def linked(match: re.Match[str]) -> str:
    """`Name` in a docstring: a link if it is a public name, code otherwise."""
    name = match.group(1)
    known = name.removeprefix("kernop.")
    return f":py:obj:`~kernop.{known}`" if known in kernop.__all__ else f"``{name}``"


def inline(line: str) -> str:
    """A line of a docstring, plain text with `names` and ``code``; reStructuredText in it is escaped."""
    parts = re.split(r"(``.+?``)", line)
    for k in range(0, len(parts), 2):
        plain = re.sub(r"(\w)_(?=\W|$)", r"\1\\_", re.sub(r"([|*])", r"\\\1", parts[k]))
        parts[k] = re.sub(r"`([^`]+)`", linked, plain)
    return "".join(parts)


def as_rst(app: object, what: str, name: str, obj: object, options: object, lines: list[str]) -> None:
    """A docstring as reStructuredText: "Arguments:" and "Attributes:" become lists, one entry for each name."""
    found, listed = [], False
    for line in lines:
        if line in ("Arguments:", "Attributes:"):
            found += [f"**{line.removesuffix(':')}**", ""]
            listed = True
            continue
        listed = listed and (not line or line.startswith(" "))
        entry = re.match(r"    (\w[\w, ]*): (.*)", line) if listed else None
        if entry:
            found += [f"- ``{entry[1]}``: {inline(entry[2])}"]
        else:
            found += [f"  {inline(line.strip())}" if listed and line else inline(line)]
    lines[:] = found


def setup(app: object) -> None:
    """Docstrings pass through `as_rst` before they are read."""
    app.connect("autodoc-process-docstring", as_rst, priority=100)  # pyright: ignore

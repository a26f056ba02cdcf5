"""Examples are what the gallery wants: short, with a title and a picture, each in one section."""

import ast
import runpy
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
EXAMPLES = sorted((ROOT / "examples").glob("*.py"))
SECTIONS = runpy.run_path(str(ROOT / "docs" / "_ext" / "sections.py"))["SECTIONS"]


def test_every_example_stands_in_one_section():
    listed = [name for _, names in SECTIONS.values() for name in names]
    assert sorted(listed) == [path.stem for path in EXAMPLES], "put it into a section of docs/_ext/sections.py"


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_it_is_short_and_has_a_title_and_a_picture(path):
    text = path.read_text()
    assert len(text.splitlines()) <= 40
    title, line, blank, story, *_ = (ast.get_docstring(ast.parse(text)) or "").splitlines()
    assert line == "=" * len(title)
    assert blank == ""
    assert story
    assert f'"out/examples/{path.stem}.png"' in text
    assert "assert " in text

"""Every block of Python in README and in the documents is run, page by page, from top to bottom.

Blocks of one page share a namespace. A block that cannot run here stands below a comment that says why,
``<!-- not run: reason -->``; it is compiled, and shows as skipped. Other fences (console, text, json) are not Python.
"""

import re
import warnings
from pathlib import Path
from typing import NamedTuple

import jax
import pytest

ROOT = Path(__file__).parents[1]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
PAGES = [page for page in PAGES if "_build" not in page.parts and "```python" in page.read_text()]
MARK = r"^(?:<!-- not run: (?P<reason>[^\n]+) -->\n+)?"
FENCE = re.compile(MARK + r"```python\n(?P<code>.*?)^```$", re.MULTILINE | re.DOTALL)


class Block(NamedTuple):
    """Code of a page, where its first line stands there, and why it is not run, if it is not."""

    code: str
    line: int
    reason: str | None


def blocks(text):
    """The blocks of Python on a page, in order."""
    return [
        Block(match["code"], text.count("\n", 0, match.start("code")) + 1, match["reason"])
        for match in FENCE.finditer(text)
    ]


def run(page, namespace):
    """Run the blocks of a page; a traceback names the page and the line."""
    for block in blocks(page.read_text()):
        if block.reason is None:
            code = "\n" * (block.line - 1) + block.code
            exec(compile(code, str(page), "exec"), namespace)


def name(page):
    return str(page.relative_to(ROOT))


@pytest.mark.parametrize("page", PAGES, ids=name)
def test_every_block_runs(page, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)  # what is saved
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error", UserWarning)  # a page whose code warns would teach the wrong thing
            run(page, {"__name__": "page"})
    finally:
        jax.config.update("jax_enable_x64", False)  # pages set it, as users do


LEFT = [(page, block) for page in PAGES for block in blocks(page.read_text()) if block.reason]


@pytest.mark.parametrize(("page", "block"), LEFT, ids=[f"{name(page)}:{block.line}" for page, block in LEFT])
def test_blocks_that_are_not_run(page, block):
    compile(block.code, str(page), "exec")
    pytest.skip(block.reason)


def test_every_fence_is_found():
    """A fence that the pattern misses, as an indented one, would not be run, and nobody would know."""
    for page in PAGES:
        text = page.read_text()
        assert len(blocks(text)) == text.count("```python"), page


def test_a_wrong_block_fails(tmp_path):
    page = tmp_path / "page.md"
    one, two, three = (f"```python\n{code}\n```\n\n" for code in ("a = 1", "a = 2", "assert a == 2"))
    page.write_text(f"text\n\n{one}<!-- not run: a reason -->\n{two}{three}")
    with pytest.raises(AssertionError) as caught:
        run(page, {})
    assert caught.traceback[-1].lineno == 12

"""The reference has an entry for every public name, with an example; tests/test_documents.py runs the examples."""

import re
from pathlib import Path

import pytest

import kernop as ko

PAGES = sorted((Path(__file__).parents[1] / "docs" / "api").glob("*.md"))
ENTRY = re.compile(r"^## (\w+)\n(.*?)(?=^## |\Z)", re.MULTILINE | re.DOTALL)
ENTRIES = {name: text for page in PAGES for name, text in ENTRY.findall(page.read_text())}
SHORTEST = 5


def test_the_entries_are_the_public_names():
    assert sorted(ENTRIES) == sorted(ko.__all__), "docs/api: an entry for each public name, and for nothing else"


@pytest.mark.parametrize("name", sorted(ko.__all__))
def test_an_entry_has_its_description_and_an_example(name):
    text = ENTRIES[name]
    assert re.search(rf"^\.\. auto\w+:: kernop\.{name}(\(\))?$", text, re.MULTILINE)
    examples = re.findall(r"^```python\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)
    used = re.search(rf"\bko\.{name}\b", "".join(examples))
    assert used or f"isinstance(T, ko.{name})" in text, f"no example of ko.{name}"


@pytest.mark.parametrize("name", sorted(ko.__all__))
def test_a_docstring_stands_alone(name):
    assert len((getattr(ko, name).__doc__ or "").split()) >= SHORTEST


def test_members_exist():
    """Members that an entry lists are attributes of the class."""
    for name, text in ENTRIES.items():
        for listed in re.findall(r"^   :members: (.+)$", text, re.MULTILINE):
            for member in listed.split(", "):
                owner = getattr(ko, name)
                assert hasattr(owner, member) or member in getattr(owner, "__annotations__", {}), f"{name}.{member}"

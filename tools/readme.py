"""The README as it stands on an index page: its links into the repository become absolute. Used when building."""

import re
from pathlib import Path

from hatchling.metadata.plugin.interface import MetadataHookInterface

REPOSITORY = "https://github.com/kernop/kernop"
#: Where pages and pictures of the repository are found.
PAGES, PICTURES = f"{REPOSITORY}/blob/main/", "https://raw.githubusercontent.com/kernop/kernop/main/"


def absolute(text: str) -> str:
    """Markdown whose relative links, and those of its pictures, are absolute."""

    def link(found: re.Match[str]) -> str:
        base = PICTURES if found[1] else PAGES
        return f"{found[1]}[{found[2]}]({base}{found[3]})"

    return re.sub(r"(!?)\[((?:[^\[\]]|\[[^\]]*\])*)\]\((?!https?:|#)([^)\s]+)\)", link, text)


class Readme(MetadataHookInterface):
    """Gives the project its README."""

    def update(self, metadata: dict[str, object]) -> None:
        """Put the text in."""
        text = Path(self.root, "README.md").read_text(encoding="utf-8")
        metadata["readme"] = {"content-type": "text/markdown", "text": absolute(text)}

"""Constraints for pip: of every package that pyproject.toml names for these extras, the lowest version it allows.

python tools/lowest.py test > constraints.txt
"""

import re
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path

PROJECT = tomllib.loads((Path(__file__).parents[1] / "pyproject.toml").read_text(encoding="utf-8"))["project"]


def requirements(extras: list[str]) -> Iterator[str]:
    """What the package needs, with these extras and those that they name in turn."""
    yield from PROJECT["dependencies"]
    waiting = list(extras)
    while waiting:
        for line in PROJECT["optional-dependencies"][waiting.pop()]:
            own = re.fullmatch(rf"{PROJECT['name']}\[(.*)\]", line)
            if own:
                waiting += own[1].split(",")
            else:
                yield line


def lowest(requirement: str) -> str:
    """``name==version`` for ``name>=version``; a requirement without a lower bound is an error."""
    found = re.fullmatch(r"([\w.-]+)>=([\w.]+)", requirement.replace(" ", ""))
    if found is None:
        sys.exit(f"pyproject.toml: got {requirement!r}; give each dependency a lower bound alone, as in name>=1.2.")
    return f"{found[1]}=={found[2]}"


if __name__ == "__main__":
    print("\n".join(sorted({lowest(line) for line in requirements(sys.argv[1:])})))

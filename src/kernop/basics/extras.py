"""Packages that are not always there: an error says which extra brings them."""

from __future__ import annotations

from importlib import import_module
from types import ModuleType
from typing import Any

from kernop.basics.errors import MissingExtraError, fail

#: Axes of matplotlib, and what it draws on them: it is an extra, and its types cannot be named without it.
Axes = Any
Artist = Any


def needed(package: str, extra: str, what: str) -> ModuleType:
    """A package, or a module of it, that an extra of kernop installs; ``what`` needs it."""
    try:
        return import_module(package)
    except ImportError as error:
        remedy = f"install the extra {extra!r}: pip install 'kernop[{extra}]'"
        raise fail(MissingExtraError, what, f"no package {package.partition('.')[0]}", remedy) from error

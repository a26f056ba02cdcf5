"""Good calls of every public name: each with small arguments, and carried through to numbers."""

from __future__ import annotations

from fuzzing import asking, stating
from fuzzing.setting import Call


def catalogue() -> list[Call]:
    """All of them."""
    return [*stating.calls(), *asking.calls()]

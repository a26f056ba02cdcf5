"""Who learns parts and merges them: threads here, or others that take the same calls."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Protocol

from kernop.basics.linalg import in_threads
from kernop.basics.shelf import Shelf


class Crew(Protocol):
    """Applies a function to each of many items."""

    def __call__(
        self, function: Callable[[Any], Any], items: Sequence[Any], shelf: Shelf | None = None, /
    ) -> list[Any]:
        """The values in the order of the items; with a shelf their arrays stand there, and are mapped."""
        ...


def threads(function: Callable[[Any], Any], items: Sequence[Any], shelf: Shelf | None = None, /) -> list[Any]:
    """The crew of this process."""
    if shelf is None:
        return in_threads(function, items)
    return shelf.opened(in_threads(lambda item: shelf.put(function(item)), items))

"""Who learns parts and merges them: threads here, or others that take the same calls."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from math import inf
from typing import Any, Protocol

from kernop.basics.linalg import in_threads
from kernop.basics.shelf import Shelf, opened


class Crew(Protocol):
    """Does a job for each of many items."""

    def __call__(
        self,
        job: Callable[[Any], Iterator[Any]],
        items: Sequence[Any],
        numbers: float = inf,
        shelf: Shelf | None = None,
        /,
    ) -> list[list[Any]]:
        """What the job yields for each item, in their order; with a shelf arrays stand there, and are mapped.

        Each value, of about so many numbers, is put there as it comes, while it is still in the caches of its
        processor.
        """
        ...


def threads(
    job: Callable[[Any], Iterator[Any]], items: Sequence[Any], numbers: float = inf, shelf: Shelf | None = None, /
) -> list[list[Any]]:
    """The crew of this process."""
    if shelf is None:
        return in_threads(lambda item: list(job(item)), items, numbers)
    return opened([shelf], in_threads(lambda item: list(map(shelf.put, job(item))), items, numbers))

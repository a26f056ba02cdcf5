"""Many tasks of one kind, each of which has all that it needs, on the workers of a Dask client."""

from __future__ import annotations

import pickle
from collections.abc import Callable, Sequence
from typing import Any

from kernop.basics.linalg import one_thread
from kernop.basics.shelf import Address, Parcel, Shelf, put_there
from kernop.learning.streaming.cluster import Workers, check_client
from kernop.methods.parts.crew import threads

#: Fewer items are not worth the way.
LEAST = 2


class OnWorkers:
    """A function of each of many items, which hold no code, on workers.

    What an item gives depends on it alone, and is computed with one thread of BLAS: so it has the same bits on any
    worker, and here. A worker that dies takes its items with it, and they are computed again elsewhere. Workers of this
    machine put what they find on a shelf of this process; from others it is sent.
    """

    def __init__(self, client: Any) -> None:
        self._client, self._workers = check_client(client), Workers(client)

    def __call__(
        self, function: Callable[[Any], Any], items: Sequence[Any], shelf: Shelf | None = None, /
    ) -> list[Any]:
        """The values in the order of the items."""
        if len(items) < LEAST:
            return threads(function, items, shelf)
        near = shelf or Shelf.in_memory()
        with self._workers.connected():
            there = self._workers.send((function, near and near.address))
            tasks = self._workers.parts(_done, there, [pickle.dumps(item, protocol=5) for item in items])
            # What was sent goes to the disk at once, if it does not fit into memory.
            found = self._workers.results(
                there, tasks, lambda value: value if shelf is None or isinstance(value, Parcel) else shelf.put(value)
            )
        if near is None:
            return found
        opened = iter(near.opened([own for own in found if isinstance(own, Parcel)]))
        return [next(opened) if isinstance(own, Parcel) else own for own in found]


def _done(work: tuple[Callable[[Any], Any], Address | None], item: bytes) -> Any:
    function, address = work
    with one_thread():
        return put_there(address, function(pickle.loads(item)))

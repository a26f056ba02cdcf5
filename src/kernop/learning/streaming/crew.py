"""Many tasks of one kind, each of which has all that it needs, on the workers of a Dask client."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from kernop.basics.linalg import in_threads, one_thread
from kernop.learning.streaming.cluster import Workers, check_client
from kernop.learning.streaming.luggage import pickled, unpickled

#: Packages of items for each thread of a worker: with more, one that is late is waited for less …
PACKAGES = 8
#: … but each has at least so many items, and fewer are not worth the way.
LEAST = 4


class OnWorkers:
    """A function of each of many items, in packages on workers.

    What a package gives depends on its items alone, and is computed with one thread of BLAS: so it has the same bits on
    any worker, and here. A worker that dies takes its packages with it, and they are computed again elsewhere.
    """

    def __init__(self, client: Any) -> None:
        self._client, self._workers = check_client(client), Workers(client)

    def __call__(self, function: Callable[[Any], Any], items: Sequence[Any]) -> list[Any]:
        """The values in the order of the items."""
        if len(items) < LEAST:
            return in_threads(function, items)
        with self._workers.connected():
            threads = sum(self._client.nthreads().values())
            number = max(1, min(PACKAGES * threads, len(items) // LEAST))
            cut = [own.tolist() for own in np.array_split(np.arange(len(items)), number)]
            packages = [pickled([items[k] for k in own]) for own in cut]
            there = self._workers.send(function)
            found = self._workers.results(there, self._workers.parts(_done, there, packages))
            return [value for own in found for value in own]


def _done(function: Callable[[Any], Any], package: bytes) -> list[Any]:
    with one_thread():
        return [function(item) for item in unpickled(package)]

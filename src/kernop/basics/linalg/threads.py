"""The number of threads that BLAS uses."""

from __future__ import annotations

import threading
from collections.abc import Callable, Generator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from functools import cache
from typing import Any, TypeVar

from threadpoolctl import ThreadpoolController

Given = TypeVar("Given")
Found = TypeVar("Found")


@cache
def _threads() -> ThreadpoolController:
    return ThreadpoolController()


class _Limit:
    """The limit of BLAS to one thread is one setting of the process: the first who asks sets it, the last lifts it."""

    def __init__(self) -> None:
        self._lock, self._users, self._context = threading.Lock(), 0, None

    def enter(self) -> None:
        with self._lock:
            self._users += 1
            if self._users == 1:
                self._context: Any = _threads().limit(limits=1, user_api="blas")
                self._context.__enter__()

    def leave(self) -> None:
        with self._lock:
            self._users -= 1
            if self._users == 0:
                self._context.__exit__(None, None, None)


_limit = _Limit()


@contextmanager
def one_thread() -> Generator[None]:
    """A context in which BLAS uses one thread: for many small products between calls of JAX, whose own threads still
    wait for work and make those of BLAS several times slower."""
    _limit.enter()
    try:
        yield
    finally:
        _limit.leave()


def in_threads(job: Callable[[Given], Found], items: Sequence[Given]) -> list[Found]:
    """A job for each of many items, in as many threads as BLAS has, each of which then has one thread of BLAS.

    For matrices so small that several threads of BLAS would wait for each other.
    """
    number = max((own.num_threads for own in _threads().lib_controllers if own.user_api == "blas"), default=1)
    with one_thread():
        if min(number, len(items)) < 2:
            return [job(item) for item in items]
        with ThreadPoolExecutor(min(number, len(items))) as pool:
            return list(pool.map(job, items))

"""The number of threads that BLAS uses."""

from __future__ import annotations

import threading
from collections.abc import Generator
from contextlib import contextmanager
from functools import cache
from typing import Any

from threadpoolctl import ThreadpoolController


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

"""The number of threads that BLAS uses."""

from __future__ import annotations

import threading
from collections.abc import Callable, Generator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from functools import cache
from typing import TypeVar

from threadpoolctl import ThreadpoolController

Given = TypeVar("Given")
Found = TypeVar("Found")


@cache
def _threads() -> ThreadpoolController:
    return ThreadpoolController()


#: BLAS has one limit of threads for the whole process: the first of its users sets it, the last lifts it.
_users, _lock, _limit = list[int](), threading.Lock(), ExitStack()


@contextmanager
def one_thread() -> Generator[None]:
    """A context in which BLAS uses one thread: for many small products between calls of JAX, whose own threads still
    wait for work and make those of BLAS several times slower."""
    with _lock:
        _users.append(threading.get_ident())
        if len(_users) == 1:
            _limit.enter_context(_threads().limit(limits=1, user_api="blas"))
    try:
        yield
    finally:
        with _lock:
            _users.pop()
            if not _users:
                _limit.close()


def in_threads(job: Callable[[Given], Found], items: Sequence[Given]) -> list[Found]:
    """A job for each of many items, in as many threads as BLAS has, each of which then has one thread of BLAS.

    For matrices so small that several threads of BLAS would wait for each other.
    """
    number = max((own.num_threads for own in _threads().lib_controllers if own.user_api == "blas"), default=1)
    if number < 2:  # as it is where others have set it, or we have, for work of which this is a part
        return [job(item) for item in items]
    with one_thread():
        if len(items) < 2:
            return [job(item) for item in items]
        with ThreadPoolExecutor(min(number, len(items))) as pool:
            return list(pool.map(job, items))

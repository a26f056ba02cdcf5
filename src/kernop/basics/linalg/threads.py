"""The number of threads that BLAS uses.

NumPy and SciPy may each come with a BLAS of their own, as their wheels do. Threads of the one wait for more work by
spinning, and so hold the cores that those of the other need, as any other process does that works: small products take
up to ten times as long with two threads as with one. So while kernop computes BLAS has one thread (`one_thread`), but
for single products and factorisations that are large (`threads_for`), and these are all SciPy's.

BLAS has one number of threads for the whole process. The first who asks for one thread sets it, the last sets it back.
"""

from __future__ import annotations

import ctypes
import os
import threading
from collections import Counter
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager, ContextDecorator, nullcontext
from dataclasses import dataclass
from functools import cache
from itertools import product
from pathlib import PurePath
from typing import Any, TypeVar

from threadpoolctl import ThreadpoolController

Given = TypeVar("Given")
Found = TypeVar("Found")

#: Jobs that make fewer numbers each hold the interpreter for most of their time, and gain nothing by threads.
WORTH = 80_000
#: Calls of fewer operations than this, some ten milliseconds, gain less by threads than they lose if a core is busy.
LARGE = 5e8


@dataclass(frozen=True)
class _Library:
    """A BLAS: how its number of threads is read and set, and whether it is NumPy's, and not SciPy's too."""

    get: Callable[[], int]
    set: Callable[[int], object]
    numpys: bool


def _functions(own: Any) -> tuple[Callable[[], int], Callable[[int], object]]:
    """Those of OpenBLAS themselves: threadpoolctl lets one thread of Python alone set the number; here a lock does."""
    if own.internal_api == "openblas" and own.threading_layer != "openmp":
        loaded = ctypes.CDLL(own.filepath)
        for prefix, suffix in product(("", "scipy_"), ("", "64_", "_64_", "_64")):
            names = [f"{prefix}openblas_{what}_num_threads{suffix}" for what in ("get", "set")]
            if all(hasattr(loaded, name) for name in names):
                get, set_ = (getattr(loaded, name) for name in names)
                return get, set_
    return lambda: own.num_threads, own.set_num_threads


@cache
def _libraries() -> tuple[_Library, ...]:
    found = [own for own in ThreadpoolController().lib_controllers if own.user_api == "blas"]
    numpys = [any(part.startswith("numpy") for part in PurePath(own.filepath).parts[-3:]) for own in found]
    return tuple(_Library(*_functions(own), numpys=n and not all(numpys)) for own, n in zip(found, numpys, strict=True))


class _Threads:
    """Who asks for what, and what the libraries were set to before any of them did."""

    def __init__(self) -> None:
        self.lock = threading.Lock()
        #: Calls that are under way, by kind and by thread of Python.
        self.users: Counter[tuple[str, int]] = Counter()
        self.before: list[tuple[_Library, int]] = []
        self.now: tuple[bool, bool] = (False, False)

    def change(self, kind: str, by: int) -> None:
        """One user more, or less, of this thread of Python."""
        with self.lock:
            if not self.users:
                self.before = [(own, own.get()) for own in _libraries()]
            key = kind, threading.get_ident()
            self.users[key] += by
            if self.users[key] < 1:  # after a fork the child may leave what its parent has entered
                del self.users[key]
            self._set()

    def _set(self) -> None:
        """As those ask who are there: whether NumPy's has one thread, and whether others have."""
        kinds = {kind for kind, _ in self.users}
        wanted = bool(kinds), bool(kinds) and "many" not in kinds
        if wanted == self.now:
            return
        for own, number in self.before:
            own.set(1 if wanted[0 if own.numpys else 1] else number)
        self.now = wanted

    @property
    def most(self) -> int:
        """How many threads there are for one who asks now: one, if other threads of Python are at work."""
        with self.lock:
            others = any(thread != threading.get_ident() for _, thread in self.users)
            known = [number for _, number in self.before] if self.users else [own.get() for own in _libraries()]
            return 1 if others else max(known, default=1)


_threads = _Threads()


def _after_fork() -> None:
    """The child has none of the calls that were under way, and has the libraries as they were before them."""
    global _threads
    before, _threads = _threads.before if _threads.users else [], _Threads()
    for own, number in before:
        own.set(number)


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_after_fork)


class _Asking(ContextDecorator):
    """A context, or a decorator, in which BLAS has fewer threads; it may be entered again, and by many."""

    def __init__(self, kind: str) -> None:
        self._kind = kind

    def __enter__(self) -> None:
        _threads.change(self._kind, 1)

    def __exit__(self, *_: object) -> None:
        _threads.change(self._kind, -1)


#: BLAS has one thread, in this context or decorated function.
one_thread = _Asking("one")
_many_threads, _as_it_is = _Asking("many"), nullcontext()


def threads_for(operations: float) -> AbstractContextManager[None]:
    """A context in which SciPy's BLAS has all its threads, if one of its calls in it does so many operations."""
    return _many_threads if operations > LARGE else _as_it_is


def in_threads(job: Callable[[Given], Found], items: Sequence[Given], numbers: float) -> list[Found]:
    """A job for each of many items, in as many threads as BLAS has, each of which then has one thread of BLAS.

    For matrices so small that several threads of BLAS would wait for each other, but not for the smallest: each job
    makes so many ``numbers``.
    """
    most = min(_threads.most, len(items))
    with one_thread:
        if most < 2 or numbers < WORTH:
            return [job(item) for item in items]
        with ThreadPoolExecutor(most) as pool:
            return list(pool.map(job, items))

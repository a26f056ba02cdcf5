"""Arrays that nobody writes to any more: what several threads may read at once."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from threading import Lock
from typing import Generic, TypeVar
from weakref import WeakKeyDictionary

import numpy as np

#: What holds no arrays. There may be very many of them.
PLAIN = (int, float, complex, str, bytes, slice, type, type(None))

Value = TypeVar("Value")
Key = TypeVar("Key")


def frozen(value: Value) -> Value:
    """The same value, with every array in it (also in tuples, mappings and dataclasses) made read-only.

    An array that is written to by mistake, by us or by LAPACK behind our back, then raises instead of changing the
    answers of everybody who holds it.
    """
    if isinstance(value, np.ndarray):
        value.setflags(write=False)
    elif isinstance(value, PLAIN):
        pass
    elif isinstance(value, tuple | list):
        for part in value:
            frozen(part)
    elif isinstance(value, Mapping):
        for part in value.values():
            frozen(part)
    else:
        for name in getattr(type(value), "__dataclass_fields__", ()):
            frozen(getattr(value, name))
    return value


class Kept(Generic[Key, Value]):
    """What is made once for each key, while the key lives; by one thread, for which the others wait.

    Keys are weak, and compared by what they are, not by what they hold.
    """

    def __init__(self) -> None:
        self._lock = Lock()
        self._values: WeakKeyDictionary[Key, Value] = WeakKeyDictionary()
        self._being_made: WeakKeyDictionary[Key, Lock] = WeakKeyDictionary()

    def of(self, key: Key, make: Callable[[], Value]) -> Value:
        """The value of a key: the one that is kept, or that ``make`` makes now."""
        with self._lock:
            if key in self._values:
                return self._values[key]
            own = self._being_made.setdefault(key, Lock())
        with own:  # one lock for each key: those of other keys do not wait
            with self._lock:
                if key in self._values:
                    return self._values[key]
            value = make()
            with self._lock:
                self._values[key] = value
            return value

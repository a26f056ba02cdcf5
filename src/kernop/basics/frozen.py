"""Arrays that nobody writes to any more: what several threads may read at once."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Hashable, Mapping, MutableMapping
from threading import Lock
from typing import Any, Generic, TypeVar
from weakref import WeakKeyDictionary

import numpy as np

#: What holds no arrays. There may be very many of them.
PLAIN = frozenset({int, float, complex, bool, str, bytes, slice, type, type(None)})

#: The attribute of a key in which values stand that hold it.
NOTES = "_notes_beside"

Value = TypeVar("Value")
Key = TypeVar("Key")


def frozen(value: Value) -> Value:
    """The same value, with every array in it (also in tuples, mappings and dataclasses) made read-only.

    An array that is written to by mistake, by us or by LAPACK behind our back, then raises instead of changing the
    answers of everybody who holds it.
    """
    kind = type(value)
    if kind in PLAIN:
        return value
    if isinstance(value, np.ndarray):
        value.setflags(write=False)
        return value
    fields = getattr(kind, "__dataclass_fields__", None)
    if fields is not None:
        parts = [getattr(value, name) for name in fields]
    elif isinstance(value, tuple | list):
        parts = value
    else:
        parts = value.values() if isinstance(value, Mapping) else ()
    for part in parts:
        if type(part) not in PLAIN:
            frozen(part)
    return value


class Kept(Generic[Key, Value]):
    """What is made once for each key, while the key lives; by one thread, for which the others wait.

    Keys are weak, and compared by what they are, not by what they hold. A value that holds its key would keep both for
    ever: see `Beside`.
    """

    def __init__(self) -> None:
        self._lock = Lock()
        self._values: WeakKeyDictionary[Key, Value] = WeakKeyDictionary()
        self._being_made: WeakKeyDictionary[Key, Lock] = WeakKeyDictionary()

    def __contains__(self, key: Key) -> bool:
        with self._lock:
            return key in self._of(key)

    def of(self, key: Key, make: Callable[[], Value]) -> Value:
        """The value of a key: the one that is kept, or that ``make`` makes now."""
        with self._lock:
            if key in self._of(key):
                return self._of(key)[key]
            own = self._being_made.setdefault(key, Lock())
        with own:  # one lock for each key: those of other keys do not wait
            with self._lock:
                if key in self._of(key):
                    return self._of(key)[key]
            value = make()
            with self._lock:
                self._of(key)[key] = value
            return value

    def _of(self, key: Key) -> MutableMapping[Key, Value]:
        """Where the value of a key stands."""
        return self._values


class Beside(Kept[Key, Value]):
    """The same for values that may hold their keys: they stand in attributes of these, so that both go together."""

    def _of(self, key: Key) -> MutableMapping[Key, Value]:
        return vars(key).setdefault(NOTES, _Notes()).setdefault(self, WeakKeyDictionary())


class _Notes(dict[object, Any]):
    """What stands beside a key; beside a copy of it, or one from a pickle, there is nothing."""

    def __reduce__(self) -> tuple[type[_Notes], tuple[()]]:
        return _Notes, ()


class Recent(Generic[Value]):
    """The last few values that were made, by keys that are compared by what they hold; for all threads.

    Threads that ask for a value at once may each make it. Keys live as long as their values: they should hold nothing
    that is large, nor functions of the user, which may say something else tomorrow.

    Arguments:
        most: so many values are kept …
        room: … of so many numbers in all, at most.
        size: how many numbers a value has.
    """

    def __init__(self, most: int, room: float = np.inf, size: Callable[[Value], int] = lambda _: 0) -> None:
        self._lock, self._most, self._room, self._size = Lock(), most, room, size
        self._values: OrderedDict[Hashable, tuple[Value, int]] = OrderedDict()
        self._taken = 0

    def __len__(self) -> int:
        return len(self._values)

    def of(self, key: Hashable, make: Callable[[], Value], keep: Callable[[Value], bool] = lambda _: True) -> Value:
        """The value of a key: the one that is kept, or that ``make`` makes now, which is kept if ``keep`` says so."""
        with self._lock:
            if key in self._values:
                self._values.move_to_end(key)
                return self._values[key][0]
        value = make()
        if keep(value):
            with self._lock:
                if key in self._values:  # another thread made one, too
                    return self._values[key][0]
                self._values[key] = value, self._size(value)
                self._taken += self._values[key][1]
                while len(self._values) > self._most or self._taken > self._room:
                    self._taken -= self._values.popitem(last=False)[1][1]
        return value

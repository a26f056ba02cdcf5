"""Arrays of which rows are read when their turn comes, in memory or in a mapped file, and may change until then."""

from __future__ import annotations

import mmap
import os
from functools import cached_property
from typing import Any

import numpy as np

from kernop.basics.errors import FileError, FloatArray, fail

#: What to do about contents that changed.
BRING_BACK = "bring the old contents back, or learn again from the new ones"


class Held:
    """An array (n, d) of the user, of which rows are read when their turn comes."""

    def __init__(self, name: str, array: Any) -> None:
        self.described, self.shape, self._array = f"an array for {name}", array.shape, array

    def __getitem__(self, rows: slice) -> Any:
        return self._array[rows]

    def check_date(self) -> None:
        """Nothing to check: an array in memory cannot change on disk."""


class Mapped(Held):
    """A memory-mapped array (n, d), which travels to other processes as its place in a file, not as its contents.

    Its file may change while it is mapped. What is read twice is compared by the stream; here is looked after what the
    stream cannot see: a file that became shorter, where reading would kill the process, and, before it travels, a file
    that is not the same any more, because other processes would map the new one.
    """

    def __init__(self, name: str, array: np.memmap[Any, Any]) -> None:
        super().__init__(name, array)
        root = array
        while isinstance(root.base, np.memmap):
            root = root.base
        self._file, self._start = str(array.filename), root.offset + array.ctypes.data - root.ctypes.data
        self._strides, self._dtype = array.strides, array.dtype
        self.described = f"a mapped array of {self._file!r}"
        self._map: Any = root.base
        self._length = root.offset + root.nbytes
        if array.mode in ("r+", "w+"):
            array.flush()  # else the system may write, and date, it later
        self._date = _date(self._file)

    def __getitem__(self, rows: slice) -> FloatArray:
        part = self._array[rows]
        if isinstance(self._map, mmap.mmap) and self._map.size() < self._length:
            raise fail(FileError, "points", f"{self.described}, which is shorter than it was", BRING_BACK)
        return part

    def check_date(self) -> None:
        """Refuse a file that has been written, or replaced, since it was given."""
        if self._date is not None and _date(self._file) not in (None, self._date):
            raise fail(FileError, "points", f"{self.described}, which has changed since it was given", BRING_BACK)

    def __getstate__(self) -> dict[str, object]:
        self.check_date()
        return {name: value for name, value in vars(self).items() if name not in ("_array", "_map", "_date")}

    def __setstate__(self, state: dict[str, object]) -> None:
        vars(self).update(state, _date=None)

    @cached_property
    def _array(self) -> Any:
        """Mapped again where it has travelled to."""
        try:
            whole = np.memmap(self._file, dtype=np.uint8, mode="r")
            self._map = whole.base
            return np.ndarray(self.shape, self._dtype, whole, self._start, self._strides)
        except (OSError, TypeError, ValueError) as error:
            got = f"{self.described}, which cannot be mapped here ({error})"
            raise fail(FileError, "points", got, "let every worker see the same files") from error


def _date(file: str) -> tuple[int, int, int] | None:
    """What distinguishes a file from a newer one of the same name; None if it is not there."""
    try:
        found = os.stat(file)
    except OSError:
        return None
    return found.st_ino, found.st_size, found.st_mtime_ns

"""The parts of a file: named numbers, words and arrays, which are checked one by one when they are read.

Parts are nested: ``file.below("kernel")`` is the object of that name in the header, and its arrays have names that
begin with ``kernel/``. An array by columns (Fortran's order) is stored transposed under a name that ends in ``.T``, so
that BLAS and LAPACK later see what they saw before, and round in the same way.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Callable, Collection, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kernop.basics.errors import FloatArray, KernopError, NonFiniteError, check_memory, describe, fail
from kernop.basics.linalg import packed, unpack
from kernop.basics.storage import Array

#: Objects within objects; kernels that are sums of sums go deepest.
DEEPEST = 100

#: A shape; None where any size will do.
Shape = tuple[int | None, ...]


class Writer:
    """Collects the header and the arrays of a file."""

    def __init__(self, header: dict[str, Any] | None = None, arrays: dict[str, Array] | None = None, place: str = ""):
        self.header: dict[str, Any] = {} if header is None else header
        self.arrays: dict[str, Array] = {} if arrays is None else arrays
        self._place = place

    def __setitem__(self, name: str, value: Any) -> None:
        self.header[name] = value

    def below(self, name: str) -> Writer:
        """A part within this one."""
        return Writer(self.header.setdefault(name, {}), self.arrays, f"{self._place}{name}/")

    def array(self, name: str, array: Array) -> None:
        """An array of numbers, in the order in which it lies in memory."""
        by_columns = array.ndim > 1 and array.flags.f_contiguous and not array.flags.c_contiguous
        self.arrays[f"{self._place}{name}{'.T' if by_columns else ''}"] = array.T if by_columns else array

    def triangle(self, name: str, matrix: FloatArray, *, lower: bool) -> None:
        """One triangle of a square matrix; what lies on the other side of its diagonal is left out."""
        by_columns = bool(matrix.flags.f_contiguous)
        values = packed(matrix if by_columns else matrix.T, lower=lower == by_columns)
        self.arrays[f"{self._place}{name}{'.T' if by_columns else ''}"] = values

    def finish(self) -> None:
        """Refuse to write what no reader would take."""
        for name, array in self.arrays.items():
            if not squares_are_finite(array):
                got = f"an operator whose {name} has numbers that are not finite, or whose squares are not"
                remedy = "choose units in which coordinates, coefficients and data are near 1"
                raise fail(NonFiniteError, "T", got, remedy)


class Reader:
    """The header and the arrays of a file, or a part of them.

    Arguments:
        refuse: makes the error for what is found wrong.
    """

    def __init__(
        self,
        header: Mapping[str, Any],
        arrays: Mapping[str, Array],
        refuse: Callable[[str], KernopError],
        place: str = "",
        used: set[str] | None = None,
    ) -> None:
        self._header, self._arrays, self._refuse, self._place = header, arrays, refuse, place
        self._used: set[str] = set() if used is None else used

    def wrong(self, name: str, found: str) -> KernopError:
        """The error for a part that is not as it should be."""
        return self._refuse(f"whose {self._place}{name} is {found}")

    def __contains__(self, name: str) -> bool:
        """Is there a value that is not null?"""
        return self._header.get(name) is not None

    def value(self, name: str) -> Any:
        """Whatever is there, but not nothing."""
        if name not in self:
            raise self.wrong(name, "missing")
        return self._header[name]

    def below(self, name: str) -> Reader:
        """A part within this one."""
        return self._part(name, self.value(name))

    def _part(self, name: str, value: Any) -> Reader:
        if not isinstance(value, dict):
            raise self.wrong(name, "no object")
        if self._place.count("/") >= DEEPEST:
            raise self.wrong(name, "nested too deeply")
        return Reader(value, self._arrays, self._refuse, f"{self._place}{name}/", self._used)

    def names(self) -> list[str]:
        """The names of all values."""
        return list(self._header)

    def finish(self) -> None:
        """Refuse a file with arrays that nobody asked for: something else is missing."""
        left = self._arrays.keys() - self._used
        if left:
            raise self._refuse(f"which has an array {describe(min(left))} that does not belong to it")

    def parts(self, name: str) -> list[Reader]:
        """A list of parts within this one."""
        return [self._part(name, value) for value in self.list(name)]

    def text(self, name: str) -> str:
        """A text, of one line at most so long."""
        found = self.value(name)
        if not isinstance(found, str) or len(found) > 1000 or not found.isprintable():
            raise self.wrong(name, "no text")
        return found

    def word(self, name: str, choices: Collection[str]) -> str:
        """One of a few words."""
        found = self.value(name)
        if not isinstance(found, str) or found not in choices:
            raise self.wrong(name, f"{describe(found)}, which this kernop does not know")
        return found

    def flag(self, name: str) -> bool:
        """True or false."""
        found = self.value(name)
        if not isinstance(found, bool):
            raise self.wrong(name, f"{describe(found)} and not true or false")
        return found

    def number(self, name: str, *, above: float = -math.inf, least: float = -math.inf) -> float:
        """A finite number."""
        return self._number(name, self.value(name), above, least)

    def _number(self, name: str, found: Any, above: float = -math.inf, least: float = -math.inf) -> float:
        if isinstance(found, bool) or not isinstance(found, int | float) or not abs(found) <= sys.float_info.max:
            raise self.wrong(name, f"{describe(found)} and no number")
        if not above < found or not least <= found:
            raise self.wrong(name, f"the number {describe(found)}, which it cannot be")
        return float(found)

    def integer(self, name: str, *, least: int = 0, most: int = 2**53) -> int:
        """A whole number."""
        return self._integer(name, self.value(name), least, most)

    def _integer(self, name: str, found: Any, least: int, most: int) -> int:
        if isinstance(found, bool) or not isinstance(found, int) or not least <= found <= most:
            raise self.wrong(name, f"{describe(found)} and no whole number from {least} to {most}")
        return found

    def numbers(self, name: str, length: int | None = None) -> list[float]:
        """A list of finite numbers."""
        return [self._number(name, value) for value in self.list(name, length)]

    def integers_of(self, name: str, length: int | None = None, *, least: int = 0, most: int = 2**53) -> list[int]:
        """A list of whole numbers."""
        return [self._integer(name, value, least, most) for value in self.list(name, length)]

    def list(self, name: str, length: int | None = None) -> list[Any]:
        """A list of whatever it holds, not empty."""
        found = self.value(name)
        if not isinstance(found, list) or not found or (length is not None and len(found) != length):
            raise self.wrong(name, "no list" + ("" if length is None else f" of {length}"))
        return found

    def has_array(self, name: str) -> bool:
        """Is there an array of that name?"""
        return self._place + name in self._arrays or f"{self._place}{name}.T" in self._arrays

    def ndim(self, name: str) -> int:
        """The number of axes of an array; 0 if there is none."""
        found = self._arrays.get(self._place + name, self._arrays.get(f"{self._place}{name}.T"))
        return 0 if found is None else found.ndim

    def floats(self, name: str, shape: Shape) -> FloatArray:
        """An array of finite numbers, in the order in which it lay in memory."""
        return self._finite(name, self._array(name, shape))

    def positive(self, name: str, shape: Shape) -> FloatArray:
        """An array of positive numbers."""
        found = self.floats(name, shape)
        if not np.all(found > 0.0):
            raise self.wrong(name, "an array with numbers that are not positive")
        return found

    def whole(self, name: str, shape: Shape, *, least: int, most: int) -> NDArray[np.intp]:
        """An array of whole numbers."""
        found = self._array(name, shape, np.dtype(np.int64))
        if found.size and (np.min(found) < least or np.max(found) > most):
            raise self.wrong(name, f"an array with numbers that are not from {least} to {most}")
        return found.astype(np.intp)

    def permutation(self, name: str, n: int) -> NDArray[np.intp]:
        """All numbers below n, each once."""
        found = self.whole(name, (n,), least=0, most=n - 1)
        if np.any(np.bincount(found, minlength=n) != 1):
            raise self.wrong(name, "no permutation")
        return found

    def triangle(self, name: str, n: int, *, lower: bool) -> FloatArray:
        """A triangle (n, n) without zeros on its diagonal, and zeros on the other side of it."""
        by_columns = f"{self._place}{name}.T" in self._arrays
        place = f"{self._place}{name}{'.T' if by_columns else ''}"
        values = self._arrays.get(place)
        self._used.add(place)
        if values is None or values.dtype != np.float64 or values.shape != (n * (n + 1) // 2,):
            raise self.wrong(name, f"no triangle of {n} × {n}")
        self._finite(name, values)
        check_memory("path", n * n, f"a matrix of {n} × {n}", "use a machine with more memory")
        matrix = np.zeros((n, n), order="F")
        unpack(values, matrix, lower=lower == by_columns)
        if not np.all(np.diagonal(matrix)):
            raise self.wrong(name, "a triangle with a zero on its diagonal")
        return matrix if by_columns else matrix.T

    def _array(self, name: str, shape: Shape, dtype: np.dtype[Any] | None = None) -> Array:
        turned = f"{self._place}{name}.T" in self._arrays
        place = f"{self._place}{name}{'.T' if turned else ''}"
        if place not in self._arrays:
            raise self.wrong(name, "missing")
        self._used.add(place)
        found = self._arrays[place].T if turned else self._arrays[place]
        wanted = np.dtype(np.float64) if dtype is None else dtype
        fits = len(shape) == found.ndim and all(n in (None, m) for n, m in zip(shape, found.shape, strict=True))
        if not fits or found.dtype != wanted:
            sides = " × ".join("n" if n is None else str(n) for n in shape)
            raise self.wrong(name, f"an array of {found.dtype} of shape {found.shape} and not of {wanted}, {sides}")
        return found

    def _finite(self, name: str, array: FloatArray) -> FloatArray:
        if not squares_are_finite(array):
            finite = bool(np.all(np.isfinite(array)))
            raise self.wrong(name, f"an array with {'squares' if finite else 'numbers'} that are not finite")
        return array


def squares_are_finite(array: FloatArray) -> bool:
    """Is the sum of squares finite? All that is done with numbers needs that much room."""
    with np.errstate(over="ignore", invalid="ignore"):
        return bool(np.isfinite(np.linalg.norm(array)))

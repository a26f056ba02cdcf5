"""Finding points again: those that are the same to the last bit."""

from __future__ import annotations

from functools import cached_property

import numpy as np

from kernop.basics.errors import FloatArray, IntArray


class Lookup:
    """Rows of an array, found by their values.

    Arguments:
        table: the rows that are known, (n, m).
    """

    def __init__(self, table: FloatArray) -> None:
        self._table = table

    @cached_property
    def _places(self) -> dict[bytes, int]:
        return {key: i for i, key in enumerate(_keys(self._table))}

    def rows(self, wanted: FloatArray) -> IntArray:
        """For each row of ``wanted`` (k, m) the number of a row that equals it, or −1: (k,)."""
        places = self._places
        return np.fromiter((places.get(key, -1) for key in _keys(wanted)), np.intp, len(wanted))


def _keys(rows: FloatArray) -> list[bytes]:
    plain = np.ascontiguousarray(rows + 0.0)  # −0 becomes 0
    return plain.view(np.dtype((np.void, plain.shape[1] * plain.itemsize)))[:, 0].tolist()

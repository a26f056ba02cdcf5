"""Lists of short arrays as one long array, as a file wants them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from kernop.basics.errors import ArgumentError, FloatArray, NumberArray, fail
from kernop.basics.fitting import REMEDY
from kernop.basics.stored import stored


@stored("ragged", by_value=False)
@dataclass(frozen=True, eq=False)
class Ragged:
    """K arrays, (n_k,), one behind the other.

    Arguments:
        values: all of them, (Σ n_k,).
        lengths: n_k, (K,).
    """

    values: FloatArray | NDArray[np.int64]
    lengths: NDArray[np.int64]

    @classmethod
    def of(cls, arrays: Sequence[NumberArray]) -> Ragged:
        """The stored form of arrays of different lengths."""
        return cls(np.concatenate(arrays), np.array([len(own) for own in arrays], dtype=np.int64))

    def check(self) -> None:
        """Raise unless values and lengths, which come from a file, fit each other."""
        fits = self.values.ndim == self.lengths.ndim == 1 and len(self.lengths) > 0
        if not fits or np.any(self.lengths < 0) or np.sum(self.lengths) != len(self.values):
            raise fail(ArgumentError, "lengths", "numbers that are not those of the values", REMEDY)

    def __len__(self) -> int:
        return len(self.lengths)

    @property
    def arrays(self) -> tuple[NumberArray, ...]:
        """The K arrays, (n_k,) each."""
        return tuple(np.split(self.values, np.cumsum(self.lengths)[:-1]))

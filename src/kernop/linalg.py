"""Dense linear algebra on the CPU: LAPACK and BLAS through SciPy, in place. The only file that knows them."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from scipy.linalg import lapack

from kernop.errors import FloatArray, MemoryLimitError, fail

EPS = float(np.finfo(np.float64).eps)


def available_memory() -> int | None:
    """Bytes that can be allocated without swapping, within the limit of a container; None if unknown."""
    found: list[int] = []
    try:
        lines = Path("/proc/meminfo").read_text().splitlines()
        found += [int(line.split()[1]) * 1024 for line in lines if line.startswith("MemAvailable:")]
        group = Path("/sys/fs/cgroup")
        limit = (group / "memory.max").read_text().strip()
        if limit != "max":
            found.append(int(limit) - int((group / "memory.current").read_text()))
    except (OSError, ValueError):
        pass
    if not found:
        try:
            found.append(os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE"))
        except (AttributeError, OSError, ValueError):
            return None
    return max(0, min(found))


def check_memory(name: str, doubles: int, what: str, remedy: str) -> None:
    """Raise before allocating ``doubles`` numbers that would not fit."""
    needed, free = 8 * doubles, available_memory()
    if free is not None and needed > free:
        got = f"{what}, which needs {needed / 2**30:.1f} GiB where {free / 2**30:.1f} GiB are free"
        raise fail(MemoryLimitError, name, got, remedy)


@dataclass(frozen=True, eq=False)
class Cholesky:
    """A = L Lᵀ; ``lower`` holds L in its lower triangle (Fortran order), and leftovers above it."""

    lower: FloatArray

    def solve(self, b: FloatArray) -> FloatArray:
        """A⁻¹ b for b of shape (N,) or (N, B)."""
        x, _ = lapack.dpotrs(self.lower, np.asfortranarray(b), lower=1)
        return x

    def half_solve(self, b: FloatArray) -> FloatArray:
        """L⁻¹ b for b of shape (N, B)."""
        x, _ = lapack.dtrtrs(self.lower, np.asfortranarray(b), lower=1)
        return x

    @property
    def pivots(self) -> FloatArray:
        """The squared diagonal of L: what was left of each diagonal entry when its turn came."""
        return np.square(np.diagonal(self.lower))


def cholesky(a: FloatArray) -> tuple[Cholesky, int]:
    """Factorise the lower triangle of ``a`` (Fortran order) in place; the second value is 0, or the failing row + 1."""
    lower, info = lapack.dpotrf(a, lower=1, overwrite_a=1, clean=0)
    return Cholesky(lower), int(info)

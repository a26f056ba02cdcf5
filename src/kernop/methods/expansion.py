"""The functions in which a solution is written, and solutions as combinations of them."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from kernop.basics.errors import ArgumentError, FloatArray, KernopError, NonFiniteError, fail
from kernop.basics.fitting import REMEDY
from kernop.basics.frozen import frozen
from kernop.basics.linalg import EPS, right_solve_upper, solve_upper
from kernop.basics.stored import stored
from kernop.collocation import assembly
from kernop.collocation.ansatz import PLAIN, Ansatz
from kernop.collocation.functionals import Functionals
from kernop.kernels import Kernel
from kernop.kernels.base import check_smoothness

#: Rounding errors up to this part of u count as none.
HARMLESS = 2e-11
#: Functionals at which rounding errors are looked at, before a way to evaluate is chosen for all …
SAMPLE = 32
#: … and functionals that are evaluated at a time if it is the careful one.
PIECE = 2048


@stored("expansion", by_value=False)
@dataclass(frozen=True, eq=False)
class Expansion:
    """Functions v = Σ_j c_j Q_j^(2) K(·, y_j), with components v_k, in which the unknowns are written by an ansatz.

    Components are independent: K is the identity times a scalar kernel, and Q_j may act on several of them.

    Arguments:
        kernel: K.
        functionals: the Q_j, L of them.
        ansatz: how the unknowns are made of v.
    """

    kernel: Kernel
    functionals: Functionals
    ansatz: Ansatz = PLAIN

    def check(self) -> None:
        """Raise unless the kernel is one for these functionals, and they are of functions of the ansatz."""
        self.kernel.check_dim(self.functionals.dim)
        check_smoothness(self.kernel, self.functionals.order, "expansion")
        if self.functionals.count > self.ansatz.count:
            raise fail(ArgumentError, "functionals", "some of components that the unknowns do not have", REMEDY)

    def matrix(self, left: Functionals) -> FloatArray:
        """E_ij = P_i applied to the j-th function, shape (M, L). ``left`` was collocated with the ansatz."""
        return assembly.cross(self.kernel, left, self.functionals)

    def apply(self, left: Functionals, c: FloatArray) -> FloatArray:
        """E c without holding E; c is (L, B)."""
        return assembly.apply(self.kernel, left, self.functionals, c)

    def not_finite(self) -> KernopError:
        """The error of a kernel without the derivatives that the rows ask for."""
        got = f"{self.kernel!r} with derivatives that are not finite"
        return fail(NonFiniteError, "kernel", got, "use another, such as ko.Gaussian")


@dataclass(frozen=True, eq=False)
class Combination:
    """B functions u = Σ_j y_j q_j, where q = Φ R⁻¹ are orthonormal in the data and Φ the functions of an expansion.

    c = R⁻¹ y are the coefficients of Φ itself. For smooth data they are moderate, and E c is cheap. For rough data they
    are as large as the condition number of R, and Σ c_j φ_j(x) would be rounding error: then (E R⁻¹) y is computed, at
    L² operations for each point.

    Arguments:
        expansion: Φ.
        y: the coordinates, (L, B).
        upper: R, (L, L), with anything below its diagonal; None if y are coefficients of Φ.
        order: column j of R belongs to function order[j] of Φ; None for the order of Φ.
    """

    expansion: Expansion
    y: FloatArray
    upper: FloatArray | None = None
    order: NDArray[np.intp] | None = None

    @property
    def width(self) -> int:
        """The number B of functions."""
        return self.y.shape[1]

    @cached_property
    def coefficients(self) -> FloatArray:
        """c = R⁻¹ y in the order of Φ, (L, B)."""
        if self.upper is None:
            return self.y
        c = solve_upper(self.upper, self.y)
        if self.order is None:
            return frozen(c)
        found = np.empty_like(c)
        found[self.order] = c
        return frozen(found)

    def apply(self, left: Functionals) -> FloatArray:
        """P_i u for functionals that were collocated with the ansatz: (M, B)."""
        if self.upper is None:
            return self.expansion.apply(left, self.y)
        sample = left if len(left) <= SAMPLE else left.spread(SAMPLE)
        e, c = self.expansion.matrix(sample), self.coefficients
        values, rounding = e @ c, EPS * (np.abs(e) @ np.abs(c))
        if np.all(np.max(rounding, axis=0) <= HARMLESS * np.max(np.abs(values), axis=0)):
            return values if len(sample) == len(left) else self.expansion.apply(left, c)
        pieces = (np.arange(start, min(start + PIECE, len(left))) for start in range(0, len(left), PIECE))
        return np.concatenate([self._carefully(left.take(rows), self.upper) for rows in pieces])

    def _carefully(self, left: Functionals, upper: FloatArray) -> FloatArray:
        return right_solve_upper(upper, ordered(self.expansion.matrix(left), self.order)) @ self.y


def ordered(e: FloatArray, order: NDArray[np.intp] | None) -> FloatArray:
    """The columns of e in the order of R."""
    return e if order is None else e[:, order]

"""The functions in which a solution is written, and solutions as combinations of them."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Literal

import numpy as np

from kernop.basics.errors import ArgumentError, FloatArray, IntArray, KernopError, NonFiniteError, fail
from kernop.basics.fitting import REMEDY
from kernop.basics.frozen import frozen
from kernop.basics.linalg import EPS, Cholesky, one_thread, product, right_solve_upper, solve_upper
from kernop.collocation.ansatz import Ansatz
from kernop.collocation.functionals import Block, Functionals
from kernop.kernels import Kernel

#: By rows, or by columns for LAPACK.
Order = Literal["C", "F"]
#: Rounding errors up to this part of u count as none.
HARMLESS = 2e-11
#: Functionals at which rounding errors are looked at, before a way to evaluate is chosen for all …
SAMPLE = 32
#: … and functionals that are evaluated at a time if it is the careful one.
PIECE = 2048


class Expansion(ABC):
    """A space of functions v = Σ_j c_j φ_j, with components v_k, in which the unknowns are written by an ansatz.

    Whoever has functionals P_i has the matrix P_i φ_j; nobody needs to know what the functions are.
    """

    #: How the unknowns are made of the components of v.
    ansatz: Ansatz

    @abstractmethod
    def __len__(self) -> int:
        """The number L of functions."""

    @property
    @abstractmethod
    def dim(self) -> int:
        """The dimension d of the points where the functions live."""

    def check(self) -> None:
        """Raise unless the parts of an expansion that comes from a file fit each other."""
        return

    @abstractmethod
    def with_ansatz(self, ansatz: Ansatz) -> Expansion:
        """The same functions, of which the unknowns are made in another way."""

    @abstractmethod
    def matrix(self, left: Functionals, *, order: Order = "C", out: FloatArray | None = None) -> FloatArray:
        """E_ij = P_i φ_j, shape (M, L), by rows or by columns; into ``out`` if it is given.

        ``left`` was collocated with the ansatz.
        """

    def quickly(self, left: Functionals, out: FloatArray) -> None:
        """E for a few functionals into ``out``, to rounding errors that need not be those of `matrix`."""
        self.matrix(left, out=out)

    def apply(self, left: Functionals, c: FloatArray) -> FloatArray:
        """E c without holding E; c is (L, B)."""
        return np.concatenate([product(self.matrix(left.take(rows)), c) for rows in pieces(len(left))])

    def gaps(self, c: FloatArray) -> FloatArray:
        """Jumps of Σ c_j φ_j that its functions, and no equation, make, in the mean and at most: (2, B), c (L, B)."""
        return np.zeros((2, c.shape[1]))

    @property
    def prior(self) -> Kernel | None:
        """The kernel whose functions they are, the covariance of a prior; None if they are of no kernel."""
        return None

    def check_order(self, order: int, name: str) -> None:
        """Raise unless operators of this order, of the condition ``name``, can be applied to the functions."""
        return

    def norm_factor(self) -> Cholesky:
        """M = L Lᵀ with ‖Σ c_j φ_j‖² = cᵀ M c in the space of the kernel."""
        remedy = "use penalty='coefficients', or a basis of kernel functions"
        raise fail(ArgumentError, "penalty", "'rkhs' with functions that are not of a kernel", remedy)

    @property
    @abstractmethod
    def signature(self) -> tuple[str, tuple[FloatArray, ...]]:
        """Words and numbers that tell this space from others."""

    def not_finite(self) -> KernopError:
        """The error of functions without the derivatives that the rows ask for."""
        return fail(NonFiniteError, "basis", f"{self!r} with derivatives that are not finite", "use fewer functions")


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
    order: IntArray | None = None

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

    def gaps(self) -> FloatArray:
        """Jumps of each function between parts, which no equation makes, in the mean and at most: (2, B)."""
        return self.expansion.gaps(self.y) if self.upper is None else np.zeros((2, self.width))

    @one_thread
    def apply(self, left: Functionals) -> FloatArray:
        """P_i u for functionals that were collocated with the ansatz: (M, B)."""
        if self.upper is None:
            return self.expansion.apply(left, self.y)
        sample = left if len(left) <= SAMPLE else left.spread(SAMPLE)
        e, c = np.empty((len(sample), len(self.expansion))), self.coefficients
        self.expansion.quickly(sample, e)
        values, rounding = e @ c, EPS * (np.abs(e) @ np.abs(c))
        if np.all(np.max(rounding, axis=0) <= HARMLESS * np.max(np.abs(values), axis=0)):
            return values if len(sample) == len(left) else self.expansion.apply(left, c)
        parts = (ordered(self.expansion.matrix(left.take(rows)), self.order) for rows in pieces(len(left)))
        return np.concatenate([product(right_solve_upper(self.upper, part), self.y) for part in parts])


def pieces(n: int) -> Iterator[IntArray]:
    """The numbers of n rows, some at a time."""
    return (np.arange(start, min(start + PIECE, n)) for start in range(0, n, PIECE))


def ordered(e: FloatArray, order: IntArray | None) -> FloatArray:
    """The columns of e in the order of R."""
    return e if order is None else e[:, order]


class OneComponent(Expansion):
    """Functions around a centre, (d,), of component k of v; the other components are 0."""

    centre: FloatArray
    component: int

    @property
    def dim(self) -> int:
        return len(self.centre)

    def check_component(self) -> None:
        """Raise unless the unknowns have the component."""
        if not 0 <= self.component < self.ansatz.count:
            raise fail(ArgumentError, "component", f"{self.component}, which the unknowns do not have", REMEDY)

    @abstractmethod
    def values(self, block: Block, out: FloatArray) -> FloatArray:
        """Σ_α φ_α(x_i) (∂^α b_j)(x_i) of the terms of the component, at the points of a block, into ``out`` (n, L)."""

    def matrix(self, left: Functionals, *, order: Order = "C", out: FloatArray | None = None) -> FloatArray:
        found = np.empty((len(left), len(self)), order=order) if out is None else out
        for rows, block in left:
            if self.component not in block.components:
                found[rows] = 0.0
            elif block.starts is not None:
                found[rows] = block.collected(self.values(block, np.empty((len(block.x), len(self)))))
            else:
                self.values(block, found[rows])
        return found

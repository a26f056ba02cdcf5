"""What a method is: it turns functionals into a linear map from data to coefficients of an expansion."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass

from kernop import gram
from kernop.collocation import Functionals
from kernop.errors import FloatArray
from kernop.frame import Frame
from kernop.functions import Function
from kernop.kernels import Kernel
from kernop.methods.weights import Weights
from kernop.progress import Tick


@dataclass(frozen=True, eq=False)
class Expansion:
    """Functions of the form u = ρ Σ_j c_j Q_j^(2) K(·, y_j).

    Arguments:
        kernel: K.
        functionals: the Q_j, L of them.
        envelope: ρ, or None for 1.
    """

    kernel: Kernel
    functionals: Functionals
    envelope: Function | None = None

    def matrix(self, left: Functionals) -> FloatArray:
        """E_ij = P_i applied to the j-th function, shape (M, L). ``left`` was collocated with the envelope."""
        return gram.cross(self.kernel, left, self.functionals)

    def apply(self, left: Functionals, c: FloatArray) -> FloatArray:
        """E c without holding E; c is (L, B)."""
        return gram.apply(self.kernel, left, self.functionals, c)


@dataclass(frozen=True, eq=False)
class Setting:
    """All that a method needs to learn.

    Arguments:
        functionals: N rows.
        frame: where they live.
        kernel: the user's, or None: the method chooses.
        regularization: the user's λ, or None: the method chooses.
        weights: one for each condition, or None for balanced ones.
        tick: is told the part that is done.
    """

    functionals: Functionals
    frame: Frame
    kernel: Kernel | None = None
    regularization: float | None = None
    weights: Weights = None
    tick: Tick | None = None


@dataclass(frozen=True, eq=False)
class Factorisation(ABC):
    """The learned map C from data h (N,) to coefficients c (L,) of an expansion; a matrix that is kept factored."""

    expansion: Expansion
    regularization: float

    @property
    def kernel(self) -> Kernel:
        """The kernel that was given or chosen."""
        return self.expansion.kernel

    @abstractmethod
    def coefficients(self, h: FloatArray) -> FloatArray:
        """c = C h for h of shape (N, B)."""

    @abstractmethod
    def factors(self, e: FloatArray) -> tuple[FloatArray, ...]:
        """e C for e of shape (M, L), as matrices whose product it is: (M, N), or (M, r) and (r, N)."""

    @abstractmethod
    def variance(self, left: Functionals) -> FloatArray:
        """The posterior variance of P_i u in the Gaussian-process view, (M,)."""


class Method(ABC):
    """How the estimator is computed."""

    @property
    @abstractmethod
    def default_weights(self) -> str:
        """The value of ``weights`` when the user gives none."""

    @abstractmethod
    def derivatives_needed(self, order: int) -> int:
        """How many derivatives the kernel must have for an operator of this order."""

    @abstractmethod
    def factorise(self, setting: Setting) -> Factorisation:
        """Learn."""


def envelope_of(method: Method) -> Function | None:
    """The function ρ that multiplies all trial functions of a method; None for 1."""
    return getattr(method, "envelope", None)

"""Spaces of kernel functions: translates K(·, z_j), representers, or any functionals applied to a kernel."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace

import jax
import numpy as np

from kernop.basics.errors import ArgumentError, FloatArray, KernopError, NonFiniteError, SingularGramError, fail
from kernop.basics.fitting import REMEDY
from kernop.basics.linalg import EPS, Cholesky, cholesky
from kernop.basics.stored import stored
from kernop.collocation import assembly
from kernop.collocation.ansatz import PLAIN, Ansatz
from kernop.collocation.functionals import Functionals
from kernop.kernels import Kernel
from kernop.kernels.base import check_smoothness
from kernop.methods.expansion import Expansion, Order


@stored("expansion", by_value=False)
@dataclass(frozen=True, eq=False)
class KernelFunctions(Expansion):
    """Functions v = Σ_j c_j Q_j^(2) K(·, y_j).

    Components are independent: K is the identity times a scalar kernel, and Q_j may act on several of them.

    Arguments:
        kernel: K.
        functionals: the Q_j, L of them; evaluations for translates.
        ansatz: how the unknowns are made of v.
    """

    kernel: Kernel
    functionals: Functionals
    ansatz: Ansatz = PLAIN

    def __len__(self) -> int:
        return len(self.functionals)

    @property
    def dim(self) -> int:
        return self.functionals.dim

    def __repr__(self) -> str:
        return repr(self.kernel)

    def check(self) -> None:
        self.kernel.check_dim(self.functionals.dim)
        check_smoothness(self.kernel, self.functionals.order, "expansion")
        if self.functionals.count > self.ansatz.count:
            raise fail(ArgumentError, "functionals", "some of components that the unknowns do not have", REMEDY)

    def with_ansatz(self, ansatz: Ansatz) -> KernelFunctions:
        return replace(self, ansatz=ansatz)

    def matrix(self, left: Functionals, *, order: Order = "C", out: FloatArray | None = None) -> FloatArray:
        return assembly.cross(self.kernel, left, self.functionals, order=order, out=out)

    def quickly(self, left: Functionals, out: FloatArray) -> None:
        assembly.cross(self.kernel, left, self.functionals, out=out, quick=True)

    def apply(self, left: Functionals, c: FloatArray) -> FloatArray:
        return assembly.apply(self.kernel, left, self.functionals, c)

    @property
    def prior(self) -> Kernel:
        return self.kernel

    def check_order(self, order: int, name: str) -> None:
        check_smoothness(self.kernel, order + self.functionals.order, name)

    def norm_factor(self) -> Cholesky:
        matrix = assembly.gram(self.kernel, self.functionals, remedy="use fewer centres")
        matrix[np.diag_indices(len(matrix))] *= 1.0 + 4.0 * len(matrix) * EPS
        factor, failed = cholesky(matrix)
        if failed:
            got = f"penalty='rkhs' with a Gram matrix of the centres that is singular (pivot {failed})"
            remedy = "use penalty='coefficients', fewer centres, or a rougher kernel"
            raise fail(SingularGramError, "penalty", got, remedy)
        return factor

    @property
    def signature(self) -> tuple[str, tuple[FloatArray, ...]]:
        leaves, structure = jax.tree.flatten(self.kernel)
        # A user's functions have other addresses in another process.
        words = re.sub(r" at 0x[0-9a-f]+", "", str(structure))
        return words, (*leaves, *(block.x for block in self.functionals.blocks))

    def not_finite(self) -> KernopError:
        got = f"{self.kernel!r} with derivatives that are not finite"
        return fail(NonFiniteError, "kernel", got, "use another, such as ko.Gaussian")

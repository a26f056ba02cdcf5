"""QR factorisations by Cholesky's factors of AᵀA: for A whose columns are nearly orthogonal."""

from __future__ import annotations

from scipy.linalg import blas, lapack

from kernop.basics.errors import FloatArray
from kernop.basics.linalg.householder import orthonormal

#: ‖QᵀQ − I‖ is about ε over the reciprocal condition number of AᵀA. If that is above the first of these it counts as
#: rounding; if it is above the second one, what is left is factorised again; else A is, by reflections.
ENOUGH, TWICE = 1e-2, 1e-8


def orthonormal_by_squares(a: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Q (m, L) and R (L, L) with A = Q R, for A (m, L) in Fortran order, m ≥ L, which may be lost.

    Where columns are nearly orthogonal this takes less than half as long as reflections, and Q is as good.
    """
    q, upper = a, None
    while True:
        gram = blas.dsyrk(1.0, q, trans=1)
        size = float(gram.diagonal().max())
        own, failed = lapack.dpotrf(gram, clean=1, overwrite_a=1)
        told = 0.0 if failed else lapack.dpocon(own, size, uplo="U")[0]
        if not told > TWICE:
            return orthonormal(a)
        q = blas.dtrsm(1.0, own, q, side=1)
        upper = own if upper is None else blas.dtrmm(1.0, own, upper)
        if told > ENOUGH:
            return q, upper

"""Dense linear algebra on the CPU: LAPACK and BLAS through SciPy, in place. The only folder that knows them."""

from kernop.basics.linalg.householder import Orthogonal, blocked, orthogonal, orthonormal, qr_seconds
from kernop.basics.linalg.products import (
    EPS,
    add_square,
    left_over,
    norms,
    product,
    subtract_product,
    syrk,
    weighted_norms,
)
from kernop.basics.linalg.squares import orthonormal_by_squares
from kernop.basics.linalg.symmetric import Cholesky, cholesky, eigenpairs, pivoted_cholesky
from kernop.basics.linalg.threads import in_threads, one_thread, threads_for
from kernop.basics.linalg.triangles import (
    Rotation,
    add_rows,
    add_triangle,
    packed,
    product_of_upper,
    right_solve_lower,
    right_solve_upper,
    solve_lower,
    solve_upper,
    transpose_solve_upper,
    unpack,
)

__all__ = [
    "EPS",
    "Cholesky",
    "Orthogonal",
    "Rotation",
    "add_rows",
    "add_square",
    "add_triangle",
    "blocked",
    "cholesky",
    "eigenpairs",
    "in_threads",
    "left_over",
    "norms",
    "one_thread",
    "orthogonal",
    "orthonormal",
    "orthonormal_by_squares",
    "packed",
    "pivoted_cholesky",
    "product",
    "product_of_upper",
    "qr_seconds",
    "right_solve_lower",
    "right_solve_upper",
    "solve_lower",
    "solve_upper",
    "subtract_product",
    "syrk",
    "threads_for",
    "transpose_solve_upper",
    "unpack",
    "weighted_norms",
]

"""Products and norms of dense matrices."""

from __future__ import annotations

import math

import numpy as np
from scipy.linalg import blas

from kernop.basics.errors import FloatArray
from kernop.basics.linalg.threads import LARGE, threads_for

EPS = float(np.finfo(np.float64).eps)
#: Between this number and its inverse squares keep all digits.
SAFE = 1e-140


def norms(columns: FloatArray) -> FloatArray:
    """The Euclidean norms of columns (n, B): (B,). Also of numbers whose squares leave the range."""
    if columns.shape[1] == 1:
        flat = columns[:, 0]
        with np.errstate(over="ignore"):
            found = np.array([math.sqrt(flat.dot(flat))])
    else:
        found = np.sqrt(np.einsum("ij,ij->j", columns, columns))  # silent where it overflows
    if found.min(initial=1.0) > SAFE and found.max(initial=1.0) < 1.0 / SAFE:
        return found
    size = np.max(np.abs(columns), axis=0, initial=0.0)
    unit = np.where(size > 0.0, size, 1.0)
    return unit * np.linalg.norm(columns / unit, axis=0)


def weighted_norms(weights: FloatArray, columns: FloatArray) -> FloatArray:
    """√(Σ_i w_i x_i²) of columns x (n, B) for weights w ≥ 0 (n,): (B,)."""
    found = np.sqrt(np.einsum("i,ij,ij->j", weights, columns, columns))
    if found.min(initial=1.0) > SAFE and found.max(initial=1.0) < 1.0 / SAFE:
        return found
    return norms(np.sqrt(weights)[:, None] * columns)


def left_over(size: FloatArray, y: FloatArray) -> FloatArray:
    """√(|h|² − |y|²) of data of norms ``size`` (B,) with coordinates y (L, B): what is orthogonal to the space."""
    part = np.divide(norms(y), size, out=np.zeros_like(size), where=size > 0.0)
    return size * np.sqrt(np.maximum(0.0, 1.0 - part**2))


def product(a: FloatArray, b: FloatArray) -> FloatArray:
    """a b for a (m, k) and b (k, n), by rows; large ones by SciPy's BLAS, which has threads then."""
    operations = 2.0 * a.size * b.shape[1]
    if operations < LARGE:
        return a @ b
    (left, turned), (right, turned_too) = by_columns(b.T), by_columns(a.T)
    with threads_for(operations):
        return blas.dgemm(1.0, left, right, trans_a=turned, trans_b=turned_too).T


def by_columns(a: FloatArray) -> tuple[FloatArray, int]:
    """The matrix in Fortran order and 0, or its transpose and 1: whichever needs no copy."""
    return (a.T, 1) if a.flags.c_contiguous and not a.flags.f_contiguous else (np.asfortranarray(a), 0)


def syrk(a: FloatArray) -> FloatArray:
    """The lower triangle of AᵀA in Fortran order, with half of the work of a product; above the diagonal: zeros."""
    with threads_for(float(a.size) * a.shape[1]):
        return blas.dsyrk(1.0, np.asfortranarray(a), trans=1, lower=1)


def add_square(lower: FloatArray, rows: FloatArray) -> None:
    """G += BᵀB on the lower triangle of G (L, L) in Fortran order, in place; B (m, L) by rows (C order)."""
    with threads_for(float(rows.size) * len(lower)):
        blas.dsyrk(1.0, rows.T, beta=1.0, c=lower, lower=1, overwrite_c=1)


def subtract_product(c: FloatArray, a: FloatArray, b: FloatArray) -> None:
    """c −= a bᵀ in place, for a (n, k) and b (m, k); c (n, m) and a in Fortran order."""
    with threads_for(2.0 * a.size * len(b)):
        blas.dgemm(-1.0, a, b, beta=1.0, c=c, trans_b=1, overwrite_c=1)

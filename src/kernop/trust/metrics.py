"""Errors of solutions, as the paper measures them."""

from __future__ import annotations

import numpy as np

from kernop.basics.checks import check_array, check_squares
from kernop.basics.errors import ArgumentError, FloatArray, ShapeError, fail


def relative_l2(found: object, exact: object) -> FloatArray:
    """‖found − exact‖₂ / ‖exact‖₂ on the same points, for each column: (M, B) ↦ (B,), (M,) ↦ ()."""
    error, exact = _pair(found, exact)
    return np.linalg.norm(error, axis=0) / np.linalg.norm(exact, axis=0)


def relative_linf(found: object, exact: object) -> FloatArray:
    """max |found − exact| / max |exact| on the same points, for each column: (M, B) ↦ (B,), (M,) ↦ ()."""
    error, exact = _pair(found, exact)
    return np.max(np.abs(error), axis=0) / np.max(np.abs(exact), axis=0)


def _pair(found: object, exact: object) -> tuple[FloatArray, FloatArray]:
    """found − exact and exact, in units of the largest exact value of each column, so that no square overflows."""
    a = check_array("found", found, remedy="give values at points")
    b = check_array("exact", exact, remedy="give values at points")
    if a.shape != b.shape or a.ndim == 0:
        raise fail(ShapeError, "found, exact", f"shapes {a.shape} and {b.shape}", "give values at the same points")
    if a.size == 0:
        raise fail(ShapeError, "found, exact", f"empty arrays of shape {a.shape}", "give values at one point at least")
    size = np.max(np.abs(b), axis=0)
    if np.any(size == 0.0):
        raise fail(ArgumentError, "exact", "values that are all zero", "an error relative to zero is not defined")
    with np.errstate(over="ignore"):
        error = a / size - b / size
    return check_squares("found", error, "it is too large to compare"), b / size

"""Errors of solutions, as the paper measures them."""

from __future__ import annotations

from typing import Any

import numpy as np

from kernop.errors import FloatArray, ShapeError, check_array, fail


def relative_l2(found: Any, exact: Any) -> FloatArray:
    """‖found − exact‖₂ / ‖exact‖₂ on the same points, for each column: (M, B) ↦ (B,), (M,) ↦ ()."""
    found, exact = _pair(found, exact)
    return np.linalg.norm(found - exact, axis=0) / np.linalg.norm(exact, axis=0)


def relative_linf(found: Any, exact: Any) -> FloatArray:
    """max |found − exact| / max |exact| on the same points, for each column: (M, B) ↦ (B,), (M,) ↦ ()."""
    found, exact = _pair(found, exact)
    return np.max(np.abs(found - exact), axis=0) / np.max(np.abs(exact), axis=0)


def _pair(found: Any, exact: Any) -> tuple[FloatArray, FloatArray]:
    a = check_array("found", found, remedy="give values at points")
    b = check_array("exact", exact, remedy="give values at points")
    if a.shape != b.shape or a.ndim == 0:
        raise fail(ShapeError, "found, exact", f"shapes {a.shape} and {b.shape}", "give values at the same points")
    return a, b

"""Reference solutions by Chebyshev collocation, where there is no closed form."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np

FloatArray = Any


@cache
def chebyshev(n: int) -> tuple[FloatArray, FloatArray]:
    """Nodes cos(πj/n) (n + 1,) and the differentiation matrix (n + 1, n + 1) (Trefethen 2000, program cheb)."""
    x = np.cos(np.pi * np.arange(n + 1) / n)
    c = np.where((np.arange(n + 1) == 0) | (np.arange(n + 1) == n), 2.0, 1.0) * (-1.0) ** np.arange(n + 1)
    gap = x[:, None] - x[None, :] + np.eye(n + 1)
    matrix = np.outer(c, 1.0 / c) / gap
    return x, matrix - np.diag(matrix.sum(axis=1))


def interpolated(n: int, x: FloatArray) -> FloatArray:
    """The interpolation from values at nodes to points of [−1, 1] (m,), by the barycentric formula: (m, n + 1)."""
    nodes, _ = chebyshev(n)
    w = (-1.0) ** np.arange(n + 1)
    w[0] *= 0.5
    w[-1] *= 0.5
    gap = x[:, None] - nodes[None, :]
    hit = gap == 0.0
    terms = w / np.where(hit, 1.0, gap)
    rows = terms / terms.sum(axis=1, keepdims=True)
    return np.where(hit.any(axis=1)[:, None], hit.astype(float), rows)


def separable(
    left: Callable[[FloatArray, FloatArray], FloatArray],
    right: Callable[[FloatArray, FloatArray], FloatArray],
    f: Callable[[FloatArray, FloatArray], FloatArray],
    n: int,
    low: float = -1.0,
    high: float = 1.0,
) -> Callable[[FloatArray], FloatArray]:
    """A u + u B = f on a square, u = 0 on its boundary: x (m, 2) ↦ u (m,).

    ``left(x, D)`` gives A, the operator along x, from nodes and differentiation matrix; ``right`` likewise B along y.
    Both are diagonalised.
    """

    @cache
    def solve() -> FloatArray:
        t, d = chebyshev(n)
        x, d = low + (high - low) * (t + 1) / 2, d * 2 / (high - low)
        a, va = np.linalg.eig(left(x, d)[1:-1, 1:-1])
        b, vb = np.linalg.eig(right(x, d)[1:-1, 1:-1])
        data = f(x[1:-1, None], x[None, 1:-1]) * np.ones((n - 1, n - 1))
        inner = np.linalg.solve(va, data) @ np.linalg.inv(vb).T / (a[:, None] + b[None, :])
        found = np.zeros((n + 1, n + 1))
        found[1:-1, 1:-1] = np.real(va @ inner @ vb.T)
        return found

    def u(x: FloatArray) -> FloatArray:
        t = 2 * (np.asarray(x) - low) / (high - low) - 1
        return np.einsum("ij,jk,ik->i", interpolated(n, t[:, 0]), solve(), interpolated(n, t[:, 1]), optimize=True)

    return u

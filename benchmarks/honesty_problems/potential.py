"""Reference solutions of −∇·(a ∇u) = f: by quadrature on a line, by Chebyshev collocation on the square."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from honesty_problems.case import FloatArray

NODES, WEIGHTS = np.polynomial.legendre.leggauss(24)


class LinePotential:
    """−(a u′)′ = 1 on (0, 1), u(0) = u(1) = 0: the flux is a u′ = C − x, so u = ∫ (C − s) / a(s) ds.

    Arguments:
        a: x (n,) ↦ (n,); smooth between the edges.
        edges: of the panels, from 0 to 1, among them all places where a jumps or bends.
    """

    def __init__(self, a: Callable[[Any], Any], edges: Any) -> None:
        self._a, self._edges = a, np.asarray(edges, dtype=float)
        pieces = self._integrals(self._edges[:-1], self._edges[1:])
        self._sums = np.concatenate([np.zeros((1, 2)), np.cumsum(pieces, axis=0)])
        self._constant = self._sums[-1, 1] / self._sums[-1, 0]

    def _integrals(self, low: FloatArray, high: FloatArray) -> FloatArray:
        """∫ 1/a and ∫ s/a from low (n,) to high (n,): (n, 2)."""
        half = (high - low)[:, None] / 2
        s = low[:, None] + half * (1 + NODES)
        values = half * WEIGHTS / self._a(s.ravel()).reshape(s.shape)
        return np.stack([values.sum(axis=1), (values * s).sum(axis=1)], axis=1)

    def __call__(self, x: Any) -> FloatArray:
        """u at x (n, d), as a function of the first coordinate."""
        s = np.clip(np.asarray(x)[..., 0], 0.0, 1.0)
        panel = np.clip(np.searchsorted(self._edges, s, side="right") - 1, 0, len(self._edges) - 2)
        sums = self._sums[panel] + self._integrals(self._edges[panel], s)
        return self._constant * sums[:, 0] - sums[:, 1]


class SquarePotential:
    """−∇·(a ∇u) = f on the unit square, u = 0 on its boundary, by collocation at Chebyshev points.

    Arguments:
        log_a: x (n, 2) ↦ log a and its two derivatives, each (n,).
        f: x (n, 2) ↦ (n,).
        degree: of the polynomials along each axis.
    """

    def __init__(self, log_a: Callable[[Any], Any], f: Callable[[Any], Any], degree: int) -> None:
        self._nodes, slope = _chebyshev(degree)
        inner = slice(1, -1)
        first, second = slope[inner, inner], (slope @ slope)[inner, inner]
        eye = np.eye(degree - 1)
        s, t = np.meshgrid(self._nodes[inner], self._nodes[inner], indexing="ij")
        x = np.stack([s.ravel(), t.ravel()], axis=1)
        value, along_0, along_1 = log_a(x)
        matrix = np.kron(second, eye) + np.kron(eye, second)
        matrix += along_0[:, None] * np.kron(first, eye) + along_1[:, None] * np.kron(eye, first)
        inside = np.linalg.solve(matrix, -f(x) / np.exp(value))
        self._values = np.pad(inside.reshape(degree - 1, degree - 1), 1)

    def __call__(self, x: Any) -> FloatArray:
        """u at x (n, 2)."""
        left, right = (_barycentric(self._nodes, np.asarray(x)[:, k]) for k in (0, 1))
        return np.einsum("ni,ij,nj->n", left, self._values, right)


def _chebyshev(degree: int) -> tuple[FloatArray, FloatArray]:
    """Points of [0, 1] in rising order and the matrix of the derivative."""
    k = np.arange(degree + 1)
    nodes = (1 - np.cos(np.pi * k / degree)) / 2
    ends = np.where((k == 0) | (k == degree), 2.0, 1.0) * (-1.0) ** k
    gaps = nodes[:, None] - nodes[None, :] + np.eye(degree + 1)
    matrix = ends[:, None] / ends[None, :] / gaps
    return nodes, matrix - np.diag(matrix.sum(axis=1))


def _barycentric(nodes: FloatArray, s: FloatArray) -> FloatArray:
    """The matrix of interpolation from the nodes to s: (n, N)."""
    k = np.arange(len(nodes))
    weights = (-1.0) ** k * np.where((k == 0) | (k == len(nodes) - 1), 0.5, 1.0)
    gaps = s[:, None] - nodes
    hit = gaps == 0.0
    terms = weights / np.where(hit, 1.0, gaps)
    found = terms / terms.sum(axis=1, keepdims=True)
    return np.where(hit.any(axis=1, keepdims=True), hit.astype(float), found)

"""Measures from boundaries, and quadrature in plane domains: weights for points that integrate polynomials exactly.

By the divergence theorem, with Q_i' = P_i for the Legendre polynomials P_i,

    ∫_D P_i(x) P_j(y) dx dy = ∮_∂D Q_i(x) P_j(y) n_x ds,

which Gauss's rule on smooth pieces of ∂D gives to rounding. Among all weights of quasi-random points of D with these
moments, positive ones with few points are taken (Tchakaloff): there are as many as there are polynomials.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import scipy.linalg as la
from numpy.polynomial import legendre
from scipy.optimize import nnls

from kernop.basics.errors import FloatArray, IntArray
from kernop.geometry.patch import Patch
from kernop.geometry.points import Points, concatenate
from kernop.geometry.sequences import gauss

#: Gauss nodes on each line of a boundary, and points on each piece of one that has no rule.
NODES, DRAWN = 64, 8192
#: Lines are cut into at most so many pieces, until halving them changes the area by less than this part.
PIECES, SETTLED = 64, 1e-12
#: Rules have at least so many nodes, the highest degree, and are chosen from so many points for each node.
FEWEST, HIGHEST, CHOICE = 10, 15, 10
#: Points near the boundary that are added to these.
AROUND = 600
#: A rule whose moments are wrong by more is none.
RESIDUAL = 1e-12


def enclosed(patches: Sequence[Patch], middle: FloatArray) -> float:
    """The measure of the domain within patches with outward normals, (1/d) ∮ (x − c)·n ds, c (d,) anywhere.

    By Gauss's rule where patches are whole, and by quasi-Monte Carlo on others.
    """
    total = 0.0
    for patch in patches:
        if patch.keeps is None and patch.smooth and len(patch.sides) == 1:
            points, weight = _on_line(patch)
        elif patch.keeps is None and patch.smooth and len(patch.sides) == 2:
            t, weight = gauss(patch.sides, NODES ** len(patch.sides))
            points = patch.place(t)
        else:
            found = patch.draw(DRAWN, "halton", np.random.default_rng(0))
            assert found is not None
            points, weight = found, np.full(len(found), 1.0 / len(found))
        total += patch.measure * float(weight @ np.sum((points.x - middle) * points.outward, axis=1))
    return total / len(middle)


def candidates(n: int) -> int:
    """How many points a rule of at most n nodes is chosen from."""
    degree = _degree(n)
    return CHOICE * (degree + 1) * (degree + 2) // 2


def positive_rule(
    x: FloatArray, n: int, patches: Sequence[Patch], low: FloatArray, high: FloatArray
) -> tuple[IntArray, FloatArray]:
    """The numbers of at most n of the points x (k, 2), and positive weights; none where there is no such rule.

    The domain is within lines with outward normals, and within bounds low and high, (2,) each. Where there are no
    positive weights for a degree, as near sharp corners between the points, a lower one is tried.
    """
    degree = _degree(n)
    while degree > 0:
        found = _of_degree(x, degree, patches, 0.5 * (low + high), 0.5 * (high - low))
        if found is not None:
            kept = np.flatnonzero(found)
            return kept, found[kept]
        degree = int(0.8 * degree)
    return np.zeros(0, dtype=np.intp), np.zeros(0)


def _of_degree(
    x: FloatArray, degree: int, patches: Sequence[Patch], middle: FloatArray, half: FloatArray
) -> FloatArray | None:
    """Weights (k,), none of them negative, that integrate polynomials up to a degree; None if none are found."""
    exact = _moments(patches, middle, half, degree) * float(np.prod(half))
    values = _products((x - middle) / half, degree)
    triangle = np.linalg.qr(values, mode="r") / np.sqrt(len(x))  # polynomials that are orthonormal on the points
    basis, wanted = (la.solve_triangular(triangle, part, trans=1) for part in (values.T, exact))
    try:
        weight, left = nnls(basis, wanted, maxiter=3 * len(x))
    except RuntimeError:
        return None
    return np.asarray(weight) if left <= RESIDUAL * np.linalg.norm(wanted) else None


def _degree(n: int) -> int:
    """The highest degree, up to a limit, of which there are at most n polynomials."""
    return min(HIGHEST, int((np.sqrt(8.0 * n + 1.0) - 3.0) / 2.0))


def _on_line(patch: Patch) -> tuple[Points, FloatArray]:
    """Gauss's rule on a line, with weights of sum 1: on as many pieces as ∫ (x − c)·n ds needs to be right.

    A whole curve can be one patch: with 64 nodes on a star of 15 petals the area within was wrong by 3e-3.
    """
    t, w = gauss((1.0,), NODES)
    known, pieces = np.inf, 1
    while True:
        cut = ((np.arange(pieces)[:, None, None] + t) / pieces).reshape(-1, 1)
        points, weight = patch.place(cut), np.tile(w / pieces, pieces)
        lever = np.sum((points.x - np.mean(points.x, axis=0)) * points.outward, axis=1)
        found = float(weight @ lever)
        if pieces == PIECES or abs(found - known) <= SETTLED * float(np.max(np.abs(lever))):
            return points, weight
        known, pieces = found, 2 * pieces


def _moments(patches: Sequence[Patch], middle: FloatArray, half: FloatArray, degree: int) -> FloatArray:
    """∫ P_i P_j over the domain in coordinates from −1 to 1, in the order of `_products`."""
    lines = [_on_line(patch) for patch in patches]
    points = concatenate([own for own, _ in lines])
    weight = np.concatenate([patch.measure * w for patch, (_, w) in zip(patches, lines, strict=True)])
    p, q = ((points.x - middle) / half).T
    plain = legendre.legvander(p, degree + 1)
    i = np.arange(1, degree + 1)
    primitive = np.concatenate([plain[:, 1:2], (plain[:, 2 : degree + 2] - plain[:, :degree]) / (2 * i + 1)], axis=1)
    upward = legendre.legvander(q, degree)
    table = (primitive * (weight * points.outward[:, 0] / half[1])[:, None]).T @ upward
    rows, columns = _degrees(degree)
    return table[rows, columns]


def _products(x: FloatArray, degree: int) -> FloatArray:
    """P_i(x) P_j(y) for i + j ≤ degree, (n, k)."""
    rows, columns = _degrees(degree)
    return legendre.legvander(x[:, 0], degree)[:, rows] * legendre.legvander(x[:, 1], degree)[:, columns]


def _degrees(degree: int) -> tuple[IntArray, IntArray]:
    rows, columns = np.indices((degree + 1, degree + 1))
    within = rows + columns <= degree
    return rows[within], columns[within]

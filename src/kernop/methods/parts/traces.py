"""Traces on faces: orthonormal polynomials on a box of one dimension less, and nodes that see them."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from math import comb

import numpy as np

from kernop.basics.errors import FloatArray
from kernop.collocation.cells.mosaic import Seam, trace_nodes
from kernop.methods.spaces.polynomials import legendre, total_degree


@dataclass(frozen=True, eq=False)
class Trace:
    """Polynomials of degree < q on [0, 1]^(d−1), orthonormal in the mean.

    Arguments:
        nodes: (n, d − 1), a Gauss rule with twice as many nodes along each axis as the degree asks for; or scattered.
        values: of the polynomials at the nodes, (n, k).
        project: from values at the nodes to coefficients, (k, n); project @ values = I.
    """

    nodes: FloatArray
    values: FloatArray
    project: FloatArray

    def __len__(self) -> int:
        return self.values.shape[1]


def trace_of(seam: Seam) -> Trace:
    """The polynomials on a seam: those of a face, or of scattered nodes."""
    if seam.scattered:
        return scattered_trace(seam.x, seam.degree)
    return face_trace(seam.x.shape[1] - 1, seam.degree)


@cache
def face_trace(axes: int, degree: int) -> Trace:
    """Polynomials of total degree < ``degree`` on a face with so many axes; a point has a number."""
    if axes == 0:
        one = np.ones((1, 1))
        return Trace(np.zeros((1, 0)), one, one)
    nodes, weights = trace_nodes(axes, degree)
    degrees = total_degree(axes, comb(degree - 1 + axes, axes))
    tables = [legendre(2.0 * nodes[:, j] - 1.0, degree - 1, 0)[0] for j in range(axes)]
    values = np.prod([table[own] for table, own in zip(tables, degrees.T, strict=True)], axis=0).T
    return Trace(nodes, np.ascontiguousarray(values), values.T * weights)


def scattered_trace(x: FloatArray, degree: int) -> Trace:
    """Polynomials of total degree < ``degree``, orthonormal in the mean over nodes x (n, 3) of a surface.

    They are functions of two coordinates, in the plane that is nearest to the nodes.
    """
    middle = x - np.mean(x, axis=0)
    _, _, axes = np.linalg.svd(middle, full_matrices=False)
    t = middle @ axes[:2].T
    low, high = np.min(t, axis=0), np.max(t, axis=0)
    nodes = (2.0 * t - low - high) / (high - low)
    degrees = total_degree(2, comb(degree + 1, 2))
    one, other = (legendre(np.ascontiguousarray(own), degree - 1, 0)[0] for own in nodes.T)
    q, _ = np.linalg.qr((one[degrees[:, 0]] * other[degrees[:, 1]]).T)
    values = np.sqrt(len(x)) * q
    return Trace(nodes, values, values.T / len(x))

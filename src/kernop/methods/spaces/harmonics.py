"""Solid harmonics in the plane and in space: homogeneous polynomials H with ΔH = 0, and their derivatives.

Derivatives of harmonic polynomials are harmonic: ∂_k H_n is a combination of those of degree n − 1. So the values of
all of them, and one constant matrix for each axis, give derivatives of every order.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from math import factorial

import numpy as np
from numpy.typing import NDArray

from kernop.basics.errors import FloatArray
from kernop.basics.frozen import frozen

#: Where the harmonics of a degree stand among all: real parts and imaginary parts by the order m.
Numbering = dict[tuple[int, int, int], int]
#: Degree, order and complex values at points; and axis, order, part and factor of what a derivative is made of.
ComplexValues = Iterator[tuple[int, int, NDArray[np.complex128]]]
LowerDegree = Iterator[tuple[int, int, int, float]]


def degrees_of(dim: int, highest: int) -> NDArray[np.int64]:
    """The degree n of each harmonic, (H,): one is constant, then 2 of each degree in the plane, 2n + 1 in space."""
    return frozen(np.array([n for n, _, _ in _places(dim, highest)], dtype=np.int64))


def harmonics(x: FloatArray, highest: int) -> FloatArray:
    """All harmonics at x (n, d), d = 2 or 3: (n, H). In the mean of squares over the unit sphere each is 1."""
    dim, places = x.shape[1], _places(x.shape[1], highest)
    found = np.empty((len(places), len(x)))
    for n, m, complex_values in _in_plane(x, highest) if dim == 2 else _in_space(x, highest):
        size = _size(dim, n, m)
        found[places[n, m, 0]] = size * complex_values.real
        if (n, m, 1) in places:
            found[places[n, m, 1]] = size * complex_values.imag
    return found.T


@cache
def derivatives(dim: int, highest: int) -> tuple[FloatArray, ...]:
    """For each axis k the matrix D (H, H) with ∂_k H_j = Σ_i D_ij H_i."""
    places = _places(dim, highest)
    found = [np.zeros((len(places), len(places))) for _ in range(dim)]
    for (n, m, part), column in places.items():
        if n == 0:
            continue
        for axis, order, other, factor in (_lower_in_plane if dim == 2 else _lower_in_space)(n, m, part):
            row = places.get((n - 1, order, other))
            if row is not None:
                found[axis][row, column] += factor * _size(dim, n, m) / _size(dim, n - 1, order)
    return frozen(tuple(found))


@cache
def _places(dim: int, highest: int) -> Numbering:
    """(n, m, part) ↦ number: in the plane m = n alone; part 0 is real, 1 imaginary."""
    orders = ((n, m) for n in range(highest + 1) for m in ((n,) if dim == 2 else range(n + 1)))
    return {key: k for k, key in enumerate((n, m, part) for n, m in orders for part in ((0, 1) if m else (0,)))}


def _size(dim: int, n: int, m: int) -> float:
    """What makes the mean of squares over the unit sphere 1."""
    twice = 2.0 if m else 1.0
    if dim == 2:
        return np.sqrt(twice)
    return float(np.sqrt(twice * (2 * n + 1) * factorial(n - m) * factorial(n + m)))


def _in_plane(x: FloatArray, highest: int) -> ComplexValues:
    """Degree n, order n and the values z^n at z = x + i y, for all degrees."""
    z, power = x[:, 0] + 1j * x[:, 1], np.ones(len(x), dtype=np.complex128)
    for n in range(highest + 1):
        yield n, n, power
        power = power * z


def _lower_in_plane(n: int, m: int, part: int) -> LowerDegree:
    """∂_x z^n = n z^(n−1), ∂_y z^n = i n z^(n−1): (axis, m, part, factor)."""
    yield 0, n - 1, part, float(n)
    yield 1, n - 1, 1 - part, float(n if part else -n)


def _in_space(x: FloatArray, highest: int) -> ComplexValues:
    """(n, m, R_n^m) with R_n^m = r^n P_n^m(cos θ) e^(imφ) / (n + m)!, by recurrences in n."""
    z, square, around = x[:, 2], np.sum(np.square(x), axis=1), x[:, 0] + 1j * x[:, 1]
    first = np.ones(len(x), dtype=np.complex128)
    for m in range(highest + 1):
        before, now = np.zeros_like(first), first
        for n in range(m, highest + 1):
            yield n, m, now
            before, now = now, ((2 * n + 1) * z * now - square * before) / ((n + 1 - m) * (n + 1 + m))
        first = first * around / (2 * (m + 1))


def _lower_in_space(n: int, m: int, part: int) -> LowerDegree:
    """∂_z R_n^m = R_{n−1}^m, (∂_x ± i ∂_y) R_n^m = ∓R_{n−1}^{m ± 1}: (axis, m, part, factor)."""
    yield 2, m, part, 1.0
    if m == 0:
        yield 0, 1, 0, -1.0
        yield 1, 1, 1, -1.0
        return
    sign = 1.0 if part else -1.0
    yield 0, m - 1, part, 0.5
    yield 0, m + 1, part, -0.5
    yield 1, m - 1, 1 - part, 0.5 * sign
    yield 1, m + 1, 1 - part, 0.5 * sign

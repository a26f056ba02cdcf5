"""Point sets in the unit cube [0, 1]^m: i.i.d., quasi-random, tensor grid; and how to share n points among pieces."""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import count, islice
from typing import Literal

import numpy as np
from scipy.special import roots_legendre

from kernop.basics.errors import FloatArray, NumberArray

Scheme = Literal["halton", "uniform", "grid"]
SCHEMES: tuple[Scheme, ...] = ("halton", "uniform", "grid")


def unit_cube(n: int, sides: Sequence[float], scheme: str, rng: np.random.Generator) -> FloatArray:
    """n points in [0, 1]^m, shape (n, m), m = len(sides).

    ``grid`` gives cell centres of the finest tensor grid with at most n cells whose shape follows ``sides``.
    """
    if scheme == "grid":
        return cell_centres(grid_counts(n, sides))
    if scheme == "uniform":
        return rng.random((n, len(sides)))
    return halton(n, len(sides), rng)


def halton(n: int, dim: int, rng: np.random.Generator, start: int = 0) -> FloatArray:
    """Points ``start``, ``start`` + 1, … of Halton's sequence with permuted digits (Owen 2017): (n, dim).

    They are those of scipy.stats.qmc.Halton, to the bit; to import scipy.stats takes an eighth of the time of kernop.
    """
    own = rng.spawn(1)[0]
    primes = islice((p for p in count(2) if all(p % q for q in range(2, math.isqrt(p) + 1))), dim)
    found = np.empty((n, dim))
    for k, base in enumerate(primes):
        found[:, k] = _van_der_corput(n, base, own, start)
    return found


def _van_der_corput(n: int, base: int, rng: np.random.Generator, start: int) -> FloatArray:
    """Σ_j π_j(i_j) base^(−j−1) of the digits i_j of i = start, …, with random permutations π_j: (n,)."""
    permutations = np.repeat(np.arange(base)[None], math.ceil(54 / math.log2(base)) - 1, axis=0)
    for permutation in permutations:
        rng.shuffle(permutation)
    found, rest, largest, unit = np.zeros(n), np.arange(start, start + n), start + n, 1.0 / base
    for permutation in permutations:
        if largest:
            rest, digits = np.divmod(rest, base)
            found += permutation[digits] * unit
            largest //= base
        else:  # all further digits of all of them are 0
            found += permutation[0] * unit
        unit /= base
    return found


def grid_counts(n: int, sides: Sequence[float]) -> tuple[int, ...]:
    """Cells along each axis, as nearly cubic as ``sides`` allows; their product is at most n.

    From the shortest axis to the longest, each takes the cells that fit, at least one; the longer axes share the rest,
    and the longest takes all of it, so that no axis can be refined.
    """
    lengths = np.asarray(sides, dtype=np.float64)
    *shorter, longest = np.argsort(lengths, kind="stable")
    counts = np.ones(len(lengths), dtype=int)
    left = n
    for done, axis in enumerate(shorter):
        open_axes = [*shorter[done:], longest]
        cell = (np.prod(lengths[open_axes]) / left) ** (1.0 / len(open_axes))
        counts[axis] = max(1, int(lengths[axis] / cell + 1e-9))
        left = n // int(np.prod(counts))
    counts[longest] = left
    return tuple(int(c) for c in counts)


def fair_counts(number: int, sides: Sequence[float], rows: int) -> tuple[int, ...]:
    """Cells along each axis: shaped after ``sides``, but at least ``rows`` of them, or number^(1/d) if that is less.

    Their product is at most ``number``.
    """
    least = max(1, min(rows, int(number ** (1.0 / len(sides)) + 1e-9)))
    lengths, counts = np.asarray(sides, dtype=np.float64), np.full(len(sides), least)
    free, order = number, list(np.argsort(lengths, kind="stable"))
    while order:
        found = grid_counts(free, tuple(lengths[order]))
        if found[0] >= least:
            counts[order] = found
            break
        free //= least
        order.pop(0)  # the thinnest axis has its rows, and the others share the rest
    return tuple(map(int, counts))


def tensor_grid(axes: Sequence[NumberArray]) -> FloatArray:
    """All points with these coordinates along each axis, (Π n_k, m); the last coordinate varies fastest."""
    return np.stack(np.meshgrid(*axes, indexing="ij"), axis=-1).reshape(-1, len(axes))


def cell_centres(counts: Sequence[int]) -> FloatArray:
    """Centres of a tensor grid of cells in the unit cube, shape (Π counts, m)."""
    return tensor_grid([(np.arange(c) + 0.5) / c for c in counts])


def shares(n: int, measures: Sequence[float]) -> list[int]:
    """Divide n in proportion to ``measures`` (largest remainders), at least one each while n suffices."""
    weights = np.asarray(measures, dtype=np.float64)
    exact = n * weights / weights.sum()
    counts = np.floor(exact).astype(int)
    for k in np.argsort(counts - exact, kind="stable")[: n - int(counts.sum())]:
        counts[k] += 1
    while n >= len(counts) and counts.min() == 0:
        counts[np.argmax(counts)] -= 1
        counts[np.argmin(counts)] += 1
    return [int(c) for c in counts]


def gauss(sides: Sequence[float], n: int) -> tuple[FloatArray, FloatArray]:
    """A product rule of Gauss–Legendre on [0, 1]^m with at most n nodes: (k, m), and weights (k,) with sum 1."""
    if not sides:
        return np.zeros((1, 0)), np.ones(1)
    count = max(1, int(n ** (1.0 / len(sides)) + 1e-9))
    node, weight = roots_legendre(count)
    nodes, weights = (tensor_grid([own] * len(sides)) for own in (0.5 * (node + 1.0), 0.5 * weight))
    return nodes, np.prod(weights, axis=1)


def every_other(count: int) -> FloatArray:
    """Every other node of a grid of n × (n + 1) Gauss–Legendre nodes on [0, 1]²: (n (n + 1) / 2, 2).

    So many polynomials of total degree < n there are, and these nodes tell them apart, as those of Padua do.
    """
    one, other = (0.5 * (roots_legendre(k)[0] + 1.0) for k in (count, count + 1))
    i, j = np.nonzero(np.add.outer(np.arange(count), np.arange(count + 1)) % 2 == 0)
    return np.stack([one[i], other[j]], axis=1)

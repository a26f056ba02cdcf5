"""The oracle of the conformance suite, and the kernels that must pass it.

Nothing here uses kernop's derivatives. Each case has a kernel of kernop and the same K(x, y) written naively, which
is differentiated by nested `jax.jvp`. Where the naive form has a square root at x = y, a polynomial in |x − y|² takes
its place there: the even part of the power series in r, from exact rational coefficients.

Points of d < 3 dimensions are padded by zeros, so that one nested derivative serves d = 1, 2 and 3. Everything runs
under `jax.disable_jit`: a derivative of order eight is a few thousand operations, quick to do and slow to compile.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from functools import cache
from itertools import product

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import kernop as ko
from kernop.derivatives import pairwise
from kernop.precision import float64

DIMS = (1, 2, 3)
#: Derivatives are checked up to this order in x and in y.
ORDER = 4
#: Lengthscales: one for all axes, and one for each.
LENGTH, LENGTHS = 1.3, np.array([0.9, 1.4, 1.1])

# --- Nested automatic differentiation ---------------------------------------------------------------------------------


def nested_partials(function, place, indices):
    """∂^γ function at each row of place (n, D) for each γ in ``indices``: {γ: (n,)}.

    All γ are rows of one batch. Row by row, the j-th nested `jax.jvp` goes along the j-th axis that γ asks for, and
    nowhere when γ asks for fewer, so that its derivative of order |γ| stands at level |γ|.
    """
    indices = list(indices)
    paths = [[axis for axis, times in enumerate(gamma) for _ in range(times)] for gamma in indices]
    count = len(place)
    levels = _nested(function, jnp.tile(jnp.asarray(place), (len(indices), 1)), _directions(paths, *place.shape))
    rows = {gamma: slice(i * count, (i + 1) * count) for i, gamma in enumerate(indices)}
    return {gamma: np.asarray(levels[sum(gamma)])[rows[gamma]] for gamma in indices}


def _directions(paths, count, axes):
    unit = np.vstack([np.eye(axes), np.zeros(axes)])
    order = max(map(len, paths))
    steps = [[path[j] if j < len(path) else axes for path in paths] for j in range(order)]
    return [jnp.asarray(np.repeat(unit[step], count, axis=0)) for step in steps]


def _nested(function, place, directions):
    """[f, D₁ f, D₂ D₁ f, …] at each row."""
    if not directions:
        return [function(place)]
    *inner, last = directions
    values, slopes = jax.jvp(lambda p: _nested(function, p, inner), (place,), (last,))
    return [*values, slopes[-1]]


# --- Kernels, written naively for rows of points ----------------------------------------------------------------------


def square(x, y, length):
    return jnp.sum(((x - y) / length) ** 2, axis=-1)


def gaussian(length):
    return lambda x, y: jnp.exp(-square(x, y, length))


def multiquadric(length):
    return lambda x, y: 1.0 / jnp.sqrt(1.0 + square(x, y, length))


def polynomial(coefficients, t):
    """Σ c_n r^n for t = r² > 0."""
    return t[..., None] ** (np.arange(len(coefficients)) / 2) @ np.array(coefficients, dtype=float)


def even_polynomial(coefficients, t):
    """Σ c_2n r^2n for t = r² ≥ 0."""
    return sum(float(c) * t**n if n else float(c) + 0.0 * t for n, c in enumerate(coefficients[::2]))


def matern_coefficients(p):
    """The polynomial q of Matérn's e^(−s) q(s), ν = p + 1/2."""
    f = math.factorial
    return [Fraction(f(p), f(2 * p)) * Fraction(f(2 * p - n) * 2**n, f(p - n) * f(n)) for n in range(p + 1)]


def matern(p, length):
    def kernel(x, y):
        t = (2 * p + 1) * square(x, y, length)
        return polynomial(matern_coefficients(p), t) * jnp.exp(-jnp.sqrt(t))

    return kernel


#: Wendland's polynomials q in (1 − r)^(2k+2) q(r), as Wendland (2005) prints them.
WENDLAND = {0: [1], 1: [1, 4], 2: [3, 18, 35], 3: [1, 8, 25, 32], 4: [5, 50, 210, 450, 429]}


def wendland(k, length):
    q = np.array(WENDLAND[k]) / WENDLAND[k][0]

    def kernel(x, y):
        t = square(x, y, length)
        return jnp.where(t < 1.0, (1.0 - jnp.sqrt(t)) ** (2 * k + 2) * polynomial(q, t), 0.0)

    return kernel


def one_by_one(x, y):
    """A kernel that is not stationary, of two points."""
    return jnp.exp(0.5 * jnp.sum(x * y)) * (2.0 + jnp.sin(jnp.sum(x))) * (2.0 + jnp.sin(jnp.sum(y)))


def custom():
    return lambda x, y: jnp.exp(0.5 * jnp.sum(x * y, -1)) * (2.0 + jnp.sin(x.sum(-1))) * (2.0 + jnp.sin(y.sum(-1)))


# --- Their power series in r, exactly ---------------------------------------------------------------------------------


def times(p, q, size):
    """The first coefficients of a product of power series."""
    return [sum((p[i] * q[n - i] for i in range(len(p)) if 0 <= n - i < len(q)), Fraction(0)) for n in range(size)]


def matern_series(p, size=2 * ORDER + 2):
    """Matérn as a power series in s = √(2ν) r."""
    return times(matern_coefficients(p), [Fraction((-1) ** n, math.factorial(n)) for n in range(size)], size)


def wendland_series(k, size=2 * ORDER + 2):
    """Wendland as a power series in r."""
    power = [Fraction((-1) ** n * math.comb(2 * k + 2, n)) for n in range(2 * k + 3)]
    return times(power, [Fraction(c, WENDLAND[k][0]) for c in WENDLAND[k]], size)


def even_matern(p, length):
    return lambda x, y: even_polynomial(matern_series(p), (2 * p + 1) * square(x, y, length))


def even_wendland(k, length):
    return lambda x, y: even_polynomial(wendland_series(k), square(x, y, length))


# --- The cases --------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class Case:
    """A kernel in each dimension, its naive form, and one that has the same derivatives at x = y."""

    name: str
    kernel: Callable[[int], ko.kernels.Kernel]
    naive: Callable
    near: Callable

    @property
    def smoothness(self):
        return self.kernel(1).smoothness

    @property
    def stationary(self):
        return self.kernel(1).stationary

    def orders(self, dim):
        """All (a, b) such that |α| ≤ a, |β| ≤ b is a largest set of derivatives to check together."""
        most = ORDER if self.stationary else {1: ORDER, 2: 2, 3: 1}[dim]
        total = min(self.smoothness, 2 * most)
        return [(a, int(min(most, total - a))) for a in range(int(max(0, total - most)), int(min(most, total)) + 1)]


def smooth(name, kernel, naive):
    return Case(name, kernel, naive, naive)


def matern_case(p, length=LENGTH, suffix=""):
    at = lambda d: length if np.ndim(length) == 0 else length[:d]
    return Case(
        f"matern-{p + 0.5}{suffix}", lambda d: ko.Matern(p + 0.5, at(d)), matern(p, length), even_matern(p, length)
    )


def wendland_case(k, length=LENGTH, suffix=""):
    at = lambda d: length if np.ndim(length) == 0 else length[:d]
    return Case(f"wendland-{k}{suffix}", lambda d: ko.Wendland(k, at(d)), wendland(k, length), even_wendland(k, length))


def plus(f, g):
    return lambda x, y: f(x, y) + g(x, y)


def product_of(f, g):
    return lambda x, y: f(x, y) * g(x, y)


CASES = [
    smooth("gaussian", lambda d: ko.Gaussian(LENGTH), gaussian(LENGTH)),
    smooth("gaussian-axes", lambda d: ko.Gaussian(LENGTHS[:d]), gaussian(LENGTHS)),
    smooth("multiquadric", lambda d: ko.InverseMultiquadric(LENGTH), multiquadric(LENGTH)),
    *(matern_case(p) for p in (0, 1, 2, 4, 8)),
    matern_case(2, LENGTHS, "-axes"),
    *(wendland_case(k) for k in range(5)),
    wendland_case(2, LENGTHS + 0.5, "-axes"),
    Case(
        "sum",
        lambda d: ko.Gaussian(LENGTHS[:d]) + ko.Matern(4.5, LENGTH),
        plus(gaussian(LENGTHS), matern(4, LENGTH)),
        plus(gaussian(LENGTHS), even_matern(4, LENGTH)),
    ),
    Case(
        "product",
        lambda d: ko.InverseMultiquadric(LENGTHS[:d]) * ko.Matern(2.5, LENGTH),
        product_of(multiquadric(LENGTHS), matern(2, LENGTH)),
        product_of(multiquadric(LENGTHS), even_matern(2, LENGTH)),
    ),
    smooth(
        "product-smooth",
        lambda d: ko.Gaussian(LENGTH) * ko.InverseMultiquadric(LENGTHS[:d]),
        product_of(gaussian(LENGTH), multiquadric(LENGTHS)),
    ),
    smooth("multiple", lambda d: 2.5 * ko.Gaussian(LENGTH), lambda x, y: 2.5 * gaussian(LENGTH)(x, y)),
    smooth("custom", lambda d: ko.CustomKernel(one_by_one), custom()),
    smooth(
        "custom-sum",
        lambda d: ko.CustomKernel(one_by_one) + ko.Gaussian(LENGTHS[:d]),
        plus(custom(), gaussian(LENGTHS)),
    ),
    Case(
        "custom-product",
        lambda d: ko.Matern(8.5, LENGTH) * ko.CustomKernel(one_by_one),
        product_of(matern(8, LENGTH), custom()),
        product_of(even_matern(8, LENGTH), custom()),
    ),
]

# --- Points, and both tables of derivatives at them -------------------------------------------------------------------

#: How far apart nearly coinciding points are. The squares of the last underflow.
GAPS = (1e-8, 1e-20, 1e-60, 1e-100, 1e-160)
DIRECTION = np.array([0.6, -0.64, 0.48])
LEFT = np.array([[0.31, 0.85, 0.17], [0.92, 0.23, 0.64], [-1.61, 2.05, 1.47], [0.0, 0.0, 0.0]])
RIGHT = np.array([[0.58, 0.36, 0.77], [0.31, 0.85, 0.17], *(gap * DIRECTION for gap in GAPS)])
#: (row in LEFT, row in RIGHT) of the pairs at generic places (the last ones beyond Wendland's support), of the pair
#: that coincides, and of the pair for each gap.
GENERIC = [(0, 0), (1, 0), (1, 1), (3, 0), (3, 1), (2, 0), (2, 1)]
COINCIDING = [(0, 1)]
NEAR = {gap: (3, 2 + i) for i, gap in enumerate(GAPS)}


def multi_indices(dim, highest):
    return tuple(alpha for alpha in product(range(highest + 1), repeat=dim) if sum(alpha) <= highest)


def padded(alpha):
    return alpha + (0,) * (3 - len(alpha))


def pairs_of_indices(case, dim):
    """All (α, β) to check."""
    pairs = [product(multi_indices(dim, a), multi_indices(dim, b)) for a, b in case.orders(dim)]
    return sorted({pair for some in pairs for pair in some})


def joint_index(case, alpha, beta):
    """The index on (x, y) in R⁶ that stands for (α, β), and the sign; ∂_y = −∂_x for a stationary kernel."""
    alpha, beta = padded(alpha), padded(beta)
    if case.stationary:
        return (*(a + b for a, b in zip(alpha, beta, strict=True)), 0, 0, 0), (-1) ** sum(beta)
    return alpha + beta, 1


@cache
def oracle(case, at_zero):
    """{(dim, γ): values} of the naive kernel at the generic pairs, or at the coinciding one."""
    pairs, function = (COINCIDING, case.near) if at_zero else (GENERIC, case.naive)
    place, indices = [], []
    for dim in DIMS:
        for i, j in pairs:
            x, y = np.zeros(3), np.zeros(3)
            x[:dim], y[:dim] = LEFT[i, :dim], RIGHT[j, :dim]
            place.append(np.concatenate([x, y]))
        indices += [joint_index(case, alpha, beta)[0] for alpha, beta in pairs_of_indices(case, dim)]
    with float64(), jax.disable_jit():
        found = nested_partials(lambda p: function(p[:, :3], p[:, 3:]), np.array(place), dict.fromkeys(indices))
    rows = {dim: slice(n * len(pairs), (n + 1) * len(pairs)) for n, dim in enumerate(DIMS)}
    return {(dim, gamma): values[rows[dim]] for gamma, values in found.items() for dim in DIMS}


def expected(case, dim, *, at_zero=False):
    """{(α, β): ∂_x^α ∂_y^β K} of the oracle, at the generic pairs or at the coinciding one."""
    table = {}
    for alpha, beta in pairs_of_indices(case, dim):
        gamma, sign = joint_index(case, alpha, beta)
        table[alpha, beta] = sign * oracle(case, at_zero)[dim, gamma]
    return table


def all_partials(kernel, x, y, alphas, betas):
    """{(α, β): (n, m)}, by one call of `pairwise` on functionals that are single derivatives."""
    every = lambda points, indices: (
        jnp.asarray(np.repeat(points, len(indices), axis=0)),
        jnp.asarray(np.tile(np.eye(len(indices)), (len(points), 1))),
        indices,
    )
    with float64(), jax.disable_jit():
        values = np.asarray(pairwise(kernel, *every(x, alphas), *every(y, betas)))
    values = values.reshape(len(x), len(alphas), len(y), len(betas))
    return {(a, b): values[:, i, :, j] for i, a in enumerate(alphas) for j, b in enumerate(betas)}


@cache
def actual(case, dim):
    """{(α, β): (LEFT, RIGHT)} of kernop."""
    table = {}
    for a, b in case.orders(dim):
        table |= all_partials(
            case.kernel(dim), LEFT[:, :dim], RIGHT[:, :dim], multi_indices(dim, a), multi_indices(dim, b)
        )
    return table


@dataclass(frozen=True)
class Comparison:
    """Both tables of a case in one dimension; each maps (α, β) to values at pairs of points."""

    case: Case
    dim: int

    @property
    def kernel(self):
        return self.case.kernel(self.dim)

    def generic(self):
        return self._at(GENERIC), expected(self.case, self.dim)

    def coinciding(self):
        return self._at(COINCIDING), expected(self.case, self.dim, at_zero=True)

    def near(self, gap):
        """Values at points a gap apart, around the origin, and at the origin itself."""
        return self._at([NEAR[gap]])

    def _at(self, pairs):
        rows, columns = np.array(pairs).T
        return {key: values[rows, columns] for key, values in actual(self.case, self.dim).items()}

"""The oracle of the conformance suite, and the kernels that must pass it.

Nothing in the oracle uses kernop or JAX. Each case has a kernel of kernop and the same K written naively for truncated
Taylor polynomials (`Taylor`) in the 6 coordinates of (x, y): arithmetic on them differentiates exactly, to all orders
at once. Where the naive form is no smooth function of |x − y|² at x = y, a polynomial takes its place there: the even
part of the power series in r, from exact rational coefficients. (The odd part begins with r^(smoothness + 1), whose
derivatives up to the smoothness vanish at r = 0.)

Points of d < 3 dimensions are padded by zeros, so that one polynomial serves d = 1, 2 and 3. For a stationary kernel
only x moves.
"""

from __future__ import annotations

import contextlib
import functools
import itertools
import math
import operator
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from itertools import product

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import kernop as ko
from kernop.basics.precision import float64
from kernop.kernels.derivatives import pairwise

DIMS = (1, 2, 3)
#: Derivatives are checked up to this order in x and in y.
ORDER = 4
#: Lengthscales: one for all axes, and one for each.
LENGTH, LENGTHS = 1.3, np.array([0.9, 1.4, 1.1])

# --- Taylor polynomials -----------------------------------------------------------------------------------------------


class Terms:
    """The monomials h^γ with |γ| ≤ top, and where products of them stand."""

    def __init__(self, axes, top):
        self.axes, self.top = axes, top
        self.gammas = multi_indices(axes, top)
        self.at = {gamma: i for i, gamma in enumerate(self.gammas)}
        self.times = functools.cache(self._times)

    def _times(self, j):
        """Of the monomials that can be multiplied by the j-th: where they stand, and where the product does."""
        sums = [tuple(a + b for a, b in zip(gamma, self.gammas[j], strict=True)) for gamma in self.gammas]
        known = [(i, self.at[gamma]) for i, gamma in enumerate(sums) if gamma in self.at]
        return np.array(known).T


class Taylor:
    """f(p + h) for rows p, up to a total degree: ``c[row, i]`` is the coefficient of the i-th of ``terms``."""

    def __init__(self, terms, c):
        self.terms, self.c = terms, c

    @property
    def top(self):
        return self.terms.top

    @property
    def values(self):
        """f(p); the first monomial is 1."""
        return self.c[:, 0]

    def __add__(self, other):
        return Taylor(self.terms, self.c + other.c)

    def __mul__(self, other):
        if not isinstance(other, Taylor):
            return Taylor(self.terms, self.c * other)
        total = np.zeros_like(self.c)
        for j in np.flatnonzero(np.any(other.c != 0.0, axis=0)):
            start, to = self.terms.times(j)
            total[:, to] += self.c[:, start] * other.c[:, j, None]
        return Taylor(self.terms, total)

    __rmul__ = __mul__

    def into(self, series):
        """F(f), where ``series`` (rows, top + 1) has the Taylor coefficients of F at the values of f; Horner's rule."""
        change = Taylor(self.terms, self.c * (np.arange(self.c.shape[1]) > 0))
        total = Taylor(self.terms, np.zeros_like(self.c))
        for column in np.transpose(series)[::-1]:
            total = total * change
            total.c[:, 0] += column
        return total


def variables(place, axes, top):
    """The coordinates of the rows of ``place``; the first ``axes`` of them move."""
    terms, found = Terms(axes, top), []
    for axis, values in enumerate(place.T):
        c = np.zeros((len(place), len(terms.gammas)))
        c[:, 0] = values
        if axis < axes:
            c[:, terms.at[tuple(int(k == axis) for k in range(axes))]] = 1.0
        found.append(Taylor(terms, c))
    return found


def exp(f, rate=1.0):
    """e^(rate f)."""
    n = np.arange(f.top + 1.0)
    return f.into(np.exp(rate * f.values)[:, None] * rate**n / FACTORIAL[: f.top + 1])


def power(t, exponent, top):
    """The Taylor coefficients of t ↦ t^exponent at numbers t."""
    n = np.arange(top + 1)
    binomial = np.cumprod(np.concatenate([[1.0], (exponent - n[:-1]) / n[1:]]))
    return binomial * t[:, None] ** (exponent - n)


def root(t):
    """√t from r² = t, one degree after the other: a series in t would cancel where t is small."""
    start = np.sqrt(t.values)[:, None]
    change = Taylor(t.terms, np.zeros_like(t.c))
    for _ in range(t.top):
        change = (t + -1.0 * (change * change)) * (0.5 / start)
        change.c[:, 0] = 0.0
    change.c[:, :1] += start
    return change


FACTORIAL = np.array([float(math.factorial(n)) for n in range(2 * ORDER + 1)])

# --- Kernels, written naively -----------------------------------------------------------------------------------------


def square(x, y, length):
    """Σ ((x_i − y_i) / length_i)²."""
    lengths = np.broadcast_to(length, 3)
    changes = [(a + -1.0 * b) * (1.0 / own) for a, b, own in zip(x, y, lengths, strict=True)]
    return functools.reduce(operator.add, [z * z for z in changes])


def gaussian(length):
    return lambda x, y: exp(square(x, y, length), -1.0)


def multiquadric(length):
    def kernel(x, y):
        t = square(x, y, length)
        return t.into(power(1.0 + t.values, -0.5, t.top))

    return kernel


def matern(p, length):
    """Matérn as a mixture of Gaussians, K = ∫ u^(ν−1) exp(−u − ν r² / 2u) du / Γ(ν), by the trapezoidal rule in log u.

    The rule has converged to rounding. The usual closed form would not do: its derivatives cancel, and leave eight
    digits of the eighth.
    """
    nu, step = p + 0.5, 0.18
    logarithm = np.arange(-9.0, 4.6, step)
    weights = step * np.exp(nu * logarithm - np.exp(logarithm)) / math.gamma(nu)
    rates = 0.5 * nu * np.exp(-logarithm)

    def kernel(x, y):
        t = square(x, y, length)
        derivatives = np.exp(-np.outer(t.values, rates)) @ (
            weights[:, None] * (-rates[:, None]) ** np.arange(t.top + 1)
        )
        return t.into(derivatives / FACTORIAL[: t.top + 1])

    return kernel


#: The polynomials q in Wendland's (1 − r)^(2k+2) q(r), as his tables print them: multiples of q(0) = 1.
WENDLAND = {0: [1], 1: [1, 4], 2: [3, 18, 35], 3: [1, 8, 25, 32], 4: [5, 50, 210, 450, 429]}


def wendland(k, length):
    q = np.polynomial.Polynomial(np.array(WENDLAND[k]) / WENDLAND[k][0])
    by_powers_of_s = q(np.polynomial.Polynomial([1.0, -1.0])).coef  # q(1 − s)

    def kernel(x, y):
        s = -1.0 * root(square(x, y, length))
        s.c[:, 0] += 1.0
        powers = list(itertools.accumulate([s] * (3 * k + 2), operator.mul))[2 * k + 1 :]
        total = functools.reduce(operator.add, [c * p for c, p in zip(by_powers_of_s, powers, strict=True)])
        return total * (s.values > 0.0)[:, None]

    return kernel


def taylor_of_custom(x, y):
    """A kernel that is not stationary: f(x) f(y) exp(x·y / 2)."""
    terms = [0.5 * (a * b) + 0.2 * (a + b) + -0.1 * (a * a + b * b) for a, b in zip(x, y, strict=True)]
    return exp(functools.reduce(operator.add, terms))


def two_points(x, y):
    """The same, as a user writes it."""
    weight = lambda p: 0.2 * jnp.sum(p) - 0.1 * jnp.dot(p, p)
    return jnp.exp(jnp.dot(x, y) / 2.0 + weight(x) + weight(y))


def plus(f, g):
    return lambda x, y: f(x, y) + g(x, y)


def times(f, g):
    return lambda x, y: f(x, y) * g(x, y)


# --- Their power series in r, exactly ---------------------------------------------------------------------------------


def series_product(p, q, size=2 * ORDER + 2):
    """The first coefficients of a product of power series."""
    return [sum((p[i] * q[n - i] for i in range(len(p)) if 0 <= n - i < len(q)), Fraction(0)) for n in range(size)]


def matern_series(p):
    """e^(−s) p!/(2p)! Σ_i (p+i)! / (i! (p−i)!) (2s)^(p−i) as a power series in s."""
    f = math.factorial
    polynomial = [Fraction(f(p) * f(2 * p - n) * 2**n, f(2 * p) * f(p - n) * f(n)) for n in range(p + 1)]
    return series_product(polynomial, [Fraction((-1) ** n, f(n)) for n in range(2 * ORDER + 2)])


def wendland_series(k):
    """(1 − r)^(2k+2) q(r) as a power series in r."""
    power = [Fraction((-1) ** n * math.comb(2 * k + 2, n)) for n in range(2 * k + 3)]
    return series_product(power, [Fraction(c, WENDLAND[k][0]) for c in WENDLAND[k]])


def even_part(series, length, factor=1.0):
    """Σ c_2n t^n with t = factor · r², by Horner's rule."""

    def kernel(x, y):
        t = factor * square(x, y, length)
        assert np.all(t.values == 0.0)
        return t.into(np.tile([float(c) for c in series[::2]], (len(t.c), 1))[:, : t.top + 1])

    return kernel


def even_matern(p, length):
    return even_part(matern_series(p), length, 2 * p + 1)


def even_wendland(k, length):
    return even_part(wendland_series(k), length)


# --- The cases --------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class Case:
    """A kernel in each dimension, its naive form, and a smooth form with the same derivatives at x = y."""

    name: str
    kernel: Callable[[int], ko.kernels.Kernel]
    naive: Callable
    even: Callable
    #: The highest derivatives in x and in y.
    order: int = ORDER

    @functools.cached_property
    def smoothness(self):
        return self.kernel(1).smoothness

    @functools.cached_property
    def stationary(self):
        return self.kernel(1).stationary

    def orders(self, dim):
        """All (a, b) such that {|α| ≤ a, |β| ≤ b} is a largest set of derivatives within order and smoothness."""
        most = self.order if self.stationary else {1: 2, 2: min(2, self.order), 3: 1}[dim]
        total = int(min(self.smoothness, 2 * most))
        return [(a, min(most, total - a)) for a in range(max(0, total - most), min(most, total) + 1)]

    def pairs(self, dim):
        """All (α, β) to check."""
        sets = [product(multi_indices(dim, a), multi_indices(dim, b)) for a, b in self.orders(dim)]
        return sorted({pair for some in sets for pair in some})

    def joint(self, alpha, beta):
        """The index on (x, y) in R⁶ that stands for (α, β), and the sign: ∂_y = −∂_x for a stationary kernel."""
        pad = (0,) * (3 - len(alpha))
        if self.stationary:
            gamma = tuple(a + b for a, b in zip(alpha, beta, strict=True))
            return (*gamma, *pad, 0, 0, 0), (-1) ** sum(beta)
        return (*alpha, *pad, *beta, *pad), 1


def multi_indices(dim, highest):
    return tuple(alpha for alpha in product(range(highest + 1), repeat=dim) if sum(alpha) <= highest)


def per_axis(length, dim):
    return length if np.ndim(length) == 0 else length[:dim]


def smooth(name, kernel, naive, order=ORDER):
    return Case(name, kernel, naive, naive, order)


def matern_case(name, p, length=LENGTH, order=ORDER):
    kernel = lambda d: ko.Matern(p + 0.5, per_axis(length, d))
    return Case(name, kernel, matern(p, length), even_matern(p, length), order)


def wendland_case(name, k, length=LENGTH):
    return Case(name, lambda d: ko.Wendland(k, per_axis(length, d)), wendland(k, length), even_wendland(k, length))


CASES = [
    smooth("gaussian", lambda d: ko.Gaussian(LENGTH), gaussian(LENGTH)),
    smooth("gaussian-axes", lambda d: ko.Gaussian(LENGTHS[:d]), gaussian(LENGTHS), order=3),
    smooth("multiquadric", lambda d: ko.InverseMultiquadric(LENGTH), multiquadric(LENGTH)),
    *(matern_case(f"matern-{p}.5", p) for p in (0, 1, 2, 4)),
    matern_case("matern-8.5", 8, order=3),
    matern_case("matern-2.5-axes", 2, LENGTHS),
    *(wendland_case(f"wendland-{k}", k) for k in range(5)),
    wendland_case("wendland-2-axes", 2, LENGTHS + 0.5),
    Case(
        "sum",
        lambda d: ko.Gaussian(LENGTHS[:d]) + ko.Matern(2.5, LENGTH),
        plus(gaussian(LENGTHS), matern(2, LENGTH)),
        plus(gaussian(LENGTHS), even_matern(2, LENGTH)),
    ),
    smooth(
        "product",
        lambda d: ko.Gaussian(LENGTH) * ko.InverseMultiquadric(LENGTHS[:d]),
        times(gaussian(LENGTH), multiquadric(LENGTHS)),
        order=3,
    ),
    Case(
        "product-rough",
        lambda d: ko.Wendland(3, 2.0) * ko.Matern(2.5, LENGTHS[:d]),
        times(wendland(3, 2.0), matern(2, LENGTHS)),
        times(even_wendland(3, 2.0), even_matern(2, LENGTHS)),
    ),
    Case(
        "multiple",
        lambda d: 2.5 * ko.Matern(1.5, LENGTH),
        lambda x, y: 2.5 * matern(1, LENGTH)(x, y),
        lambda x, y: 2.5 * even_matern(1, LENGTH)(x, y),
    ),
    smooth("custom", lambda d: ko.CustomKernel(two_points), taylor_of_custom),
    smooth(
        "custom-sum",
        lambda d: ko.CustomKernel(two_points) + ko.Gaussian(LENGTHS[:d]),
        plus(taylor_of_custom, gaussian(LENGTHS)),
        order=1,
    ),
    Case(
        "custom-product",
        lambda d: ko.Matern(3.5, LENGTH) * ko.CustomKernel(two_points),
        times(matern(3, LENGTH), taylor_of_custom),
        times(even_matern(3, LENGTH), taylor_of_custom),
        order=1,
    ),
]

# --- Points, and the derivatives of the oracle and of kernop at pairs of them -----------------------------------------

#: How far apart nearly coinciding points are; the square of the last underflows.
GAPS = (1e-8, 5e-14, 1e-150, 1e-160)
ORIGIN, DIRECTION = np.zeros(3), np.array([0.6, -0.64, 0.48])
LEFT = np.array([[0.31, 0.85, 0.17], [-1.61, 2.05, 1.47], ORIGIN, 1e3 * DIRECTION])
RIGHT = np.array([[0.58, 0.36, 0.77], [0.31, 0.85, 0.17], ORIGIN, *(gap * DIRECTION for gap in GAPS)])
#: Rows of LEFT and of RIGHT: pairs at generic places, of which the last two lie beyond the support of Wendland's
#: kernels; pairs that coincide; a pair that is far apart; and, around the origin, a pair for each gap.
GENERIC = [(0, 0), (2, 0), (2, 1), (1, 0), (1, 1)]
COINCIDING = [(0, 1), (2, 2)]
FAR = [(3, 0)]
NEAR = {gap: [(2, 3 + i)] for i, gap in enumerate(GAPS)}


def oracle(case, function, pairs):
    """{(dim, γ): values at pairs} of a naive kernel, for all dimensions and γ by one polynomial."""
    keys = [(dim, gamma) for dim in DIMS for gamma in {case.joint(*pair)[0] for pair in case.pairs(dim)}]
    top = max(1, *(sum(gamma) for _, gamma in keys))
    place = np.array([np.concatenate([LEFT[i] * mask(dim), RIGHT[j] * mask(dim)]) for dim in DIMS for i, j in pairs])
    axes = 3 if case.stationary else 6
    z = variables(place, axes, top)
    found = function(z[:3], z[3:])
    c = found.c.reshape(len(DIMS), len(pairs), -1)
    return {
        (dim, gamma): np.prod(FACTORIAL[list(gamma)]) * c[dim - 1, :, found.terms.at[gamma[:axes]]]
        for dim, gamma in keys
    }


def mask(dim):
    return np.arange(3) < dim


@functools.cache
def oracles(case):
    """The oracle at the generic and at the coinciding pairs."""
    if case.even is case.naive:
        both = oracle(case, case.naive, GENERIC + COINCIDING)
        return {k: v[: len(GENERIC)] for k, v in both.items()}, {k: v[len(GENERIC) :] for k, v in both.items()}
    return oracle(case, case.naive, GENERIC), oracle(case, case.even, COINCIDING)


def single_derivatives(points, alphas, size):
    """The functionals ∂^α at x for all points and all α, as arguments of `pairwise`, and zeros to fill up ``size``."""
    count = len(points) * len(alphas)
    x = np.repeat(points, len(alphas), axis=0)
    phi = np.tile(np.eye(len(alphas)), (len(points), 1))
    return *(np.concatenate([a, np.zeros((size - count, a.shape[1]))]).T for a in (x, phi)), alphas


def uncompiled(kernel, left, right):
    """`pairwise` of NumPy arrays, not compiled: that takes longer than a thousand derivatives at a few points."""
    with float64(), contextlib.nullcontext() if kernel.stationary else jax.disable_jit():
        return np.asarray(pairwise.__wrapped__(kernel, *left, *right))


@functools.cache
def table(case, dim):
    """{(α, β): ∂_x^α ∂_y^β K at LEFT × RIGHT} of kernop, through `pairwise`; one shape serves all d and most cases."""
    found = {}
    widest = len(multi_indices(3, ORDER if case.stationary else 2))
    for a, b in case.orders(dim):
        alphas, betas = multi_indices(dim, a), multi_indices(dim, b)
        left = single_derivatives(LEFT[:, :dim], alphas, widest * len(LEFT))
        right = single_derivatives(RIGHT[:, :dim], betas, widest * len(RIGHT))
        values = uncompiled(case.kernel(dim), left, right)[: len(LEFT) * len(alphas), : len(RIGHT) * len(betas)]
        values = values.reshape(len(LEFT), len(alphas), len(RIGHT), len(betas))
        found |= {(alphas[i], betas[j]): values[:, i, :, j] for i in range(len(alphas)) for j in range(len(betas))}
    return found


@functools.cache
def expected(case, dim, kind):
    """{(α, β): values} of the oracle at the pairs of a kind: 0 generic, 1 coinciding."""
    signed = {pair: case.joint(*pair) for pair in case.pairs(dim)}
    return {pair: sign * oracles(case)[kind][dim, gamma] for pair, (gamma, sign) in signed.items()}


@functools.cache
def scales(case, dim):
    """{order: the largest derivative of this order or the next at coinciding points}; odd ones vanish there."""
    largest = dict.fromkeys(range(2 * ORDER + 2), 0.0)
    for (alpha, beta), values in expected(case, dim, 1).items():
        order = sum(alpha) + sum(beta)
        largest[order] = max(largest[order], np.max(np.abs(values)))
    return {order: max(largest[order], largest[order + 1]) for order in range(2 * ORDER + 1)}


@dataclass(frozen=True)
class Comparison:
    """A kernel in one dimension; its derivatives and those of the oracle are maps (α, β) ↦ values at pairs."""

    case: Case
    dim: int

    @property
    def kernel(self):
        return self.case.kernel(self.dim)

    def at(self, pairs):
        """Derivatives by kernop."""
        rows, columns = np.array(pairs).T
        return {key: values[rows, columns] for key, values in table(self.case, self.dim).items()}

    def generic(self):
        """Derivatives by kernop and by the oracle."""
        return self.at(GENERIC), expected(self.case, self.dim, 0)

    def coinciding(self):
        """Derivatives by kernop and by the oracle; the second pair is at the origin."""
        return self.at(COINCIDING), expected(self.case, self.dim, 1)

    def gram(self, x, phi, alphas):
        """P_i^(1) P_j^(2) K by kernop."""
        return uncompiled(self.kernel, (x.T, phi.T, alphas), (x.T, phi.T, alphas))

    def near(self, gap):
        """Derivatives by kernop at points a gap apart, around the origin."""
        return self.at(NEAR[gap])

    def far(self):
        """Derivatives by kernop at points that are a thousand apart."""
        return self.at(FAR)

    def scale(self, key):
        """The natural size of ∂_x^α ∂_y^β K at coinciding points."""
        alpha, beta = key
        return scales(self.case, self.dim)[sum(alpha) + sum(beta)]


@pytest.fixture(
    scope="module",
    params=[Comparison(case, dim) for case in CASES for dim in DIMS],
    ids=lambda comparison: f"{comparison.case.name}-{comparison.dim}d",
)
def comparison(request):
    """Every kernel in every dimension."""
    return request.param


@pytest.fixture(
    params=[(matern_series(p), 2 * p) for p in range(5)] + [(wendland_series(k), 2 * k) for k in range(5)],
    ids=[f"matern-{p}.5" for p in range(5)] + [f"wendland-{k}" for k in range(5)],
)
def series_and_smoothness(request):
    """The exact power series in r that the oracle is made of at coinciding points."""
    return request.param

"""Multipoles: functions with a pole in a hole of the domain, smooth everywhere else.

What solves an elliptic equation around a hole is the sum of a function that could be continued into the hole and of one
that could be continued to everywhere else (Runge, Lax, Malgrange). The second has its singularities in the hole, and no
smooth function comes near it quickly; multipoles do.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import KW_ONLY, dataclass, replace
from functools import cached_property
from itertools import product
from math import comb, factorial, prod

import numpy as np
from numpy.typing import NDArray

from kernop.basics.errors import ArgumentError, BoolArray, FloatArray, fail
from kernop.basics.fitting import REMEDY, check_least, check_shape
from kernop.basics.frozen import frozen
from kernop.basics.stored import stored
from kernop.collocation.ansatz import PLAIN, Ansatz
from kernop.collocation.functionals import Block
from kernop.language.fields import MultiIndex
from kernop.methods.expansion import OneComponent
from kernop.methods.spaces.harmonics import degrees_of, derivatives, harmonics

#: Points whose values are computed at a time.
STRIP = 1024
#: The highest degree of harmonics.
HIGHEST = 60
#: j is lower than the degree n may be by this factor, in the plane and in space: n + c j ≤ K.
STEEPNESS = {2: 4, 3: 3}
#: At most so many harmonics for each point around the hole (both measured: docs/decisions.md).
SEEN = 0.75
#: Nearer to the centre, in units of the radius, functions stay as they are there: it is far from the domain.
NEAREST = 0.1


@stored("multipoles", by_value=False)
@dataclass(frozen=True, eq=False)
class Multipoles(OneComponent):
    """Component k as Σ c H(y) |y|^(2e) [log |y|²], y = (x − m) / R, with solid harmonics H; others are 0.

    A harmonic of degree n has the exponents e = j + 1 − n − d/2 for j = 0, 1, …, and the logarithm where e is a whole
    number and not negative. These are the derivatives of order n of the fundamental solutions of Δ^(j+1): for j = 0 the
    multipoles that solve Laplace's equation, and with j > 0 what lower-order terms, variable coefficients and a right-
    hand side make of them.

    Arguments:
        centre: m, (d,), d = 2 or 3.
        radius: R, of a ball in the hole; no function is larger than about 1 outside it.
        kinds: the pairs n, j, (P, 2).
        reach: how far the domain is from m at most, in units of R.
        component: k.
        ansatz: how the unknowns are made of v.
    """

    centre: FloatArray
    radius: float
    kinds: NDArray[np.int64]
    _: KW_ONLY
    reach: float
    component: int = 0
    ansatz: Ansatz = PLAIN

    def __len__(self) -> int:
        return len(self._harmonic)

    def __repr__(self) -> str:
        return f"Multipoles(degree {int(np.max(self.kinds[:, 0]))} at {np.round(self.centre, 3).tolist()})"

    def check(self) -> None:
        check_shape("centre", self.centre, None)
        check_least("radius", self.radius, 0.0)
        check_least("reach", self.reach, 1.0)
        check_shape("kinds", self.kinds, None, 2)
        if self.dim not in (2, 3) or not self.radius > 0.0:
            raise fail(ArgumentError, "centre, radius", f"a hole of radius {self.radius} in {self.dim}-D", REMEDY)
        if len(self.kinds) == 0 or np.min(self.kinds) < 0 or np.max(self.kinds) > HIGHEST:
            raise fail(ArgumentError, "kinds", "none, or degrees out of range", REMEDY)
        if len(np.unique(self.kinds, axis=0)) < len(self.kinds):
            raise fail(ArgumentError, "kinds", "some that occur twice", REMEDY)
        self.check_component()

    def with_ansatz(self, ansatz: Ansatz) -> Multipoles:
        return replace(self, ansatz=ansatz)

    def values(self, block: Block, out: FloatArray) -> FloatArray:
        """Σ_α φ_α(x_i) (∂^α b_j)(x_i) of the terms of our component, one strip of points after the other.

        By Leibniz, ∂^α (H g) = Σ_β binom(α, β) ∂^β H ∂^(α−β) g; the sum over α is taken first.
        """
        columns = block.components[self.component]
        terms = [(k, block.terms[k][1]) for k in columns]
        every = {beta for _, alpha in terms for beta in product(*(range(a + 1) for a in alpha))}
        betas = {beta: self._derivative(beta) for beta in every}
        for start in range(0, len(block.x), STRIP):
            strip = slice(start, start + STRIP)
            y = (block.x[strip] - self.centre) / self.radius
            values, radial = harmonics(y, self._highest), _Radial(y, self._exponents, self._logarithmic)
            total = np.zeros((len(y), len(self)))
            for beta, derivative in betas.items():
                weight = np.zeros((len(y), len(self.kinds)))
                for k, alpha in terms:
                    if all(b <= a for a, b in zip(alpha, beta, strict=True)):
                        rest = tuple(a - b for a, b in zip(alpha, beta, strict=True))
                        factor = prod(map(comb, alpha, beta)) / self.radius ** sum(alpha)
                        weight += (factor * block.coefficients[strip, k])[:, None] * radial(rest)
                total += (values @ derivative)[:, self._harmonic] * weight[:, self._kind]
            out[strip] = total / self._sizes
        return out

    def _derivative(self, beta: MultiIndex) -> FloatArray:
        """The matrix that makes ∂^β of all harmonics from their values."""
        axes = derivatives(self.dim, self._highest)
        found: FloatArray = np.eye(len(axes[0]))
        for axis, times in zip(axes, beta, strict=True):
            for _ in range(times):
                found = axis @ found
        return found

    @cached_property
    def _highest(self) -> int:
        return int(np.max(self.kinds[:, 0]))

    @cached_property
    def _exponents(self) -> FloatArray:
        """e for each kind, (P,)."""
        degree, j = self.kinds.astype(np.float64).T
        return frozen(j + 1.0 - degree - 0.5 * self.dim)

    @cached_property
    def _logarithmic(self) -> BoolArray:
        """Whether a kind has the logarithm, (P,): otherwise it would be a polynomial."""
        return frozen((self._exponents >= 0.0) & (self._exponents % 1.0 == 0.0))

    @cached_property
    def _pairs(self) -> NDArray[np.int64]:
        """The number of the kind and that of the harmonic for each function, (L, 2)."""
        degree = degrees_of(self.dim, self._highest)
        return frozen(np.array([(p, h) for p, (n, _) in enumerate(self.kinds) for h in np.flatnonzero(degree == n)]))

    @property
    def _kind(self) -> NDArray[np.int64]:
        return self._pairs[:, 0]

    @property
    def _harmonic(self) -> NDArray[np.int64]:
        return self._pairs[:, 1]

    @cached_property
    def _sizes(self) -> FloatArray:
        """About the largest value of each function on the domain, (L,)."""
        power = 2.0 * self._exponents + self.kinds[:, 0]  # of the distance
        size = np.maximum(1.0, self.reach**power) * np.where(self._logarithmic, max(1.0, 2.0 * np.log(self.reach)), 1.0)
        return frozen(size[self._kind])

    @property
    def signature(self) -> tuple[str, tuple[FloatArray, ...]]:
        place = np.append(self.centre, [self.radius, self.reach])
        return f"multipoles of component {self.component}", (place, self.kinds.astype(np.float64))


class _Radial:
    """∂^γ of t^e, or t^e log t, with t = |y|², at points y (n, d) and for exponents e (P,)."""

    def __init__(self, y: FloatArray, exponents: FloatArray, logarithmic: BoolArray) -> None:
        self._y, self._e, self._logarithmic = y, exponents, logarithmic
        self._t = np.maximum(np.sum(np.square(y), axis=1), NEAREST**2)[:, None]
        self._powers = self._t**exponents
        self._log = np.log(self._t)
        self._known: dict[MultiIndex, FloatArray] = {}
        self._profiles: dict[int, FloatArray] = {}

    def __call__(self, gamma: MultiIndex) -> FloatArray:
        """Σ_{2i ≤ γ} [Π_k γ_k! / (i_k! (γ_k − 2i_k)!) (2 y_k)^(γ_k − 2i_k)] F^(|γ| − |i|)(t), (n, P)."""
        if gamma not in self._known:
            self._known[gamma] = sum(monomial[:, None] * self._profile(order) for monomial, order in self._chain(gamma))  # pyright: ignore[reportArgumentType]
        return self._known[gamma]

    def _chain(self, gamma: MultiIndex) -> Iterator[tuple[FloatArray, int]]:
        for i in product(*(range(g // 2 + 1) for g in gamma)):
            weight = prod(factorial(g) / (factorial(k) * factorial(g - 2 * k)) for g, k in zip(gamma, i, strict=True))
            powers = np.array(gamma) - 2 * np.array(i)
            yield weight * np.prod((2.0 * self._y) ** powers, axis=1), sum(gamma) - sum(i)

    def _profile(self, m: int) -> FloatArray:
        """F^(m)(t): (e)_m t^(e−m), and with the logarithm ((e)_m log t + (e)_m′) t^(e−m); (e)_m = e (e−1) … (e−m+1)."""
        if m not in self._profiles:
            falling, slope = np.ones_like(self._e), np.zeros_like(self._e)
            for k in range(m):
                falling, slope = falling * (self._e - k), slope * (self._e - k) + falling
            factor = np.where(self._logarithmic, falling * self._log + slope, falling)
            self._profiles[m] = factor * self._powers * self._t ** (-m)
        return self._profiles[m]


def up_to(dim: int, degree: int, most: int) -> NDArray[np.int64]:
    """The pairs n, j with n + c j ≤ K for the largest K ≤ degree that has at most so many functions, (P, 2)."""
    found = np.zeros((0, 2), dtype=np.int64)
    for highest in range(degree + 1):
        kinds = [(n, j) for n in range(highest + 1) for j in range((highest - n) // STEEPNESS[dim] + 1)]
        if sum(_dimension(dim, n) for n, _ in kinds) > most:
            break
        found = np.array(kinds, dtype=np.int64)
    return found


def seen_degree(dim: int, distance: FloatArray) -> int:
    """The highest degree of multipoles that points tell apart, from their distances in units of the radius, (n,).

    One of degree n is felt up to the distance 1 + 1/n. Points up to there must be more than the harmonics up to n;
    otherwise it could be large between them.
    """
    far, n = np.sort(distance), 0
    while n < HIGHEST:
        harmonics_up_to = sum(_dimension(dim, k) for k in range(n + 2))
        if harmonics_up_to > SEEN * np.searchsorted(far, 1.0 + 1.0 / (n + 1)):
            break
        n += 1
    return n


def _dimension(dim: int, n: int) -> int:
    """The number of harmonics of degree n."""
    return 2 * n + 1 if dim == 3 else min(2, n + 1)

"""Stars: cells around a crossing of jumps, with functions of their own that solve the equation there.

Around a place at which coefficients jump, frozen on each side, u is Σ c_j r^α_j Φ_j(θ) and what a source makes of it.
These functions are continuous, and so are their fluxes: what a star takes in and gives out on its outside balances.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from kernop.basics.errors import ArgumentError, FloatArray, fail
from kernop.basics.fitting import REMEDY, check_shape
from kernop.basics.stored import stored
from kernop.collocation.cells.transmission import SingularModes, powers_around
from kernop.language.fields import MultiIndex

#: The highest power of r in a star.
HIGHEST = 14.0
#: Points of the equation on each sector of a star: parts of its angle, and of the way to the outside.
ANGLES, RADII = (0.2, 0.5, 0.8), (0.4, 0.8)
#: Nearer to the place than this, in units of the star, all is as it is there: r^(α − 1) is finite.
NEAREST = 1e-100


@dataclass(frozen=True, eq=False)
class Sectors:
    """What is around a place: on each of n sectors a coefficient, frozen at the place.

    Arguments:
        angles: at which sectors begin, ascending, (n,).
        coefficients: a on each, (n,).
        room: the distance to what else is there: lines that do not meet at the place, the boundary.
        rate: the error of taking a, and a source, as constant on a star of size h is about h to this power.
    """

    angles: FloatArray
    coefficients: FloatArray
    room: float
    rate: float

    @cached_property
    def modes(self) -> SingularModes:
        """The functions r^α Φ(θ) around the place."""
        return powers_around(self.angles, self.coefficients, HIGHEST)


@stored("star", by_value=False)
@dataclass(kw_only=True, frozen=True, eq=False)
class Star:
    """The functions of a star, in coordinates z in which its cell is [−1, 1]², with y = stretch (z − centre), |y| ≤ 1.

    First come those with −a Δw_i = 1 on sector i, and 0 on others, n of them; then |y|^α_j Φ_j(θ), m of them.

    Arguments:
        centre, stretch: see above, (2,) each.
        angles: at which sectors begin, (n,).
        coefficients: a on each, in units of the largest, (n,).
        powers, even, odd, sources: see `SingularModes`.
    """

    centre: FloatArray
    stretch: FloatArray
    angles: FloatArray
    coefficients: FloatArray
    powers: FloatArray
    even: FloatArray
    odd: FloatArray
    sources: FloatArray

    @classmethod
    def of(cls, sectors: Sectors, place: FloatArray, low: FloatArray, high: FloatArray) -> Star:
        """The star at a place (2,) inside a cell between two corners."""
        half, found = 0.5 * (high - low), sectors.modes
        reach = float(np.linalg.norm(np.maximum(high - place, place - low)))
        return cls(
            centre=(place - 0.5 * (low + high)) / half,
            stretch=half / reach,
            angles=sectors.angles,
            coefficients=sectors.coefficients / np.max(sectors.coefficients),
            powers=found.powers,
            even=found.even,
            odd=found.odd,
            sources=found.sources,
        )

    def check(self) -> None:
        """Raise unless the arrays, which come from a file, fit each other."""
        n, m = len(self.angles), len(self.powers)
        for name, own, *shape in (("centre", self.centre, 2), ("stretch", self.stretch, 2), ("even", self.even, m, n)):
            check_shape(name, own, *shape)
        for name, own, *shape in (("odd", self.odd, m, n), ("sources", self.sources, n, m), ("powers", self.powers, m)):
            check_shape(name, own, *shape)
        check_shape("coefficients", self.coefficients, n)
        sorted_ = n > 0 and np.all(np.diff(self.angles) > 0.0) and np.all(self.powers >= 0.0)
        if not sorted_ or not np.all(self.coefficients > 0.0) or not np.all(self.stretch > 0.0):
            raise fail(ArgumentError, "star", "sectors without inside, or a coefficient that is not positive", REMEDY)

    def __len__(self) -> int:
        return len(self.angles) + len(self.powers)

    @cached_property
    def key(self) -> bytes:
        """By which it is known again."""
        own = (self.centre, self.stretch, self.angles, self.coefficients, self.powers, self.even, self.odd)
        return b"".join(array.tobytes() for array in own)

    @cached_property
    def _middles(self) -> FloatArray:
        ends = np.append(self.angles[1:], self.angles[0] + 2.0 * np.pi)
        return 0.5 * (self.angles + ends)

    def points(self) -> FloatArray:
        """Some on each sector, in coordinates z, (k, 2)."""
        widths = 2.0 * (self._middles - self.angles)
        angles = (self.angles[:, None] + widths[:, None] * np.array(ANGLES)).ravel()
        way = np.stack([np.cos(angles), np.sin(angles)], axis=1)
        room = np.where(way > 0.0, 1.0 - self.centre, 1.0 + self.centre) * self.stretch
        far = np.min(room / np.maximum(np.abs(way), 1e-12), axis=1)
        y = (np.array(RADII)[:, None] * far)[..., None] * way
        return self.centre + y.reshape(-1, 2) / self.stretch

    def derivatives(self, z: FloatArray, alphas: Sequence[MultiIndex]) -> dict[MultiIndex, FloatArray]:
        """∂^α of all functions at places z (k, 2): (n + m, k) each."""
        if max(map(sum, alphas)) > 2:
            got = f"derivatives of the order {max(map(sum, alphas))} beside a crossing of jumps"
            raise fail(ArgumentError, "u", got, "ask for derivatives up to the second order")
        at = _Places(self, self.stretch * (z - self.centre), self._middles)
        return {
            alpha: np.concatenate([at.forced(alpha), at.powers(alpha)]) * np.prod(self.stretch ** np.array(alpha))
            for alpha in alphas
        }


class _Places:
    """Places y (k, 2) on the sectors of a star."""

    def __init__(self, star: Star, y: FloatArray, middles: FloatArray) -> None:
        angle = np.mod(np.arctan2(y[:, 1], y[:, 0]) - star.angles[0], 2.0 * np.pi) + star.angles[0]
        self._star, self._sector = star, np.searchsorted(star.angles, angle, side="right") - 1
        self._r, self._angle = np.maximum(np.hypot(y[:, 0], y[:, 1]), NEAREST), angle
        self._even, self._odd = star.even[:, self._sector], star.odd[:, self._sector]
        self._turned = angle - middles[self._sector]
        self._alpha = star.powers[:, None]

    def powers(self, alpha: MultiIndex) -> FloatArray:
        """∂^α r^α_j Φ_j, (m, k): they are real parts of powers of x + iy."""
        order = sum(alpha)
        factor = np.prod([self._alpha - k for k in range(order)], axis=0) if order else 1.0
        phase = self._alpha * self._turned - order * self._angle
        phase = phase + 0.5 * np.pi * alpha[1]
        return factor * self._r ** (self._alpha - order) * (self._even * np.cos(phase) + self._odd * np.sin(phase))

    @cached_property
    def _angular(self) -> tuple[FloatArray, FloatArray]:
        """Φ_j and Φ_j′, (m, k)."""
        c, s = np.cos(self._alpha * self._turned), np.sin(self._alpha * self._turned)
        return self._even * c + self._odd * s, self._alpha * (self._odd * c - self._even * s)

    @cached_property
    def _radial(self) -> tuple[FloatArray, FloatArray, FloatArray]:
        """c, c′/r and c″ for c = (r^α − r²)/(4 − α²), of which −c″ − c′/r + α² c/r² = 1, (m, k) each."""
        r, alpha, gap = self._r, self._alpha, self._alpha - 2.0
        power, near = r**gap, np.abs(gap) < 0.1
        # (r^(α − 2) − 1)/(α − 2), which is log r at α = 2.
        turned = np.expm1(np.where(near, gap * np.log(r), 0.0))
        rest = np.where(gap == 0.0, np.log(r), np.where(near, turned, power - 1.0) / np.where(gap == 0.0, 1.0, gap))
        over = -1.0 / (2.0 + alpha)
        return over * r**2 * rest, over * (power + 2.0 * rest), over * (alpha * (alpha - 1.0) * rest + alpha + 1.0)

    def forced(self, alpha: MultiIndex) -> FloatArray:
        """∂^α w_i, (n, k). Δw_i is what it is, and not the sum of a series that is cut."""
        sources, (c, slope, curve), (value, turn) = self._star.sources, self._radial, self._angular
        cos, sin, r = np.cos(self._angle), np.sin(self._angle), self._r
        if alpha == (0, 0):
            return sources @ (c * value)
        if sum(alpha) == 1:
            along, across = sources @ (slope * value) * r, sources @ (c * turn) / r
            return cos * along - sin * across if alpha[0] else sin * along + cos * across
        along, mixed = sources @ (curve * value), sources @ ((slope - c / r**2) * turn)
        own = np.arange(len(sources))[:, None] == self._sector
        across = -along - own / self._star.coefficients[self._sector]
        if alpha == (2, 0):
            return cos**2 * along + sin**2 * across - 2.0 * sin * cos * mixed
        if alpha == (0, 2):
            return sin**2 * along + cos**2 * across + 2.0 * sin * cos * mixed
        return sin * cos * (along - across) + (cos**2 - sin**2) * mixed

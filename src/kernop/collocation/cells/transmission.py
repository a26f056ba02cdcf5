"""Powers r^α Φ(θ) that solve −div(a ∇u) = 0 where a is constant on each of several sectors around a place.

−(a Φ′)′ = α² a Φ on the circle, with Φ and a Φ′ continuous. On a sector of the angle ω the pair (√a Φ, √a Φ′/α) is
turned by α ω: in these terms powers are found to rounding, however small they are and whatever the contrast.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.polynomial.legendre import leggauss, legvander
from numpy.typing import NDArray

from kernop.basics.errors import FloatArray

#: Polynomials on a sector, by which powers are found first: so many, and for each radian of α ω so many more.
FEWEST, MORE = 14, 1.2
#: Powers that are nearer to each other than this have one number, and two functions.
DOUBLE = 1e-8
#: Steps of Newton by which a power is improved.
STEPS = 3


@dataclass(frozen=True, eq=False)
class SingularModes:
    """Functions r^α Φ(θ), α = 0 and Φ = 1 first, orthogonal in the mean over the circle that is weighted by a.

    Arguments:
        powers: α, ascending, (m,).
        even, odd: Φ = even cos α(θ − θ_i) + odd sin α(θ − θ_i) on sector i with the middle θ_i, (m, n).
        sources: ∫ Φ over each sector, divided by ∫ a Φ² over the circle, (n, m).
    """

    powers: FloatArray
    even: FloatArray
    odd: FloatArray
    sources: FloatArray


def powers_around(angles: FloatArray, a: FloatArray, highest: float) -> SingularModes:
    """All of them up to a power.

    Arguments:
        angles: at which sectors begin, ascending, (n,); the last one ends where the first begins.
        a: the coefficient on each, (n,).
    """
    widths = np.diff(np.append(angles, angles[0] + 2.0 * np.pi))
    a = a / np.max(a)
    even, odd, powers = [np.ones((1, len(a)))], [np.zeros((1, len(a)))], [0.0]
    for found in _clusters(_first(widths, a, highest)):
        power, pairs = _null(widths, a, float(np.mean(found)), len(found))
        own = _on_sectors(widths, a, power, pairs)
        own = _orthogonal(widths, a, power, *own)
        even.append(own[0])
        odd.append(own[1])
        powers += [power] * len(found)
    cosines, sines = np.concatenate(even), np.concatenate(odd)
    return SingularModes(np.array(powers), cosines, sines, _sources(widths, a, np.array(powers), cosines, sines))


def _first(widths: FloatArray, a: FloatArray, highest: float) -> FloatArray:
    """All α > 0 up to a power, to a few digits less than those of a number: by continuous polynomials on sectors.

    They are singular values of √a φ ↦ √a φ′: no square of a small one is formed.
    """
    counts = [int(FEWEST + MORE * highest * width) for width in widths]
    ends = np.cumsum([0, *(n for n in counts)])
    total = int(ends[-1])
    values, slopes = list[FloatArray](), list[FloatArray]()
    for k, (n, width) in enumerate(zip(counts, widths.tolist(), strict=True)):
        x, w = leggauss(n + 2)
        root = np.sqrt(0.5 * width * a[k] * w)[:, None]
        bubbles, derived = _bubbles(n, x)
        own = np.zeros((2, len(x), total))
        inner = slice(ends[k] + 1, ends[k + 1])
        own[0][:, inner], own[1][:, inner] = bubbles, derived
        for place, sign in ((ends[k], -1.0), (ends[(k + 1) % len(widths)], 1.0)):
            own[0][:, place] += 0.5 * (1.0 + sign * x)
            own[1][:, place] += 0.5 * sign
        values.append(root * own[0])
        slopes.append(root * own[1] * (2.0 / width))
    _, upper = np.linalg.qr(np.concatenate(values))
    found = np.sort(np.linalg.svd(np.linalg.solve(upper.T, np.concatenate(slopes).T), compute_uv=False))
    return np.asarray(found[1:][found[1:] <= highest], dtype=np.float64)


def _bubbles(n: int, x: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Integrals of Legendre's polynomials that vanish at ±1, and their derivatives, (len(x), n − 1) each."""
    table: FloatArray = np.asarray(legvander(x, n), dtype=np.float64)
    k = np.arange(1, n)
    root: FloatArray = np.sqrt(k + 0.5)
    return (table[:, 2:] - table[:, :-2]) / (2 * k + 1) * root, table[:, 1:-1] * root


def _clusters(powers: FloatArray) -> list[FloatArray]:
    """Powers that are the same together."""
    return [own for own in np.split(powers, np.flatnonzero(np.diff(powers) > DOUBLE) + 1) if len(own)]


def _matrix(widths: FloatArray, a: FloatArray, power: float, derived: bool = False) -> FloatArray:
    """What sectors say of (g Φ, a Φ′/(g α)) at their ends, (2n, 2n), g² = √(a b) between a and b; or its derivative."""
    n = len(a)
    between = np.sqrt(np.sqrt(a * np.roll(a, 1)))  # g at the beginning of each sector
    found = np.zeros((2 * n, 2 * n))
    for k in range(n):
        after, turn = (k + 1) % n, power * widths[k]
        c, s = np.cos(turn), np.sin(turn)
        turned = widths[k] * np.array([[-s, c], [-c, -s]]) if derived else np.array([[c, s], [-s, c]])
        rows = slice(2 * k, 2 * k + 2)
        scale, next_ = (np.sqrt(a[k]) / between[own] for own in (k, after))
        found[rows, 2 * k : 2 * k + 2] -= turned * [scale, 1.0 / scale]
        if not derived:
            found[rows, 2 * after : 2 * after + 2] += np.diag([next_, 1.0 / next_])
    return found


def _null(widths: FloatArray, a: FloatArray, power: float, count: int) -> tuple[float, FloatArray]:
    """A power near another, and its pairs (Φ, a Φ′/α) at the beginnings of sectors, (count, n, 2)."""
    for _ in range(STEPS):
        left, _, right = np.linalg.svd(_matrix(widths, a, power))
        one, other = left[:, -count:], right[-count:].T
        value, slope = one.T @ _matrix(widths, a, power) @ other, one.T @ _matrix(widths, a, power, True) @ other
        step = float(np.mean(np.linalg.eigvals(np.linalg.solve(slope, value)).real))
        power -= step
    _, _, right = np.linalg.svd(_matrix(widths, a, power))
    between = np.sqrt(np.sqrt(a * np.roll(a, 1)))
    return power, right[-count:].reshape(count, -1, 2) * np.stack([1.0 / between, between], axis=1)


def _on_sectors(widths: FloatArray, a: FloatArray, power: float, pairs: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Factors of cosine and sine around the middles of sectors, (count, n) each, from what Φ is at their ends."""
    c, s = np.cos(0.5 * power * widths), np.sin(0.5 * power * widths)
    (one, flux), (other, next_) = (np.moveaxis(own, 2, 0) for own in (pairs, np.roll(pairs, -1, axis=1)))
    even = 0.5 * (c * (one + other) + s * (flux - next_) / a)
    odd = 0.5 * (s * (other - one) + c * (flux + next_) / a)
    return even, odd


def _orthogonal(
    widths: FloatArray, a: FloatArray, power: float, even: FloatArray, odd: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """The same, orthogonal to each other, with a largest value of about 1."""
    cc, ss = _squares(widths, power)
    gram = (even * a * cc) @ even.T + (odd * a * ss) @ odd.T
    _, turned = np.linalg.eigh(gram)
    even, odd = turned.T @ even, turned.T @ odd
    size = np.max(np.hypot(even, odd), axis=1)[:, None]
    return even / size, odd / size


def _squares(widths: FloatArray, power: float) -> tuple[FloatArray, FloatArray]:
    """∫ cos² and ∫ sin² of α times the angle from the middle, over each sector, (n,)."""
    half = 0.5 * widths * np.sinc(power * widths / np.pi)
    return 0.5 * widths + half, 0.5 * widths - half


def _sources(
    widths: FloatArray, a: FloatArray, powers: FloatArray, even: FloatArray, odd: FloatArray
) -> NDArray[np.float64]:
    squares = [_squares(widths, power) for power in powers.tolist()]
    size = [c**2 @ (a * cc) + s**2 @ (a * ss) for c, s, (cc, ss) in zip(even, odd, squares, strict=True)]
    means = even * widths * np.sinc(powers[:, None] * widths / (2.0 * np.pi))
    return (means / np.array(size)[:, None]).T

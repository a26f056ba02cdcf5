"""Where on a line coefficients are not smooth, though the problem does not tell.

Between places a coefficient is compared with the polynomials of a low degree that fit it on short segments. What these
miss of a smooth function falls fast with their length; of one that is like |x − c|^p around c, or jumps there, slowly.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from kernop.basics.errors import FloatArray
from kernop.basics.frozen import Kept, frozen
from kernop.basics.precision import eagerly
from kernop.collocation.ansatz import Tabulated
from kernop.collocation.cells.elliptic import Kind, equations_of, kind_of
from kernop.geometry.domain import Domain
from kernop.language.coefficients import Coefficient
from kernop.language.functions import padded
from kernop.language.ops import linear_forms
from kernop.language.piecewise import Piecewise
from kernop.language.problem import Problem

#: A line is cut into so many segments, and each on which a coefficient is missed into so many again, if it is among the
#: worst so many. They overlap by this part.
FIRST, SEGMENTS, WORST, OVERLAP = 160, 64, 40, 0.1
#: What is not smooth is missed by more than this part of the coefficient, after so many cuts.
MISSED, CUTS = 2e-12, 3
#: Nodes inside a segment, and the degree of polynomials there.
NODES, DEGREE = 12, 7
#: So many values are computed at once: for each number JAX compiles a function anew.
AT_ONCE = 2048
#: Values count as at least this part of the largest, and are known to this part.
FLOOR, ROUNDING, EPS = 1e-3, 1e-15, float(np.finfo(np.float64).eps)
#: Places nearer to each other, or to an end, than this part of the interval are one. More than so many are those of a
#: rough function.
SAME, MOST = 1e-7, 40
#: On a segment that is less than so many of its lengths from a place, what is missed comes from there.
BLUR = 100.0
#: Beside a place a function is smooth if what is missed there on a segment of this part of the room, and on one that is
#: shorter by this factor again, falls like a higher power of the length than this.
BESIDE, SMOOTH = 2.0**-4, 4.0
#: Powers count as at least this: of less nothing converges.
LEAST = 0.1

_T = 0.5 - 0.5 * np.cos(np.pi * (np.arange(NODES) + 0.5) / NODES)
_Q = np.linalg.qr(np.polynomial.legendre.legvander(2.0 * _T - 1.0, DEGREE))[0]


@dataclass(frozen=True, eq=False)
class Kinks:
    """Places inside an interval at which a coefficient is not smooth.

    Arguments:
        places: (k,), in order.
        powers: what polynomials make of the flux across a segment beside a place is wrong by its length to this power,
            (k,): p if what is differentiated is like |x − c|^p, else 1 + p; inf if it is smooth on either side.
    """

    places: FloatArray
    powers: FloatArray


_NONE = frozen(Kinks(np.empty(0), np.empty(0)))
_kept: Kept[Problem, Kinks] = Kept()


def kinks(problem: Problem) -> Kinks:
    """Where coefficients of equations on an interval are not smooth, but for the jumps of a `Piecewise`; found once."""
    return _kept.of(problem, lambda: _found(problem))


def _found(problem: Problem) -> Kinks:
    domain = equations_of(problem)[0].on
    kind = kind_of(problem)
    if problem.dim != 1 or not isinstance(domain, Domain) or not isinstance(kind, Kind) or kind.order != 2:
        return _NONE
    low, high = (float(own[0]) for own in domain.bounds)
    with eagerly():
        lines = [(_Line(c, _limits(c, low, high)), more) for c, more in _coefficients(problem)]
        every = np.sort(np.concatenate([np.empty(0), *(own.places() for own, _ in lines)]))
        places = every[np.diff(every, prepend=-np.inf) > SAME * (high - low)]
        if not 0 < len(places) <= MOST:
            return _NONE
        powers = [own.powers(places) + more for own, more in lines]
    return frozen(Kinks(places, np.maximum(LEAST, np.min(powers, axis=0))))


def _coefficients(problem: Problem) -> list[tuple[Coefficient, float]]:
    """The functions in the equations, before any derivative is taken of them, each once; and 1 for those of which none
    is: what polynomials miss of these is integrated once more before it is felt.
    """
    found: dict[int, tuple[Coefficient, float]] = {}
    for condition in equations_of(problem):
        if not isinstance(condition.op, Tabulated):
            point = condition.on.sample(1)
            forms, _ = linear_forms(condition.op, point, problem.unknowns, of=condition.of, name=condition.name)
            terms = [c for form in forms for c in form.terms.values()]
            every = [(c, 1.0) for c in terms] + [(own, 0.0) for c in terms for own in c.sources]
            found |= {id(c.itself or c): (c, more) for c, more in every if c.constant is None and not c.sources}
    return list(found.values())


def _limits(c: Coefficient, low: float, high: float) -> FloatArray:
    """The ends of an interval, and the places in it at which a coefficient jumps, as the problem tells."""
    regions = [own for function in c.functions if isinstance(function, Piecewise) for own in function.regions]
    ends = [float(x[0]) for own in regions for x in own.bounds]
    return np.unique([low, *(x for x in ends if low < x < high), high])


class _Line:
    """A coefficient on an interval, which may jump at its limits and at places between them that it tells."""

    def __init__(self, coefficient: Coefficient, limits: FloatArray) -> None:
        self._of, self._limits = coefficient, limits
        far = float(np.max(np.abs(limits)) / (limits[-1] - limits[0]))
        self._noise = MISSED + 32.0 * EPS * far  # of coordinates, too
        self._least = FLOOR * float(np.max(np.abs(self._values(np.linspace(limits[0], limits[-1], FIRST)[1:-1]))))

    def _values(self, x: FloatArray) -> FloatArray:
        y, found = x.reshape(-1, 1), list[FloatArray]()
        with np.errstate(all="ignore"):
            for start in range(0, len(y), AT_ONCE):
                some = y[start : start + AT_ONCE]
                found.append(np.asarray(self._of.at(padded(some), None))[: len(some)])
        return np.concatenate(found).reshape(x.shape)

    def _missed(self, low: FloatArray, high: FloatArray) -> FloatArray:
        """What polynomials miss on segments, and the largest values there, (2, n)."""
        values = self._values(low[:, None] + (high - low)[:, None] * _T)
        missed = np.max(np.abs(values - (values @ _Q) @ _Q.T), axis=1)
        return np.stack([missed, np.maximum(np.max(np.abs(values), axis=1), self._least)])

    def places(self) -> FloatArray:
        """Where it is not smooth."""
        low, high, found = self._limits[:-1], self._limits[1:], list[tuple[float, float]]()
        for cut in range(MOST):
            first, last = self._cut(low, high, SEGMENTS if cut else FIRST)
            part, size = self._missed(first.ravel(), last.ravel()).reshape(2, *first.shape)
            missed = part > self._noise * size
            done = ~np.any(missed, axis=1) | (high - low < 2.0**-46 * np.abs(high))
            if cut >= CUTS:
                found += zip(low[done].tolist(), high[done].tolist(), strict=True)
            missed &= ~done[:, None]
            worst = np.argsort(-part[missed] / size[missed])[:WORST]
            low, high = first[missed][worst], last[missed][worst]
            if len(low) == 0:
                break
        apart, room = self._limits, SAME * (self._limits[-1] - self._limits[0])
        for a, b in reversed(found):  # the shortest first: others are beside it
            if np.min(np.abs(0.5 * (a + b) - apart)) > max(room, BLUR * (b - a)):
                apart = np.append(apart, self._between(a, b))
        return apart[len(self._limits) :]

    def _cut(self, low: FloatArray, high: FloatArray, count: int) -> tuple[FloatArray, FloatArray]:
        """So many segments of each of n others, (n, count); they overlap, and stay between the same limits."""
        step, k = (high - low)[:, None] / count, np.arange(count)
        side = np.searchsorted(self._limits, 0.5 * (low + high))
        first = np.maximum(low[:, None] + (k - OVERLAP) * step, self._limits[side - 1][:, None])
        return first, np.minimum(low[:, None] + (k + 1.0 + OVERLAP) * step, self._limits[side][:, None])

    def _between(self, low: float, high: float) -> float:
        """Where what is smooth on either side of a segment meets, or else the middle."""
        middle, reach = 0.5 * (low + high), 2.0**-10 * (self._limits[-1] - self._limits[0])
        ends, sides = np.array([low, high]), np.array([-1.0, 1.0])
        near = ends[:, None] + reach * sides[:, None] * _T
        fits = [np.polyfit(x - middle, y, 4) for x, y in zip(near, self._values(near), strict=True)]
        apart = np.polyval(fits[1] - fits[0], ends - middle)
        return float(low + (high - low) * apart[0] / (apart[0] - apart[1])) if apart[0] * apart[1] < 0.0 else middle

    def powers(self, places: FloatArray) -> FloatArray:
        """The power of the distance from each place that it has there beside what is smooth, (k,)."""
        marks = np.unique(np.concatenate([places, self._limits]))
        k = np.searchsorted(marks, places)
        found = []
        for side in (-1, 1):
            room = np.abs(marks[k + side] - places)
            beside = [np.sort([places, places + side * room * BESIDE**n], axis=0) for n in (1, 2)]
            (long, size), (short, _) = (self._missed(*own) for own in beside)
            least = ROUNDING * size + 1e-300
            power = np.log(np.maximum(short, least) / np.maximum(long, least)) / np.log(BESIDE)
            found.append(np.where((power < SMOOTH) & (long > self._noise * size), power, np.inf))
        return np.min(found, axis=0)

"""Where u is singular in the plane, and like which power of the distance: corners, changes of condition, crossings."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property, partial

import numpy as np

from kernop.basics.errors import BoolArray, FloatArray, IntArray, KernopError
from kernop.basics.frozen import Kept, frozen
from kernop.collocation.cells.breaks import breaks
from kernop.collocation.cells.crossings import EVEN, exponent_at, sectors_around
from kernop.collocation.cells.elliptic import condition_tables
from kernop.collocation.cells.jumps import varies
from kernop.collocation.cells.kinks import kinks
from kernop.collocation.cells.lasting import lasting, lasting_points
from kernop.collocation.cells.pieces import Pieces
from kernop.collocation.cells.stars import Sectors, Star
from kernop.collocation.cells.wedges import Tip, powers
from kernop.geometry import Box
from kernop.geometry.cells import Cells
from kernop.geometry.clipping import Line, intervals
from kernop.geometry.corners import PlaneCorners
from kernop.geometry.domain import Domain
from kernop.language.conditions import Condition
from kernop.language.ops import itself
from kernop.language.problem import Problem

#: Nearer to the end of a line, conditions of its neighbour are seen.
END = 1e-7
#: Conditions beside a place within a line are looked at so far from it, as a part of the way to the end of the line.
BESIDE = 1e-3
#: Coordinates that differ by less than this part of the extent differ by rounding.
ROUNDING = 1e-11

#: Grid lines go through places if these have at most so many different coordinates along an axis; only then are stars
#: taken.
LINES = 9
#: A place is well inside a cell within this part of it.
WELL_INSIDE = 0.6


@dataclass(frozen=True, eq=False)
class Singularities:
    """Places at which u is singular in the plane.

    Arguments:
        places: (k, 2).
        exponents: u is like r to this power, (k,).
        rates: what grading to cells of the size r leaves of the error, or a star of this size, is like r to this, (k,).
        sectors: what is around a place at which there may be a star, else None.
    """

    places: FloatArray
    exponents: FloatArray
    rates: FloatArray
    sectors: tuple[Sectors | None, ...]

    @cached_property
    def key(self) -> tuple[object, ...]:
        """What tells cells that are graded to these places apart from others."""
        rooms = tuple(None if own is None else own.room for own in self.sectors)
        return self.places.tobytes(), self.exponents.tobytes(), self.rates.tobytes(), rooms


#: Places at which u is singular, by the problem and the pieces of its domain; by the problem, if nothing jumps in it.
_FOUND: Kept[Problem, Kept[Pieces, Singularities]] = Kept()
_AROUND: Kept[Problem, Singularities] = Kept()


def singularities(problem: Problem, pieces: Pieces) -> Singularities:
    """Where u is singular, and how. It is found once: where many lines of jumps cross, that takes a second."""
    if pieces.parts is None:  # the boundary alone tells it, whatever the coefficients
        return _AROUND.of(problem, lambda: _with_rates(problem, pieces))
    return _FOUND.of(problem, Kept[Pieces, Singularities]).of(pieces, lambda: _with_rates(problem, pieces))


def _with_rates(problem: Problem, pieces: Pieces) -> Singularities:
    places, exponents = singular_places(problem, pieces)
    if problem.dim == 1:  # by so much fluxes on both sides of a cell do not balance, if a is like r^p there
        return frozen(Singularities(places, exponents, exponents - 1.0, (None,) * len(places)))
    rates = np.where(_data_meet(problem, pieces, places), 1.0, 2.0) * exponents
    lined = all(len(np.unique(np.round(own, 12))) <= LINES for own in places.T)
    sectors = sectors_around(problem, pieces, places) if lined else [None] * len(places)
    for k, own in enumerate(sectors):
        rates[k] = rates[k] if own is None else own.rate
    return frozen(Singularities(places, exponents, rates, tuple(sectors)))


def singular_places(problem: Problem, pieces: Pieces) -> tuple[FloatArray, FloatArray]:
    """Places at which u is singular in the plane, (k, 2), where it is like r to some power, (k,).

    At a corner of angle ω that is π/ω for Laplace's equation, which has solutions r^(π/ω) sin(πθ/ω), or π/(2ω) where
    values of u are given on one side and its slope on the other; see `wedges` for other equations and conditions. Where
    slopes jump on a straight side, u is like r log r.
    """
    domain = pieces.whole
    if problem.dim == 1:
        found = kinks(problem)
        rough = np.isfinite(found.powers)
        return found.places[rough, None], 1.0 + found.powers[rough]
    if domain.dim != 2:
        return np.empty((0, domain.dim)), np.empty(0)
    kinds = _Kinds(problem, domain)
    tips = [*kinds.corners(domain.corners), *kinds.changes(), *kinds.slopes_change(), *kinds.coefficients_jump()]
    on_boundary = _on_sides(np.array([tip.place for tip in tips]).reshape(-1, 2), pieces)
    corners = [region.corners.x for region in jumping(pieces)]
    x = np.concatenate([np.empty((0, 2)), *corners, *(kinds.crossed_by(region) for region in jumping(pieces))])
    x = _on_sides(x, pieces)
    x = x[np.unique(np.round(x, 12), axis=0, return_index=True)[1]]
    x = x[domain.contains(x)] if len(x) else x
    known = np.concatenate([on_boundary, x])
    found = np.array([exponent_at(problem, pieces, place, known) for place in x])
    # Where a line of jumps meets a straight side at a right angle u is r near it on either side, and then r² log r.
    exponents = powers(problem, tips)
    return known, np.concatenate([exponents, np.where(np.abs(found - 1.0) < EVEN, 2.0, found)])


def _on_sides(x: FloatArray, pieces: Pieces) -> FloatArray:
    """Places (k, 2) that are next to sides of boxes at which coefficients jump, on them: else grid lines through such a
    place would leave a strip of rounding between themselves and the side.
    """
    extent = float(np.max(np.subtract(*pieces.whole.bounds[::-1])))
    boxes = [leaf for region in (pieces.whole, *jumping(pieces)) for leaf in region.leaves if isinstance(leaf, Box)]
    found = x.copy()
    for side in (side for box in boxes for side in box.bounds):
        found = np.where(np.abs(found - side) < ROUNDING * extent, side, found)
    return found


def jumping(pieces: Pieces) -> list[Domain]:
    """The regions between which coefficients jump."""
    return [] if pieces.parts is None else [own for own in pieces.parts.domains if isinstance(own, Domain)]


def _data_meet(problem: Problem, pieces: Pieces, places: FloatArray) -> BoolArray:
    """Do data of two conditions of the same kind meet at a place, (k,)? Where they do not fit, u itself jumps there.

    The error of grading to a size r is then r^α, and not r^(2α).
    """
    if pieces.whole.dim != 2:
        return np.zeros(len(places), dtype=bool)
    kinds = _Kinds(problem, pieces.whole)
    return np.array([kinds.several_at(x) for x in places], dtype=bool)


class _Kinds:
    """Where on the boundary values of u are given, and where something else."""

    def __init__(self, problem: Problem, domain: Domain) -> None:
        self._problem = problem
        self._around = [c for c in problem.conditions if c.on.intrinsic_dim == problem.dim - 1 and not c.across]
        self._lines = [Line.of(patch) for patch in domain.boundary.patches]
        self._extent = float(np.max(np.subtract(*domain.bounds[::-1])))

    def _values_given(self, line: Line, t: FloatArray) -> BoolArray:
        values = np.array([*(condition.op is itself for condition in self._around), False])
        return values[self._first(line, t)]

    def _first(self, line: Line, t: FloatArray) -> IntArray:
        """The number of the first condition that holds at places of a line; −1 for none: (n,)."""
        x, found = lasting(self._problem, line.at(t)[0]), np.full(len(t), -1)
        for k, condition in enumerate(self._around):
            found[(found < 0) & condition.on.contains(x)] = k
        return found

    def corners(self, corners: PlaneCorners) -> list[Tip]:
        """The corners of the domain."""
        found: list[Tip] = []
        for x, angle in zip(corners.x, corners.angle.tolist(), strict=True):
            near = list(self._meeting(x))
            mixed = len({bool(self._values_given(line, t)[0]) for line, t in near}) > 1
            found.append(self._tip(x, near, (0.5 if mixed else 1.0) * np.pi / angle))
        return found

    def _tip(self, x: FloatArray, near: Sequence[tuple[Line, FloatArray]], otherwise: float) -> Tip:
        """A place with some on lines beside it."""
        at = [line.at(t) for line, t in near]
        numbers = [int(self._first(line, t)[0]) for line, t in near]
        return Tip(
            place=x,
            x=np.concatenate([np.empty((0, 2)), *(own for own, _ in at)]),
            normal=np.concatenate([np.empty((0, 2)), *(own for _, own in at)]),
            conditions=tuple(None if k < 0 else self._around[k] for k in numbers),
            otherwise=otherwise,
        )

    def _within(self, line: Line, t: float, otherwise: float) -> Tip:
        """A place within a line."""
        step = BESIDE * min(t, 1.0 - t, 0.1) if t < 1.0 else BESIDE
        near = [(line, np.array([t - step])), (line, np.array([t + step]))]
        return self._tip(line.at(np.array([t]))[0][0], near, otherwise)

    def several_at(self, x: FloatArray) -> bool:
        """Do two conditions that give values of u meet at a corner?"""
        found: set[int] = set()
        for line, t in self._meeting(x):
            near = lasting(self._problem, line.at(t)[0])
            here = [k for k, c in enumerate(self._around) if c.op is itself and c.on.contains(near)[0]]
            found |= set(here[:1])
        return len(found) > 1

    def _meeting(self, x: FloatArray) -> Iterator[tuple[Line, FloatArray]]:
        """The lines that end at a corner, and the parameter of a point beside it, (1,)."""
        for line in self._lines:
            for end, t in zip(line.ends, (1e-6, 1.0 - 1e-6), strict=True):
                if np.linalg.norm(end - x) < 1e-9 * self._extent:
                    yield line, np.array([t])

    def changes(self) -> list[Tip]:
        """Places within smooth lines at which the kind of condition changes."""
        return [self._within(line, t, 0.5) for line, t in self._ends(self._values_given)]

    def slopes_change(self) -> list[Tip]:
        """Places within smooth lines at which one condition on something else than values follows another."""
        found: list[Tip] = []
        for line in self._lines:
            for k, condition in enumerate(self._around):
                if condition.op is not itself:
                    begins = [a for a, _ in intervals(lambda t, line=line, k=k: self._first(line, t) == k) if a > END]
                    after = [t for t in begins if not self._values_given(line, np.array([t - END]))[0]]
                    found += [self._within(line, t, 1.0) for t in after]
        return found

    def coefficients_jump(self) -> list[Tip]:
        """Places within smooth lines at which coefficients of one condition jump, as by ``jnp.where``."""
        found: list[Tip] = []
        for k, condition in enumerate(self._around):
            for line in self._lines if varies(condition, self._problem.unknowns) else ():
                for a, b in intervals(lambda t, line=line, k=k: self._first(line, t) == k):
                    places = self._breaks(condition, line, a, b)
                    found += [self._within(line, t, 1.0) for t in places if END < t < 1.0 - END]
        return found

    def _breaks(self, condition: Condition, line: Line, first: float, last: float) -> list[float]:
        """Where coefficients of a condition jump between two parameters of a line."""
        t = partial(np.interp, xp=(0.0, 1.0), fp=(first, last))
        try:
            return [float(t(s)) for s in breaks(lambda s: self._coefficients(condition, *line.at(t(s))))]
        except KernopError:  # coefficients that are not finite there
            return []

    def _coefficients(self, condition: Condition, x: FloatArray, normal: FloatArray) -> FloatArray:
        """Those of a condition at places, (n, k), real and imaginary parts."""
        tables = condition_tables(self._problem, condition, lasting_points(self._problem, x, normal))
        values = [own * np.ones(len(x)) for table in tables for own in table.values()]
        return np.stack([part(own) for own in values for part in (np.real, np.imag)], axis=1)

    def crossed_by(self, region: Domain) -> FloatArray:
        """Places within smooth lines at which the boundary of a region crosses them, (k, 2)."""
        ends = self._ends(lambda line, t: region.height(line.at(t)[0]) < 0.0)
        found: list[FloatArray] = []
        for line, t in ends:
            beside = region.height(line.at(np.array([max(0.0, t - BESIDE), t + BESIDE]))[0])
            if np.min(np.abs(beside)) > ROUNDING * self._extent and beside[0] * beside[1] < 0.0:  # else it is along it
                found.append(line.at(np.array([t]))[0][0])
        return np.array(found).reshape(-1, 2)

    def _ends(self, holds: Callable[[Line, FloatArray], BoolArray]) -> list[tuple[Line, float]]:
        """Places within smooth lines at which something begins or ends to hold: the line, and its parameter."""
        found: list[tuple[Line, float]] = []
        for line in self._lines:
            for a, b in intervals(lambda t, line=line: holds(line, t)):
                found += [(line, t) for t in (a, b) if END < t < 1.0 - END]
        return found


def stars_among(problem: Problem, pieces: Pieces, cells: Cells) -> dict[int, Star]:
    """The functions of each cell that is a star: well inside of it is a place that may have one.

    Only cells that are made for it are such: grid lines go through all of these places.
    """
    if pieces.parts is None or pieces.dim != 2 or problem.timed:
        return {}
    around, found = singularities(problem, pieces), dict[int, Star]()
    for sectors, place in zip(around.sectors, around.places, strict=True):
        if sectors is not None:
            cell = int(cells.locate(place[None])[0])
            low, high = cells.low[cell], cells.high[cell]
            if np.all(np.abs(2.0 * place - low - high) < WELL_INSIDE * (high - low)):
                found[cell] = Star.of(sectors, place, low, high)
    return found

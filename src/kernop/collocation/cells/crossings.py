"""How rough u is where lines meet on which coefficients jump: u ~ r^γ φ(θ), and γ by an eigenvalue problem on a circle.

Around a place at which −div(a ∇u) = 0 has coefficients a(θ) the functions r^γ φ(θ) solve it if

    −(a φ′)′ = γ² a φ        on the circle, or on its arc inside the domain,

with φ = 0 where values of u are given at an end of the arc, and φ′ = 0 where something else is.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np
from scipy.linalg import eigh

from kernop.basics.errors import BoolArray, FloatArray
from kernop.collocation.cells.elliptic import Kind, Table, equations_of, flux_tables, kind_of, tables_of
from kernop.collocation.cells.lasting import lasting
from kernop.collocation.cells.pieces import Pieces
from kernop.collocation.cells.stars import Sectors
from kernop.geometry import Points
from kernop.language.fields import MultiIndex
from kernop.language.ops import itself
from kernop.language.problem import Problem
from kernop.language.sides import LIMIT

#: Elements on the circle, and its radius as a part of the distance to the nearest other place.
ELEMENTS, RADIUS = 360, 1e-3
#: What is taken where an equation has no coefficients of second order, as one of several.
UNKNOWN = 0.6
#: Eigenvalues below this are those of constants.
CONSTANT = 1e-6
#: Halvings by which the end of an arc is found.
HALVINGS = 40
#: Circles on which it is looked what is around a place, as parts of the distance to what is next; places on them; and
#: parts of a sector within which coefficients are looked at.
SEEN, LOOKS, WITHIN = (0.4, 0.1, 0.02), 720, (0.1, 0.5, 0.9)
#: How far angles of straight lines are apart on two circles, at most, and the narrowest sector.
STRAIGHT, NARROW = 1e-9, 0.05
#: Coefficients that differ by less do not jump, or are constant.
EVEN_SIDES, CONSTANT_SIDES = 1e-6, 1e-9
#: Coefficients at a place are limits: the first step away from it, as a part of the distance to what is next.
LIMITED = 1e-4
#: A star takes a source as constant on each sector: what that leaves is like its size to this power.
SOURCE = 3.0
#: So near to 1 the power of r with which u begins at a corner of lines of jumps is 1.
EVEN = 1e-2


def exponent_at(problem: Problem, pieces: Pieces, place: FloatArray, others: FloatArray) -> float:
    """The least γ > 0 at a place (2,) of the domain, others (k, 2) of which are known."""
    low, high = pieces.whole.bounds
    apart = np.linalg.norm(others - place, axis=1)
    apart = apart[apart > 1e-9 * np.max(high - low)]
    radius = RADIUS * min(float(np.min(apart, initial=np.inf)), float(np.max(high - low)))
    step = 2.0 * np.pi / ELEMENTS

    def at(angle: FloatArray) -> FloatArray:
        return place + radius * np.stack([np.cos(angle), np.sin(angle)], axis=-1)

    angles: FloatArray = step * (np.arange(ELEMENTS, dtype=np.float64) + 0.5)
    inside = pieces.whole.height(at(angles)) < 0.0
    a = np.zeros(ELEMENTS)
    a[inside] = strength(problem, at(angles[inside]))
    if not np.any(inside) or not np.min(a[inside]) > 0.0:
        return UNKNOWN
    held = np.zeros(ELEMENTS, dtype=bool)  # at node k, between elements k − 1 and k
    for k in np.flatnonzero(inside != np.roll(inside, 1)).tolist():
        held[k] = _held(problem, pieces, at, angles[k] - step, angles[k])
    free = ~held & (inside | np.roll(inside, 1))
    found = _eigenvalues(a, step, free)
    positive = found[found > CONSTANT]
    return float(np.sqrt(positive[0])) if len(positive) else 1.0


def strength(problem: Problem, x: FloatArray) -> FloatArray:
    """The mean of the coefficients of ∂²u/∂x² and ∂²u/∂y² of the first equation at places of space, (n,)."""
    table = tables_of(problem, Points(lasting(problem, x), None, problem.timed))[0]
    second: list[FloatArray] = [np.zeros(len(x))]
    second += [np.real(v) * np.ones(len(x)) for (_, alpha), v in table.items() if 2 in alpha[: x.shape[1]][:2]]
    return 0.5 * np.abs(np.sum(second, axis=0))


def sectors_around(problem: Problem, pieces: Pieces, places: FloatArray) -> list[Sectors | None]:
    """What is around places (k, 2) inside the domain at which straight lines of jumps meet; None where that is not all.

    A star needs one real equation of second order with a scalar coefficient: −div(a ∇u) and terms of lower order, whose
    flux is a ∂u/∂n. Where a is not constant on each side, or there are such terms, the star is right to a power of its
    size.
    """
    kind = kind_of(problem)
    plain = isinstance(kind, Kind) and kind.order == 2 and problem.unknowns.total == 1 and not problem.timed
    if not plain or len(equations_of(problem)) != 1 or pieces.parts is None:
        return [None] * len(places)
    rooms = [_room(pieces, place, places) for place in places]
    angles = [_straight(pieces, place, room) for place, room in zip(places, rooms, strict=True)]
    asked = [k for k, own in enumerate(angles) if own is not None]
    x = [_looked_at(places[k], own, rooms[k]) for k in asked if (own := angles[k]) is not None]
    seen = _scalar(problem, np.concatenate([own.reshape(-1, 2) for own in x])) if x else None
    found: list[Sectors | None] = [None] * len(places)
    if seen is not None:
        ends = np.cumsum([len(own) * own.shape[1] for own in x])[:-1]
        for k, *own in zip(asked, *(np.split(values, ends) for values in seen), strict=True):
            here = angles[k]
            assert here is not None
            found[k] = _sectors(here, rooms[k], *(values.reshape(-1, len(here)) for values in own))
    return found


def _room(pieces: Pieces, place: FloatArray, others: FloatArray) -> float:
    """The distance from a place to the boundary, and to other places."""
    low, high = pieces.whole.bounds
    extent, apart = float(np.max(high - low)), np.linalg.norm(others - place, axis=1)
    next_ = float(np.min(apart[apart > 1e-9 * extent], initial=extent))
    return min(next_, -float(pieces.whole.height(place[None])[0]))


def _straight(pieces: Pieces, place: FloatArray, room: float) -> FloatArray | None:
    """The angles of straight lines of jumps that meet at a place, ascending, (n,); None if they are not straight."""
    low, high = pieces.whole.bounds
    if room <= 1e-9 * float(np.max(high - low)):
        return None
    angles = [_borders(pieces, place, part * room) for part in SEEN]
    if any(len(own) < 2 or len(own) != len(angles[0]) for own in angles):
        return None
    widths = np.diff(np.append(angles[0], angles[0][0] + 2.0 * np.pi))
    turned = max(float(np.max(np.abs(own - angles[0]))) for own in angles)
    return angles[0] if turned < STRAIGHT and float(np.min(widths)) > NARROW else None


def _looked_at(place: FloatArray, angles: FloatArray, room: float) -> FloatArray:
    """Places beside another: three next to it in the middle of each sector, and others all over it, (…, n, 2)."""
    widths = np.diff(np.append(angles, angles[0] + 2.0 * np.pi))
    near = [_around(place, angles + 0.5 * widths, k * LIMITED * room) for k in (1, 2, 3)]
    return np.array(near + [_around(place, angles + t * widths, part * room) for t in WITHIN for part in SEEN])


def _sectors(
    angles: FloatArray, room: float, values: FloatArray, first: FloatArray, zeroth: FloatArray
) -> Sectors | None:
    """The sectors with a at `_looked_at`, and what stands beside it, (…, n) each; None if a does not jump there, or has
    two signs, or on a straight line.
    """
    a = np.tensordot(LIMIT, values[: len(LIMIT)], 1)
    if not (np.all(a > 0.0) or np.all(a < 0.0)) or np.ptp(a) < EVEN_SIDES * np.max(np.abs(a)):
        return None
    found = Sectors(angles, np.abs(a), room, SOURCE)
    power = float(found.modes.powers[1])
    if abs(power - 1.0) < EVEN:
        return None
    if max(float(np.max(np.abs(values / a - 1.0))), room * float(np.max(first))) > CONSTANT_SIDES:
        return replace(found, rate=min(SOURCE, 1.0 + 2.0 * power))
    return replace(found, rate=min(SOURCE, 2.0 + 2.0 * power)) if np.any(zeroth) else found


def _around(place: FloatArray, angles: FloatArray, radius: float) -> FloatArray:
    return place + radius * np.stack([np.cos(angles), np.sin(angles)], axis=-1)


def _borders(pieces: Pieces, place: FloatArray, radius: float) -> FloatArray:
    """The angles at which a circle around a place leaves one piece for another, ascending."""
    angles = 2.0 * np.pi * (np.arange(LOOKS, dtype=np.float64) + 0.31) / LOOKS
    first, last = angles, np.append(angles[1:], angles[0] + 2.0 * np.pi)
    which = pieces.which(_around(place, angles, radius))
    change = which != np.roll(which, -1)
    one, other, before = first[change], last[change], which[change]
    for _ in range(HALVINGS):
        middle = 0.5 * (one + other)
        here = pieces.which(_around(place, middle, radius)) == before
        one, other = np.where(here, middle, one), np.where(here, other, middle)
    return np.sort(np.mod(0.5 * (one + other), 2.0 * np.pi))


def _scalar(problem: Problem, x: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray] | None:
    """a of the flux a ∂u/∂n at places (n, 2), and the sizes of coefficients of first and zeroth order beside it, (n,)
    each; None if it is a matrix, complex, or not that of the equation.
    """
    (condition,), (table,) = equations_of(problem), tables_of(problem, Points(x, None, False))
    if any(map(np.iscomplexobj, table.values())):
        return None
    a: list[FloatArray] = []
    for way in ((1.0, 0.0), (0.0, 1.0), (0.6, 0.8)):
        flux = flux_tables(problem, condition, Points(x, np.tile(way, (len(x), 1)), False))
        if flux is None or len(flux) != 1 or any(map(np.iscomplexobj, flux[0].values())):
            return None
        one, other = _values(flux[0], (1, 0), x), _values(flux[0], (0, 1), x)
        a.append(one * way[0] + other * way[1])
        if np.any(np.abs(one * way[1] - other * way[0]) > CONSTANT_SIDES * np.abs(a[-1])):
            return None
    second, other, mixed = (_values(table, alpha, x) for alpha in ((2, 0), (0, 2), (1, 1)))
    differ = np.array([a[1] - a[0], a[2] - a[0], np.abs(second) - np.abs(a[0]), other - second, mixed])
    if not np.all(np.abs(differ) <= CONSTANT_SIDES * np.abs(a[0])):
        return None
    first = np.abs(_values(table, (1, 0), x)) + np.abs(_values(table, (0, 1), x))
    return a[0], first / np.abs(a[0]), np.abs(_values(table, (0, 0), x) / a[0])


def _values(table: Table, alpha: MultiIndex, x: FloatArray) -> FloatArray:
    """The real coefficient of a derivative, (n,)."""
    return np.real(table.get((0, alpha), 0.0)) * np.ones(len(x))


def _eigenvalues(a: FloatArray, step: float, free: BoolArray) -> FloatArray:
    """The three least γ², by linear elements on a circle with coefficients a, (n,), for nodes that are free, (n,)."""
    number = np.arange(len(a))
    after = np.roll(number, -1)
    stiff, mass = np.zeros((2, len(a), len(a)))
    for i, j, k, m in ((number, number, 1, 2), (after, after, 1, 2), (number, after, -1, 1), (after, number, -1, 1)):
        np.add.at(stiff, (i, j), k * a / step)
        np.add.at(mass, (i, j), m * a * step / 6.0)
    kept = np.ix_(free, free)
    return eigh(stiff[kept], mass[kept], eigvals_only=True, subset_by_index=[0, min(2, int(np.sum(free)) - 1)])


def _held(problem: Problem, pieces: Pieces, at: Callable[[FloatArray], FloatArray], one: float, other: float) -> bool:
    """Are values of u given where the circle meets the boundary between two angles?"""
    first = float(pieces.whole.height(at(np.array([one])))[0]) < 0.0
    for _ in range(HALVINGS):
        middle = 0.5 * (one + other)
        if (float(pieces.whole.height(at(np.array([middle])))[0]) < 0.0) == first:
            one = middle
        else:
            other = middle
    x = lasting(problem, at(np.array([0.5 * (one + other)])))
    around = [
        c for c in problem.conditions if c.on.intrinsic_dim == problem.dim - 1 and not c.across and not c.integral
    ]
    return next((c.op is itself for c in around if c.on.contains(x)[0]), True)

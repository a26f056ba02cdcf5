"""Are the coefficients under a derivative smooth, and fine enough to be seen at the points?

Automatic differentiation gives the derivative of a coefficient at each point, and nothing in between. Where a jumps it
says 0, and −div(a ∇u) becomes −a Δu with no condition at the jump: another equation, whose flux a ∂ₙu jumps too. So the
derivatives are compared with what the coefficient does between neighbouring points x and y:

    c(y) − c(x)     against     ∫ ∇c · ds along the segment, by Simpson's rule from the derivatives.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import jax
import numpy as np
from scipy.spatial import KDTree

from kernop.basics.errors import FloatArray, IntArray, JumpError, fail
from kernop.basics.precision import eagerly
from kernop.basics.stored import Extended, stored
from kernop.collocation.ansatz import Ansatz, Tabulated
from kernop.collocation.cells.jumps import broken, jumps
from kernop.collocation.functionals import Term
from kernop.collocation.subdomains import Subdomains, subdomains_of
from kernop.collocation.units import Frame
from kernop.geometry import Points
from kernop.geometry.cloud import CloudRegion
from kernop.language.coefficients import Coefficient
from kernop.language.conditions import Condition
from kernop.language.functions import padded
from kernop.language.interface import completed
from kernop.language.ops import SCALAR, differentiated, linear_forms
from kernop.language.periodic import Paired
from kernop.language.piecewise import Piecewise
from kernop.language.problem import Problem
from kernop.language.unknowns import Unknowns

#: Segments that are looked at, and the worst of them that are searched for a jump.
SEGMENTS, SEARCHED = 1000, 32
#: Points, and segments between them, at which coefficients that nothing differentiates are looked at.
DENSE = 4096
#: Points at which it is seen whether a function jumps within a part; and of a piece, whether it is in a region.
LOOKED_AT, FEW = 2048, 64
#: Disagreement, relative to the coefficient: below the first it is smooth, above the second it is not resolved.
SMOOTH, UNRESOLVED = 1e-6, 0.02
#: In the search for a jump a segment is cut so often into so many pieces, the points of all in one call of a function;
#: what is then left of the difference, relative, is a jump.
CUTS, PIECES, JUMP = 7, 64, 1e-6
#: Values below this part of the root mean square of a coefficient do not make its relative changes large.
FLOOR = 0.01


@stored("roughness")
@dataclass(frozen=True)
class Roughness:
    """What a coefficient does between neighbouring points that its derivatives there do not say.

    Attributes:
        part: the largest disagreement, relative to the coefficient; 0 if nothing is differentiated.
        where: in words.
    """

    part: Extended = 0.0
    where: str = ""

    @property
    def unresolved(self) -> bool:
        """Is it too large to be the curvature of a resolved coefficient?"""
        return self.part > UNRESOLVED

    def __str__(self) -> str:
        return (
            f"a coefficient that is not resolved: {self.where} it changes by {100 * self.part:.2g} % between "
            "neighbouring points in a way that its derivatives there do not show"
        )


def roughness(
    condition: Condition,
    points: Points,
    frame: Frame,
    unknowns: Unknowns = SCALAR,
    parts: Subdomains | None = None,
) -> Roughness:
    """How rough the coefficients are that a condition differentiates; a jump in one of them is refused. And is there a
    point in each piece of all that jump?

    Arguments:
        points: where the condition is collocated.
        parts: those of a domain that interfaces cut; between them coefficients may jump.
    """
    if isinstance(condition.op, Tabulated):
        return Roughness()
    name = condition.name
    with eagerly():
        sources = differentiated(condition.op, points, unknowns, of=condition.of, name=name)
        found = [_looked_at(c, points, frame, name, parts) for c in sources]
        found += [_without_points(function, condition, points) for function in broken(condition, unknowns)]
    return max(found, key=lambda r: r.part, default=Roughness())


def _without_points(function: Piecewise, condition: Condition, points: Points) -> Roughness:
    """All of a coefficient is missed where it has a piece, in the region of a condition, in which there is no point."""
    held = np.unique(function.which(points.x))
    for k, region in enumerate(function.regions):
        if k not in held and np.any(condition.on.contains(region.sample(FEW).x)):
            return Roughness(1.0, f"no point of {condition.name!r} lies in {region!r}, where")
    return Roughness()


def between_functions(problem: Problem, count: float, frame: Frame) -> Roughness:
    """What smooth functions do not follow of coefficients that nothing differentiates: potentials, and flows.

    If c jumps by δ within the spacing h of the functions, then so does a ∂^m u by δ ∂^k u: in a ∂^m u + c ∂^k u = f
    they miss about δ h^(m − k) / a of u, which is a reason to look at what they miss, and no more.

    Arguments:
        count: of the functions, for each component of the unknowns.
    """
    parts, found = subdomains_of(problem), [Roughness()]
    with eagerly():
        for condition in problem.conditions:
            plain = not (condition.integral or condition.across or isinstance(condition.op, Tabulated))
            if plain and condition.on.intrinsic_dim == problem.dim and condition.on.known:
                found += _not_followed(condition, problem.unknowns, count, frame, parts)
    return max(found, key=lambda r: r.part)


def _not_followed(
    condition: Condition, unknowns: Unknowns, count: float, frame: Frame, parts: Subdomains | None
) -> list[Roughness]:
    points = condition.on.points if isinstance(condition.on, CloudRegion) else condition.on.sample(DENSE)
    forms, _ = linear_forms(condition.op, points, unknowns, of=condition.of, name=condition.name)
    spacing = (condition.on.measure / float(np.prod(frame.units)) / count) ** (1.0 / points.dim)
    found = list[Roughness]()
    for form in forms:
        order = max((sum(alpha) for _, alpha in form.terms), default=0)
        leading = [(alpha, c) for (_, alpha), c in form.terms.items() if sum(alpha) == order]
        for (_, alpha), c in form.terms.items():
            if sum(alpha) == order or c.constant is not None or c.sources:
                continue
            s = _whole(c, _neighbours(points, frame, DENSE), parts)
            if s is None:
                continue
            size = sum(np.abs(_values(own, s, np.zeros(len(s.x)))) / _units(frame, top) for top, own in leading)
            missed = _beyond_slopes(c, s)[0] / _units(frame, alpha) * spacing ** (order - sum(alpha))
            part = np.divide(missed, size, out=np.zeros_like(missed), where=size > 0.0)
            k = int(np.argmax(part))
            middle = np.array2string(s.x[k] + 0.5 * s.step[k], precision=4)
            found.append(Roughness(float(part[k]), f"in {condition.name!r}, near x = {middle}"))
    return found


def _units(frame: Frame, alpha: tuple[int, ...]) -> float:
    return float(np.prod(frame.units ** np.asarray(alpha)))


def with_interfaces(problem: Problem) -> Problem:
    """The problem with an interface wherever a `Piecewise` coefficient jumps under a derivative; see `completed`."""
    return completed(problem, [own for c in problem.conditions for own in jumps(c, problem.unknowns)])


def open_jumps(problem: Problem) -> list[tuple[str, Piecewise]]:
    """Names of conditions, and functions under their derivatives that jump where the problem has no interface."""
    parts, found = subdomains_of(problem), list[tuple[str, Piecewise]]()
    for condition in problem.conditions:
        own = () if condition.across else jumps(condition, problem.unknowns)
        if not own:
            continue
        x = condition.on.sample(LOOKED_AT).x
        part = np.zeros(len(x)) if parts is None else parts.which(x)
        for function in own:
            both = np.stack([part, function.which(x)], axis=1)
            if len(np.unique(both, axis=0)) > len(np.unique(part)):
                found.append((condition.name, function))
    return found


def unlike_sides(problem: Problem) -> list[tuple[str, FloatArray]]:
    """Periodic conditions, by name, and a place at which the leading coefficients of an equation are others than on the
    other side: slopes are equal there, and fluxes are not.
    """
    found, ansatz = list[tuple[str, FloatArray]](), Ansatz(problem.unknowns)
    inside = [c for c in problem.conditions if c.on.intrinsic_dim == problem.dim and not c.integral]
    for condition in problem.conditions:
        if not isinstance(condition, Paired) or not condition.on.known or condition.on.sample(1).timed:
            continue
        here = condition.on.sample(FEW)
        there = condition.partners(here)
        for own in inside:
            if isinstance(own.op, Tabulated):
                continue
            one, other = (_leading(ansatz, own, x) for x in (here, there))
            none = np.zeros(len(here))
            pairs = [(one.get(key, none), other.get(key, none)) for key in one | other]
            apart = np.any([np.abs(a - b) > SMOOTH * (np.abs(a) + np.abs(b)) for a, b in pairs], axis=0)
            if np.any(apart):
                found.append((condition.name, here.x[np.argmax(apart)]))
                break
    return found


def _leading(ansatz: Ansatz, condition: Condition, points: Points) -> dict[tuple[int, Term], FloatArray]:
    """The coefficients of the highest derivatives at points, (n,) each; those that vanish may be left out."""
    blocks = ansatz.functionals(condition.op, points, of=condition.of, name=condition.name).blocks
    order = max(block.order for block in blocks)
    terms = [(b, k, term) for b, block in enumerate(blocks) for k, term in enumerate(block.terms)]
    return {(b, term): blocks[b].coefficients[:, k] for b, k, term in terms if sum(term[1]) == order}


@dataclass(frozen=True, eq=False)
class _Segments:
    """From x to x + step, each (n, d), with the normals at x."""

    x: FloatArray
    step: FloatArray
    normal: FloatArray | None

    def part(self, rows: IntArray) -> _Segments:
        return _Segments(self.x[rows], self.step[rows], None if self.normal is None else self.normal[rows])


def _looked_at(c: Coefficient, points: Points, frame: Frame, name: str, parts: Subdomains | None) -> Roughness:
    segments = _whole(c, _neighbours(points, frame), parts)
    if segments is None:
        return Roughness()
    missed, first, last = _beyond_slopes(c, segments)
    size = 0.5 * (np.abs(first) + np.abs(last)) + FLOOR * np.sqrt(np.mean(np.square(np.abs(first))))
    part = np.divide(missed, size, out=np.zeros_like(missed), where=size > 0.0)
    worst = np.argsort(-part)[:SEARCHED]
    if part[worst[0]] > SMOOTH:
        _refuse_jumps(c, segments.part(worst), size[worst], name)
    middle = segments.x[worst[0]] + 0.5 * segments.step[worst[0]]
    return Roughness(float(part[worst[0]]), f"in {name!r}, near x = {np.array2string(middle, precision=3)},")


def _whole(c: Coefficient, segments: _Segments | None, parts: Subdomains | None) -> _Segments | None:
    """Segments on which a coefficient does not jump, as far as the problem tells."""
    for function in c.functions:
        if isinstance(function, Piecewise):
            segments = _unbroken(segments, function.which, 3)
    return segments if parts is None else _unbroken(segments, parts.which, 9)


def _beyond_slopes(c: Coefficient, s: _Segments) -> tuple[FloatArray, FloatArray, FloatArray]:
    """What c does along each segment that its derivatives there do not say; and c at both ends, (n,) each."""
    (first, _, last), slopes = _with_slopes(c, s)
    return np.abs(last - first - (slopes[0] + 4.0 * slopes[1] + slopes[2]) / 6.0), first, last


def _neighbours(points: Points, frame: Frame, most: int = SEGMENTS) -> _Segments | None:
    """Segments between neighbours; on a line all that follow each other."""
    n, d = points.x.shape
    if n < 2:
        return None
    natural = (points.x - frame.low) / frame.units
    if d == 1:
        order = np.argsort(natural[:, 0])
        pairs = np.stack([order[:-1], order[1:]], axis=1)
    else:
        near = np.asarray(KDTree(natural).query(natural, k=min(n, 2 * d + 1))[1])[:, 1:]
        one, other = np.repeat(np.arange(n), near.shape[1]), near.ravel()
        # Neighbours of each other make one segment.
        pairs = np.stack(np.divmod(np.unique(np.minimum(one, other) * n + np.maximum(one, other)), n), axis=1)
    if len(pairs) > most and d > 1:
        pairs = pairs[np.random.default_rng(0).choice(len(pairs), most, replace=False)]
    start, stop = pairs.T
    normal = None if points.normal is None else points.normal[start]
    return _Segments(points.x[start], points.x[stop] - points.x[start], normal)


def _unbroken(s: _Segments | None, which: Callable[[FloatArray], IntArray], looks: int) -> _Segments | None:
    """Those segments that stay in one piece, as far as so many of their points show; None if there are none."""
    if s is None:
        return None
    found = np.stack([which(s.x + t * s.step) for t in np.linspace(0.0, 1.0, looks)])
    rows = np.flatnonzero(np.all(found == found[0], axis=0))
    return s.part(rows) if len(rows) else None


def _values(c: Coefficient, s: _Segments, t: FloatArray) -> FloatArray:
    """c at the part t (n,) of each segment, (n,)."""
    x = s.x + t[:, None] * s.step
    normal = None if s.normal is None else padded(s.normal)
    with np.errstate(all="ignore"):
        return np.asarray(c.at(padded(x), normal))[: len(x)]


def _with_slopes(c: Coefficient, s: _Segments) -> tuple[FloatArray, FloatArray]:
    """c, and its derivative along each segment times the length, at the start, the middle and the end: (3, n) each."""
    x = np.concatenate([s.x + t * s.step for t in (0.0, 0.5, 1.0)])
    normal = None if s.normal is None else padded(np.tile(s.normal, (3, 1)))
    step = padded(np.tile(s.step, (3, 1)))
    with np.errstate(all="ignore"):
        found = jax.jvp(lambda y: c.at(y, normal), (padded(x),), (step,))
    values, slopes = (np.asarray(part)[: len(x)].reshape(3, -1) for part in found)
    return values, slopes


def _refuse_jumps(c: Coefficient, s: _Segments, size: FloatArray, name: str) -> None:
    """Cut the segments into equal pieces, and go on with that of the largest difference: a continuous coefficient has
    none in the end.
    """
    low, width, rows = np.zeros(len(s.x)), 1.0, np.arange(len(s.x))
    ends, between = np.linspace(0.0, 1.0, PIECES + 1), s.part(np.tile(rows, PIECES - 1))
    left, right = _values(c, s, low), _values(c, s, low + width)
    for _ in range(CUTS):
        inner = _values(c, between, np.concatenate([low + width * t for t in ends[1:-1]]))
        values = np.stack([left, *np.split(inner, PIECES - 1), right])
        piece = np.argmax(np.abs(np.diff(values, axis=0)), axis=0)
        left, right = values[piece, rows], values[piece + 1, rows]
        low, width = low + width * ends[piece], width / PIECES
    jump = np.abs(right - left) / size
    worst = int(np.argmax(jump))
    if jump[worst] > JUMP:
        x = s.x[worst] + low[worst] * s.step[worst]
        place = np.array2string(x, precision=4)
        got = f"a coefficient under a derivative that jumps from {left[worst]:.4g} to {right[worst]:.4g} at x = {place}"
        remedy = (
            "under div or grad a coefficient must be continuous: at a jump the flux a ∂u/∂n would not be, because its "
            "derivative there is not seen; state a ko.Interface on the surface of the jump, smooth it over a few "
            "spacings of the points, or say that it jumps, ko.Piecewise({region: value}), which is the strong form "
            "a * laplacian(u) in each piece"
        )
        raise fail(JumpError, name, got, remedy)

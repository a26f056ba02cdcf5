"""What parts take in and give out on the seams between them: values and fluxes, or both mixed.

Across a seam the traces u_k and the fluxes F_i of the equations are continuous: A ∇u·n for Σ A_jl ∂_j ∂_l u, less what
pressures push; and, in equations of fourth order, ∂u/∂n with two fluxes of orders three and two. Where coefficients
jump the flux is the argument of ``div``. Gluing by *values* takes u in and gives F out. Gluing by *mixed* traces takes
F/η + σu in and gives F/η − σu out, with F so normalised that it is ∂u/∂n + … along the outer normal: σ = 1 makes local
problems of Stokes flow that determine their pressures, σ = ∓i local problems of waves that have no resonances.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from kernop.basics.errors import ArgumentError, BoolArray, FloatArray, NumberArray, OperatorError, fail
from kernop.basics.frozen import Kept
from kernop.basics.precision import eagerly
from kernop.collocation.ansatz import Ansatz
from kernop.collocation.cells.elliptic import (
    Kind,
    Table,
    condition_tables,
    equations_of,
    flux_tables,
    kind_of,
    tables_of,
)
from kernop.collocation.cells.kinks import kinks
from kernop.collocation.cells.mosaic import STAR, Mosaic
from kernop.collocation.functionals import Block
from kernop.geometry import Points
from kernop.geometry.points import points_at
from kernop.language.conditions import Condition
from kernop.language.fields import Term
from kernop.language.ops import linear_forms
from kernop.language.problem import Problem
from kernop.language.sides import LIMIT

#: Coefficients on a seam are limits from within a part: the first step away is this part of its size, at least …
STEP = 1e-4
#: … and so much in units of the coordinates, below which rounding rules.
LEAST = 1e-11
#: Fluxes on the two sides of a seam that are nearer to each other, as a part of the largest, are the same.
SAME = 1e-6
#: How often a step is made ten times shorter so that it stays in its piece.
SHORTER = 4

#: What is mixed with u is its slope over the thickness of a part, divided by this, for equations of order 2 and 4.
SLOPE = {2: 1.0, 4: 4.0}

#: How parts are glued: by values, or by mixed traces with σ = 1, −i or i.
Gluing = Literal["values", "robin", "impedance", "conjugate"]
SIGMA: dict[str, complex] = {"robin": 1.0, "impedance": -1j, "conjugate": 1j}


@dataclass(frozen=True, eq=False)
class Exchange:
    """Functionals at the nodes of all seams, seam after seam: for either side (below, above), several channels each.

    Arguments:
        incoming: what a part takes in.
        outgoing: what it gives out.
        shared: is the same on both sides what comes in? Otherwise it is minus what goes out on the other side.
        leading: the components of the space by which conditions are weighted: those that are traced.
        doubled: are the unknowns real, and has each a second component, of which no data tell, as imaginary part?
    """

    incoming: tuple[tuple[Block, ...], tuple[Block, ...]]
    outgoing: tuple[tuple[Block, ...], tuple[Block, ...]]
    shared: bool
    leading: tuple[int, ...]
    doubled: bool = False


def exchange(problem: Problem, found: Mosaic, ansatz: Ansatz, gluing: Gluing) -> Exchange:
    """The traces and fluxes that neighbouring parts exchange across seams, as functionals."""
    kind = kind_of(problem)
    assert isinstance(kind, Kind)
    nodes = _Nodes.of(found)
    values = _values(kind, nodes)
    fluxes = [nodes.scaled(own, kind) for own in _fluxes(problem, found, kind, nodes)]
    doubled = np.iscomplexobj(SIGMA.get(gluing, 1.0)) and not ansatz.complex
    ansatz = replace(ansatz, complex=ansatz.complex or doubled)
    leading = tuple(k for k in range(ansatz.width) if k % ansatz.unknowns.total in kind.traced)
    if gluing == "values":
        into = _blocks(ansatz, nodes, values)
        out = [
            _blocks(ansatz, nodes, [_times(t, sign) for t in own]) for own, sign in zip(fluxes, (1, -1), strict=True)
        ]
        return Exchange((into, into), (out[0], out[1]), True, leading)
    unit = _units(problem, kind, nodes, fluxes) if kind.order == 2 else _plate_units(problem, kind, nodes)
    sigma = SIGMA[gluing]
    sides = [_normalised(own, unit, sign) for own, sign in zip(fluxes, (1.0, -1.0), strict=True)]
    mixed = [
        [
            _blocks(ansatz, nodes, [_plus(f, _times(v, s * sigma)) for f, v in zip(own, values, strict=True)])
            for own in sides
        ]
        for s in (1.0, -1.0)
    ]
    return Exchange((mixed[0][0], mixed[0][1]), (mixed[1][0], mixed[1][1]), False, leading, doubled)


@dataclass(kw_only=True, frozen=True, eq=False)
class _Nodes:
    """The nodes of all seams.

    Arguments:
        x, normal: (n, d).
        seam: to which each belongs, (n,).
        thickness: of the thinner part beside each, along the normal, (n,).
        below, above: the parts beside each, (n,).
    """

    x: FloatArray
    normal: FloatArray
    seam: NDArray[np.intp]
    thickness: FloatArray
    below: NDArray[np.intp]
    above: NDArray[np.intp]

    @classmethod
    def of(cls, found: Mosaic) -> _Nodes:
        sewn = found.sewn
        below, above = np.repeat(sewn.sides, sewn.counts, axis=0).T
        along = np.minimum(*(np.sum(np.abs(sewn.normal) * found.sides[own], axis=1) for own in (below, above)))
        thickness = np.repeat(np.minimum.reduceat(along, np.cumsum(sewn.counts) - sewn.counts), sewn.counts)
        number = np.repeat(np.arange(len(sewn.counts)), sewn.counts)
        return cls(x=sewn.x, normal=sewn.normal, seam=number, thickness=thickness, below=below, above=above)

    def mean(self, values: NumberArray) -> NumberArray:
        """The mean over the nodes of each seam, given to each of them: (n, …)."""
        first = np.flatnonzero(np.diff(self.seam, prepend=-1))
        counts = np.diff(np.append(first, len(self.seam)))
        shape = (-1, *(1,) * (values.ndim - 1))
        return np.repeat(np.add.reduceat(values, first, axis=0) / counts.reshape(shape), counts, axis=0)

    def scaled(self, fluxes: list[Table], kind: Kind) -> list[Table]:
        """Fluxes in one unit: those of second order of a plate are divided by the thickness that scales ∂u/∂n."""
        if kind.order == 2:
            return fluxes
        half = len(fluxes) // 2
        return [*fluxes[:half], *(_times(table, 1.0 / self.thickness) for table in fluxes[half:])]


def _values(kind: Kind, nodes: _Nodes) -> list[Table]:
    """The traces: u_k, and for equations of fourth order h ∂u_k/∂n."""
    d, ones = nodes.x.shape[1], np.ones(len(nodes.x))
    found: list[Table] = [{(k, (0,) * d): ones} for k in kind.traced]
    if kind.order == 4:
        found += [{(k, _unit(d, j)): nodes.thickness * nodes.normal[:, j] for j in range(d)} for k in kind.traced]
    return found


def _fluxes(problem: Problem, found: Mosaic, kind: Kind, nodes: _Nodes) -> list[list[Table]]:
    """The fluxes along the normal from below and from above; the latter are the former where nothing jumps."""
    if found.pieces.parts is None:
        points = points_at(nodes.x, problem.timed, nodes.normal)
        own = _of_plates(problem, kind, points) if kind.order == 4 else _divergences(problem, kind, points, False)
        return [own, own]
    if kind.order == 4:
        raise fail(ArgumentError, "method", "a Partition for a plate whose coefficients jump", "use ko.Subspace()")
    aside = [
        _aside(found, nodes.x, sign * nodes.normal, own) for sign, own in ((-1.0, nodes.below), (1.0, nodes.above))
    ]
    limits = [_limit(problem, kind, nodes, step) for step in aside]
    _check_told(problem, kind, points_at(nodes.x[:1], problem.timed, nodes.normal[:1]), limits)
    if problem.dim > 1:
        return limits
    # Where a coefficient is like a root, or cells are small, its limits are far off; where it bends, it is continuous.
    one, other = (found.owners[own, 1] for own in (nodes.below, nodes.above))
    smooth = (one == other) | np.isin(nodes.x[:, 0], kinks(problem).places)
    plain = _divergences(problem, kind, points_at(nodes.x, problem.timed, nodes.normal), True)
    return [[_either(smooth, *own) for own in zip(plain, side, strict=True)] for side in limits]


def _either(first: BoolArray, one: Table, other: Table) -> Table:
    """At each node what stands in one of two tables."""
    return {term: np.where(first, one.get(term, 0.0), other.get(term, 0.0)) for term in {**one, **other}}


def _aside(found: Mosaic, x: FloatArray, direction: FloatArray, parts: NDArray[np.intp]) -> FloatArray:
    """A step from each node that can be taken three times without leaving its piece, (n, d)."""
    size = np.max(found.sides[:, : found.pieces.dim], axis=1)[parts]
    least = LEAST * np.maximum(1.0, np.max(np.abs(x), axis=1))
    length, pieces = np.maximum(STEP * size, least), found.owners[parts, 1]
    within = (found.singular == STAR)[parts]  # a star has several pieces
    pieces[within] = found.pieces.which(x[within] + 4.0 * least[within, None] * direction[within])
    asked = np.arange(len(x))
    for _ in range(SHORTER):
        y, step = x[asked], length[asked, None] * direction[asked]
        left = np.any([found.pieces.which(y + k * step) != pieces[asked] for k in (1, 2, 3)], axis=0)
        asked = asked[left]
        if len(asked) == 0:
            break
        length[asked] = np.maximum(0.1 * length[asked], least[asked])
    return length[:, None] * direction


def _limit(problem: Problem, kind: Kind, nodes: _Nodes, step: FloatArray) -> list[Table]:
    """Fluxes on seams as limits from the side to which steps (n, d) lead."""
    totals: list[Table] = [{} for _ in kind.balanced]
    for k, weight in enumerate(LIMIT, start=1):
        there = _divergences(problem, kind, Points(nodes.x + k * step, nodes.normal, problem.timed), True)
        for total, table in zip(totals, there, strict=True):
            for term, values in table.items():
                total[term] = total.get(term, 0.0) + weight * values
    return totals


def _divergences(problem: Problem, kind: Kind, points: Points, jumps: bool) -> list[Table]:
    """The fluxes of equations: what stands in their div, or, if that is not plain, that of their highest terms."""
    found: list[Table] = []
    for condition in equations_of(problem):
        plain = flux_tables(problem, condition, points)
        if plain is not None and not kind.pressures and len(plain) == _components(problem, condition, points):
            found += plain
            continue
        own = condition_tables(problem, condition, points)
        if plain is None or len(plain) != len(own):
            found += [_second_order(table, kind, points) for table in own]
            continue
        for table, flux in zip(own, plain, strict=True):
            pushes = {k for k, alpha in table if sum(alpha) == 1} & set(kind.pressures)
            if jumps and pushes - {k for k, _ in flux}:
                remedy = "write the pressure into it, as in -div(2 * mu * sym(grad(u)) - p * identity(u))"
                raise fail(OperatorError, condition.name, "a div without the pressure, where coefficients jump", remedy)
            found.append(_second_order(table, kind, points) if pushes - {k for k, _ in flux} else flux)
    return [found[i] for i in kind.balanced]


def _check_told(problem: Problem, kind: Kind, points: Points, sides: Sequence[Sequence[Table]]) -> None:
    """Raise if coefficients of second order jump in an equation of which no div tells what is continuous there."""
    names, told = list[str](), list[bool]()
    for condition in equations_of(problem):
        count, plain = _components(problem, condition, points), flux_tables(problem, condition, points)
        names += count * [condition.name]
        told += count * [plain is not None and len(plain) == count]
    for row, below, above in zip(kind.balanced, *sides, strict=True):
        apart = [np.max(np.abs(own), initial=0.0) for own in _plus(below, _times(above, -1.0)).values()]
        size = [np.max(np.abs(own), initial=0.0) for own in (*below.values(), *above.values())]
        if not told[row] and max(apart, default=0.0) > SAME * max(size, default=0.0):
            got = "coefficients that jump, and no div or laplacian that tells which flux is continuous there"
            raise fail(OperatorError, names[row], got, "write the flux into one div, as in -div(a * grad(u))")


_numbers: Kept[Problem, dict[str, int]] = Kept()


def _components(problem: Problem, condition: Condition, points: Points) -> int:
    """How many scalar equations a condition is."""
    known = _numbers.of(problem, dict[str, int])
    if condition.name not in known:
        with eagerly():
            forms, _ = linear_forms(condition.op, points, problem.unknowns, of=condition.of, name=condition.name)
        known[condition.name] = len(forms)
    return known[condition.name]


def _second_order(table: Table, kind: Kind, points: Points) -> Table:
    """n·A∇u for Σ A_jl ∂_j ∂_l u, and b·n p for b·∇p."""
    found: Table = {}
    assert points.normal is not None
    d = points.dim
    for (k, alpha), values in table.items():
        if k in kind.pressures and sum(alpha) == 1:
            term = (k, (0,) * d)
            found[term] = found.get(term, 0.0) + values * points.normal[:, alpha.index(1)]
        if k not in kind.traced or sum(alpha) != 2 or (points.timed and alpha[-1]):
            continue
        axes = [j for j in range(d) for _ in range(alpha[j])]
        for i, j in ((axes[0], axes[1]), (axes[1], axes[0])):
            term = (k, _unit(d, j))
            found[term] = found.get(term, 0.0) + 0.5 * values * points.normal[:, i]
    return found


def _of_plates(problem: Problem, kind: Kind, points: Points) -> list[Table]:
    """a(n) ∂_n Δu for each equation, then −a(n) Δu for each, with a(n) = Σ a_α n^α over |α| = 4."""
    assert points.normal is not None
    d, tables = points.dim, tables_of(problem, points)
    third, second = [Table() for _ in kind.balanced], [Table() for _ in kind.balanced]
    for place, row in enumerate(kind.balanced):
        for (k, alpha), values in tables[row].items():
            if sum(alpha) != 4:
                continue
            along = values * np.prod(points.normal ** np.array(alpha), axis=1)
            for j in range(d):
                twice = 2 * np.array(_unit(d, j))
                _add(second[place], (k, tuple(twice.tolist())), -along)
                for i in range(d):
                    term = (k, tuple((twice + np.array(_unit(d, i))).tolist()))
                    _add(third[place], term, along * points.normal[:, i])
    return [*third, *second]


def _add(table: Table, term: Term, values: NumberArray) -> None:
    table[term] = table.get(term, 0.0) + values


def _units(problem: Problem, kind: Kind, nodes: _Nodes, fluxes: list[list[Table]]) -> NDArray[np.complex128]:
    """(η S)⁻¹ Uᴴ at each node, the same for all of a seam: (n, r, r), with N_ik the coefficient of ∂u_k/∂n in F_i.

    N = U H is its polar decomposition, so that Uᴴ F has the sign of the slopes of u, and S for the components of one
    unknown the least eigenvalue of H: of elastic bodies that hardly change their volume the softer one. η is the wave
    number there, or `SLOPE` over the thickness of parts if that is more.
    """
    points, r = points_at(nodes.x, problem.timed, nodes.normal), len(kind.traced)
    d = points.dim
    slopes, zeroth = np.zeros((2, len(nodes.x), r, r), dtype=complex)
    tables = tables_of(problem, points)
    for own, row in enumerate(kind.balanced):
        for place, k in enumerate(kind.traced):
            zeroth[:, own, place] = tables[row].get((k, (0,) * d), 0.0)
            for side in fluxes:
                for j in range(d):
                    slopes[:, own, place] += 0.5 * side[own].get((k, _unit(d, j)), 0.0) * nodes.normal[:, j]
    slopes = nodes.mean(slopes)
    left, size, right = np.linalg.svd(slopes)
    turned = _adjoint(left @ right)  # Uᴴ
    stretch = _adjoint(right) @ (size[..., None] * right)
    soft = np.empty((len(nodes.x), r))
    for own in problem.unknowns.slices.values():
        places = [place for place, k in enumerate(kind.traced) if own.start <= k < own.stop]
        if places:
            soft[:, places] = np.linalg.eigvalsh(stretch[:, places][:, :, places])[:, :1]
    waves = np.sqrt(np.linalg.norm(np.linalg.inv(slopes) @ nodes.mean(zeroth), ord=2, axis=(1, 2)))
    return turned / (soft * np.maximum(waves, SLOPE[2] / nodes.thickness)[:, None])[:, :, None]


def _plate_units(problem: Problem, kind: Kind, nodes: _Nodes) -> NDArray[np.complex128]:
    """−h³/(a κ³) for u and −h³/(a κ) for h ∂u/∂n, κ/h the wave number, or more than `SLOPE` / h: (n, 2, 2)."""
    (k,), (row,), d = kind.traced, kind.balanced, nodes.x.shape[1]
    table = tables_of(problem, points_at(nodes.x, problem.timed, nodes.normal))[row]
    along = np.zeros(len(nodes.x), dtype=complex)
    for (own, alpha), values in table.items():
        if own == k and sum(alpha) == 4:
            along += values * np.prod(nodes.normal ** np.array(alpha), axis=1)
    along = nodes.mean(along)
    zeroth = nodes.mean(np.zeros(len(along)) + table.get((k, (0,) * d), 0.0j))
    turns = np.maximum(SLOPE[4], nodes.thickness * np.abs(zeroth / along) ** 0.25)
    found = np.zeros((len(nodes.x), 2, 2), dtype=complex)
    found[:, 0, 0] = -(nodes.thickness**3) / (along * turns**3)
    found[:, 1, 1] = -(nodes.thickness**3) / (along * turns)
    return found


def _adjoint(matrices: NDArray[np.complex128]) -> NDArray[np.complex128]:
    return np.conj(np.swapaxes(matrices, 1, 2))


def _normalised(fluxes: list[Table], unit: NDArray[np.complex128], sign: float) -> list[Table]:
    """Fluxes in units of u, ±(η N)⁻¹ F, with N the coefficients of ∂u/∂n in F and η a wave number or inverse length."""
    found: list[Table] = []
    for i in range(len(fluxes)):
        total: Table = {}
        for k, table in enumerate(fluxes):
            factor = unit[:, i, k] if np.any(np.imag(unit)) else np.real(unit[:, i, k])
            total = _plus(total, _times(table, sign * factor))
        found.append(total)
    return found


def _blocks(ansatz: Ansatz, nodes: _Nodes, tables: list[Table]) -> tuple[Block, ...]:
    """Real functionals of the components of the space."""
    return ansatz.split(nodes.x, tables, True).blocks


def _times(table: Table, factor: object) -> Table:
    return {term: values * factor for term, values in table.items()}


def _plus(one: Table, other: Table) -> Table:
    return {t: np.asarray(one.get(t, 0.0)) + np.asarray(other.get(t, 0.0)) for t in (*one, *other)}


def _unit(dim: int, axis: int) -> tuple[int, ...]:
    return tuple(int(j == axis) for j in range(dim))

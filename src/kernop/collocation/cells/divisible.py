"""Which problems can be solved on cells, and the pieces between which their coefficients jump."""

from __future__ import annotations

import numpy as np

from kernop.basics.errors import ArgumentError, fail
from kernop.collocation.ansatz import Tabulated
from kernop.collocation.cells.elliptic import equations_of, kind_of
from kernop.collocation.cells.jumps import broken, fixed_jumps
from kernop.collocation.cells.kinks import kinks
from kernop.collocation.cells.lasting import lasting_region, space_of, times_of, too_brief, without_parts
from kernop.collocation.cells.pieces import Pieces
from kernop.collocation.subdomains import Subdomains, occurring
from kernop.geometry import Interval, Region
from kernop.geometry.domain import Domain
from kernop.language.problem import Problem


def unsupported(problem: Problem) -> str | None:
    """Why a problem cannot be solved on cells, in words; None if it can."""
    equations = equations_of(problem)
    if not equations or space_of(equations[0].on) is None or problem.dim > 3:
        return "an equation without a domain of at most three dimensions with a known boundary"
    if any(c.on is not equations[0].on for c in equations):
        return "equations that are stated on different domains"
    if problem.timed:
        return without_parts(problem) or _brief(problem) or _reason(problem)
    if any(isinstance(c.op, Tabulated) for c in problem.conditions):
        return "an operator that is known at some points only"
    if any(c.noise is not None or c.paired for c in problem.conditions):
        return "sensors, or periodic sides"
    if any(c.on.intrinsic_dim < problem.dim - 1 and not c.integral for c in problem.conditions):
        return "conditions at single points, or on lines in space"
    if any(c.across for c in problem.conditions):
        return "an Interface; where a Piecewise coefficient jumps, parts keep u and its flux continuous without one"
    return _reason(problem)


def _brief(problem: Problem) -> str | None:
    times = times_of(problem)
    found = [] if times is None else [too_brief(region, times) for region in _jumped(problem)]
    return next((own for own in found if own is not None), None)


def _reason(problem: Problem) -> str | None:
    found = kind_of(problem)
    return found if isinstance(found, str) else None


def pieces_of(problem: Problem) -> Pieces:
    """The domain of a problem, and the pieces between which its coefficients jump; an error if it has no cells."""
    pieces = supported_pieces(problem)
    if isinstance(pieces, str):
        raise fail(ArgumentError, "method", f"a Partition for {pieces}", "use method=ko.Subspace()")
    return pieces


def supported_pieces(problem: Problem) -> Pieces | str:
    """The same, or why a problem cannot be solved on cells, in words."""
    reason = unsupported(problem)
    if reason is not None:
        return reason
    domain = space_of(equations_of(problem)[0].on)
    assert domain is not None
    return Pieces(domain, jump_parts(problem))


def _jumped(problem: Problem) -> list[Region]:
    """The regions at whose boundaries coefficients, or data that are fixed, jump."""
    functions = [own for c in problem.conditions for own in broken(c, problem.unknowns)]
    functions += fixed_jumps(problem)
    regions = [*problem.cuts, *(region for function in functions for region in function.regions)]
    return list({id(region): region for region in regions}.values())


def _bent(problem: Problem) -> list[Region]:
    """Intervals at whose inner ends coefficients are not smooth on a line."""
    if problem.dim > 1:
        return []
    low = float(equations_of(problem)[0].on.bounds[0][0])
    return [Interval(low, place) for place in kinks(problem).places.tolist()]


def jump_parts(problem: Problem) -> Subdomains | None:
    """The pieces between which coefficients jump, as far as the problem tells; on a line also where they bend."""
    regions = [*_jumped(problem), *_bent(problem)]
    if not regions:
        return None
    times = times_of(problem)
    domains = tuple(regions if times is None else [lasting_region(own, times) for own in regions])
    if not all(isinstance(region, Domain) for region in domains):
        got = "a coefficient that jumps between regions whose boundaries are not known"
        raise fail(ArgumentError, "method", got, "give boxes, balls, polygons, or combinations of them")
    if times is None:
        return occurring(problem, domains)
    x = equations_of(problem)[0].on.sample(4096).x[:, : domains[0].dim]
    inside = np.stack([own.contains(x) for own in domains], axis=1)
    return Subdomains(domains, np.unique(inside, axis=0).astype(np.int64))

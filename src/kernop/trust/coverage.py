"""Is something said of u on all of the boundary? An elliptic equation of second order asks for that.

Where it degenerates at the boundary it does not, see `degenerate`; nor on an interval: there any two numbers determine
u, as its value and slope at one point.
"""

from __future__ import annotations

import numpy as np

from kernop.basics.errors import FloatArray
from kernop.collocation.functionals import Block, Functionals
from kernop.geometry.domain import Domain
from kernop.language.problem import Problem
from kernop.trust.degenerate import needs_no_condition

#: Points of the boundary that are looked at, and the part of them that may be missed: ends of pieces to rounding.
LOOK, MISSED = 1024, 0.01


def open_boundary(problem: Problem, rows: Functionals) -> FloatArray | None:
    """A place on the boundary of a domain where no condition holds, though the equation asks for one; None if none.

    Arguments:
        rows: the conditions at some points.
    """
    pairs = zip(problem.conditions, rows.conditions, strict=True)
    inner = [(c.on, own) for c, own in pairs if c.on.intrinsic_dim == problem.dim and not c.integral]
    if len(inner) != 1 or problem.timed or problem.dim == 1:
        return None
    domain, equation = inner[0]
    if not isinstance(domain, Domain) or len(equation.blocks) != 1 or not _elliptic(equation.blocks[0]):
        return None
    boundary = domain.boundary.sample(LOOK)
    x, normal = boundary.x, boundary.normal
    around = [c.on for c in problem.conditions if c.on.intrinsic_dim < problem.dim and c.on.known and not c.integral]
    if any(c.paired for c in problem.conditions) or any(not c.on.known for c in problem.conditions):
        return None
    held = np.any([np.zeros(len(x), dtype=bool), *(region.contains(x) for region in around)], axis=0)
    if np.any(~held) and normal is not None:
        held[~held] = needs_no_condition(problem, x[~held], normal[~held])
    if np.mean(~held) <= MISSED:
        return None
    free = x[~held]
    # Far from what is held, so that the place is typical.
    apart = [np.min(np.linalg.norm(x[held] - own, axis=1)) if np.any(held) else 0.0 for own in free]
    return free[int(np.argmax(apart))]


def _elliptic(block: Block) -> bool:
    """Is Σ φ_α k^α of second order, and of one sign for all directions k, at all points?"""
    alphas = np.asarray(block.alphas)
    second = alphas.sum(axis=1) == 2
    if block.order != 2 or len(block.components) > 1:
        return False
    d = alphas.shape[1]
    directions = np.random.default_rng(0).normal(size=(64, d))
    symbol = block.coefficients[:, second] @ np.prod(directions[:, None, :] ** alphas[second], axis=2).T
    return bool(np.all(symbol > 0.0) or np.all(symbol < 0.0))

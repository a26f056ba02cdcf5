"""How rough u is where lines meet on which coefficients jump: u ~ r^γ φ(θ), and γ by an eigenvalue problem on a circle.

Around a place at which −div(a ∇u) = 0 has coefficients a(θ) the functions r^γ φ(θ) solve it if

    −(a φ′)′ = γ² a φ        on the circle, or on its arc inside the domain,

with φ = 0 where values of u are given at an end of the arc, and φ′ = 0 where something else is.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from scipy.linalg import eigh

from kernop.basics.errors import BoolArray, FloatArray
from kernop.collocation.elliptic import tables_of
from kernop.collocation.lasting import lasting
from kernop.collocation.pieces import Pieces
from kernop.geometry import Points
from kernop.language.ops import itself
from kernop.language.problem import Problem

#: Elements on the circle, and its radius as a part of the distance to the nearest other place.
ELEMENTS, RADIUS = 360, 1e-3
#: What is taken where an equation has no coefficients of second order, as one of several.
UNKNOWN = 0.6
#: Eigenvalues below this are those of constants.
CONSTANT = 1e-6
#: Halvings by which the end of an arc is found.
HALVINGS = 40


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
    """The mean of the coefficients of ∂²u/∂x² and ∂²u/∂y² of the first equation, (n,)."""
    table = tables_of(problem, Points(lasting(problem, x), None, problem.timed))[0]
    second: list[FloatArray] = [np.zeros(len(x))]
    second += [np.real(v) * np.ones(len(x)) for (_, alpha), v in table.items() if 2 in alpha[:2]]
    return 0.5 * np.abs(np.sum(second, axis=0))


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

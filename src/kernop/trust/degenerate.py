"""Where the boundary needs no condition: no diffusion goes through it there, and nothing flows in.

With s (Σ a_jl ∂_j ∂_l u + Σ b_j ∂_j u + c u) = f, s = ±1, a positive inside, and m the inner normal, a side on which
m·a m = 0 takes a condition only where Fichera's function Σ_j m_j (b_j − Σ_l ∂_l a_jl) = m·b − ∂_m (m·a m) is negative.
On the axis of −div(r ∇u) = r f it is 0: whoever multiplies an equation in cylindrical coordinates by r has no condition
to give there.
"""

from __future__ import annotations

import numpy as np

from kernop.basics.errors import BoolArray, FloatArray, KernopError
from kernop.collocation.cells.elliptic import equations_of, tables_of
from kernop.geometry import Points
from kernop.language.problem import Problem

#: The distance from the boundary at which coefficients are looked at, as a part of the extent; twice as far, too.
STEP = 1e-5
#: What is below this part of what is found a step inside vanishes.
VANISHES = 1e-6
#: Fichera's function is negative below minus this part of what a changes by over the extent, seen at so many points.
FLOWS_IN, SEEN = 1e-2, 64


def needs_no_condition(problem: Problem, x: FloatArray, normal: FloatArray) -> BoolArray:
    """At which points of the boundary, with outer normals, a scalar equation of second order degenerates so, (n,)."""
    extent = float(np.max(problem.bounds[1] - problem.bounds[0]))
    step = STEP * extent
    try:
        (here, flow), (near, _), (far, _) = (_through(problem, x - k * step * normal, normal) for k in (0, 1, 2))
        (table,) = tables_of(problem, equations_of(problem)[0].on.sample(SEEN))
    except KernopError:  # a coefficient that is not finite there
        return np.zeros(len(x), dtype=bool)
    size = max(float(np.max(np.abs(values))) for (_, alpha), values in table.items() if sum(alpha) == 2)
    slope = (4.0 * near - far - 3.0 * here) / (2.0 * step)
    vanishes = (near != 0.0) & (np.abs(here) <= VANISHES * np.abs(near))
    return vanishes & (np.sign(near) * (flow - slope) >= -FLOWS_IN * size / extent)


def _through(problem: Problem, x: FloatArray, normal: FloatArray) -> tuple[FloatArray, FloatArray]:
    """m·a m and m·b at points, (n,) each."""
    (table,) = tables_of(problem, Points(x, None, problem.timed))
    found = {1: np.zeros(len(x)), 2: np.zeros(len(x))}
    for (_, alpha), values in table.items():
        if sum(alpha) in found:
            found[sum(alpha)] += np.real(values) * np.prod((-normal) ** np.array(alpha), axis=1)
    return found[2], found[1]

"""The sizes of several unknowns beside each other, and whether they are complex: what an ansatz must know.

With F_cu the typical size of condition c for a smooth unknown u of size 1, scales s_u and weights w_c are sought with
w_c F_cu s_u ≈ 1 wherever c involves u: in logarithms that is a small least-squares problem. So for the Stokes equations
−μ Δu + ∇p = f the scale of p beside that of u is μ / length, as it must be.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import numpy as np

from kernop.basics.errors import FloatArray
from kernop.collocation.ansatz import Ansatz, collocate
from kernop.collocation.functionals import Block, Functionals
from kernop.collocation.subdomains import subdomains_of
from kernop.collocation.units import Frame
from kernop.geometry import Points
from kernop.language.functions import Function
from kernop.language.problem import Problem
from kernop.language.unknowns import Unknowns

#: A smooth field is one that turns by so many radians over one unit of length.
SWING = 2.0 * np.pi


def fitted(
    problem: Problem,
    points: Mapping[str, Points],
    frame: Frame,
    envelope: Function | None = None,
    *,
    cut: bool = True,
) -> tuple[Ansatz, Functionals]:
    """The ansatz for a problem as it is at these points, and its conditions there as functionals.

    With ``cut`` the unknowns have functions of their own on each side of interfaces.
    """
    ansatz = Ansatz(problem.unknowns, envelope, parts=subdomains_of(problem) if cut else None)
    rows = collocate(problem, points, ansatz)
    found = replace(
        ansatz,
        complex=any(layout.complex for layout in rows.layouts),
        scales=() if problem.unknowns.single is not None else unknown_scales(rows, problem.unknowns, frame),
    )
    return found, rows if found == ansatz else collocate(problem, points, found)


def unknown_scales(rows: Functionals, unknowns: Unknowns, frame: Frame) -> tuple[float, ...]:
    """s_k for each component, the same for those of one unknown, and 1 for the first unknown."""
    sizes = np.array([_sizes(own, unknowns, frame) for own in rows.conditions])  # (C, U)
    conditions, owners = np.nonzero(sizes)
    count = len(sizes)
    equations = np.zeros((len(conditions), count + len(unknowns.sizes)))
    equations[np.arange(len(conditions)), conditions] = 1.0
    equations[np.arange(len(conditions)), count + owners] = 1.0
    logarithms = np.linalg.lstsq(equations, -np.log(sizes[conditions, owners]), rcond=None)[0][count:]
    scales = np.exp(logarithms - logarithms[0])
    return tuple(float(scale) for scale, (_, size) in zip(scales, unknowns.sizes, strict=True) for _ in range(size))


def condition_sizes(rows: Functionals, unknowns: Unknowns, frame: Frame) -> tuple[float, ...]:
    """For each condition what it makes of smooth unknowns of size 1, at most."""
    return tuple(float(np.max(_sizes(own, unknowns, frame))) for own in rows.conditions)


def _sizes(rows: Functionals, unknowns: Unknowns, frame: Frame) -> FloatArray:
    """The size of the rows of one condition for each unknown of size 1, (U,)."""
    found = np.zeros(len(unknowns.sizes))
    for block in rows.blocks:
        for k, columns in block.components.items():
            owner = next(u for u, own in enumerate(unknowns.slices.values()) if k % unknowns.total < own.stop)
            found[owner] += sum(_size(block, column, frame) ** 2 for column in columns)
    return np.sqrt(found)


def _size(block: Block, column: int, frame: Frame) -> float:
    """Of φ_α ∂^α v for a smooth v: the root mean square over the points, or the sum if the rows are sums."""
    derivative = float(np.prod((SWING / frame.units) ** np.asarray(block.terms[column][1])))
    values = np.abs(block.coefficients[:, column])
    size = np.sqrt(np.mean(np.square(values))) if block.starts is None else np.sum(values) / len(block)
    return float(size) * derivative

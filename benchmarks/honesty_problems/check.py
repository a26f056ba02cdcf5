"""Are the truths true? Their derivatives by finite differences, put into the conditions of the problem.

Finite differences of nine points along each axis, at steps from a twentieth to a millionth of the side; at each point
the step with the least residual counts. A wrong solution has no step at which it fits. Across a jump of a coefficient
the strong form says nothing: `tests/test_honesty.py` compares those truths with finite volumes.
"""

from __future__ import annotations

from typing import Any

import numpy as np

import kernop as ko
from honesty_problems.case import Case, FloatArray
from kernop.collocation.ansatz import normal_form

STEPS = (5e-2, 2e-2, 7e-3, 2e-3, 6e-4, 1e-4, 1e-5, 1e-6)
STENCIL = 9
#: Places at which a truth is asked for at once.
MANY = 4096


def misfits(case: Case, number: int = 40) -> dict[str, FloatArray]:
    """For each condition: |P u − h| at points, relative, (n,).

    It is divided by the sum of the moduli of the terms φ_α ∂^α u, or, where that is more, of φ_α max|u| / sides^α.
    """
    assert case.truth is not None
    problem = case.problem()
    return {condition.name: _misfit(case, condition, number) for condition in problem.conditions}


def _misfit(case: Case, condition: ko.Condition, number: int) -> FloatArray:
    region, inside = condition.on, case.problem().conditions[0].on
    count = number if region.intrinsic_dim else min(number, int(region.measure))
    points = region.sample(count, "uniform", seed=99)
    form = normal_form(condition.op, points)
    low, high = inside.bounds
    largest = np.max(np.abs(case.truth(inside.sample(200, "uniform", seed=98).x)))
    floor = np.abs(form.coefficients) @ (largest / np.prod((high - low) ** np.asarray(form.alphas), axis=1))
    data = case.inputs[condition.name]
    target = data(points.x) if callable(data) else np.full(count, float(data))
    stencils = [_stencil(points.x, a, step * (high - low), low, high) for step in STEPS for a in form.alphas]
    found = np.stack(_differences(case.truth, stencils)).reshape(len(STEPS), len(form.alphas), count)
    terms = form.coefficients.T * found
    size = np.maximum(np.sum(np.abs(terms), axis=1), floor)
    return np.fmin.reduce(np.abs(np.sum(terms, axis=1) - target) / size, initial=np.inf)


def _differences(u: Any, stencils: list[tuple[FloatArray, FloatArray]]) -> list[FloatArray]:
    """Weighted sums of u over stencils, (n,) each; u is asked for many places at once, but not for all."""
    places = np.concatenate([own.reshape(-1, own.shape[-1]) for own, _ in stencils])
    values = np.concatenate([np.asarray(u(places[k : k + MANY])) for k in range(0, len(places), MANY)])
    ends = np.cumsum([weights.size for _, weights in stencils])[:-1]
    split = np.split(values, ends)
    return [np.sum(w * own.reshape(w.shape), axis=1) for own, (_, w) in zip(split, stencils, strict=True)]


def _stencil(
    x: FloatArray, alpha: Any, steps: FloatArray, low: FloatArray, high: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """The places (n, k, d) and weights (n, k) of differences for ∂^α at x (n, d), within the bounds."""
    places, weights = x[:, None, :], np.ones((len(x), 1))
    for axis, order in enumerate(alpha):
        if not order:
            continue
        reach = STENCIL // 2 * steps[axis]
        shift = np.where(x[:, axis] - reach < low[axis], 1, np.where(x[:, axis] + reach > high[axis], -1, 0))
        offsets = np.arange(STENCIL) - STENCIL // 2 + shift[:, None] * (STENCIL // 2)
        moved = np.repeat(places[:, :, None, :], STENCIL, axis=2)
        moved[..., axis] += offsets[:, None, :] * steps[axis]
        table = np.stack([_weights(order, s) for s in (-1, 0, 1)])[shift + 1] / steps[axis] ** order
        places = moved.reshape(len(x), -1, x.shape[1])
        weights = (weights[:, :, None] * table[:, None, :]).reshape(len(x), -1)
    return places, weights


def _weights(order: int, shift: int) -> FloatArray:
    """Of the finite difference of an order at offsets −4 … 4, moved by ±4."""
    offsets = np.arange(STENCIL) - STENCIL // 2 + shift * (STENCIL // 2)
    powers = np.arange(STENCIL)
    right = np.zeros(STENCIL)
    right[order] = float(np.prod(np.arange(1, order + 1)))
    return np.linalg.solve(offsets[None, :].astype(float) ** powers[:, None], right)

"""Fundamental solutions: L₀ Φ = 0 away from y, their derivatives, and the strength of the source."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from kernop.basics.errors import ArgumentError
from kernop.operators.fundamental import Fundamental, fundamental, operator_on, remainder

RNG = np.random.default_rng(0)


def second_order(d: int, c: float, *, drift: bool = True, sign: float = 1.0) -> dict[Any, float]:
    """−A:∇∇ + b·∇ + c with a full matrix A, times a sign."""
    M = RNG.normal(size=(d, d))
    A, units = M @ M.T + np.eye(d), np.eye(d, dtype=int)
    table: dict[Any, float] = {(0,) * d: sign * c}
    for i in range(d):
        table[tuple(units[i])] = sign * float(RNG.normal()) * drift
        for j in range(i, d):
            table[tuple(units[i] + units[j])] = -sign * A[i, j] * (1 if i == j else 2)
    return table


def biharmonic(d: int, a: float) -> dict[Any, float]:
    units = 2 * np.eye(d, dtype=int)
    return {tuple(units[i] + units[j]): a * (1 if i == j else 2) for i in range(d) for j in range(i, d)}


CASES = {
    **{f"{d}-D, c = {c}": (d, second_order(d, c)) for d in (1, 2, 3, 4, 5) for c in (30.0, -30.0)},
    **{f"{d}-D, principal": (d, second_order(d, 0.0, drift=False, sign=-1.0)) for d in (1, 2, 3, 4, 5)},
    **{f"{d}-D, a Δ²": (d, biharmonic(d, -3.0)) for d in (2, 3, 5)},
}


def phi_of(case: str) -> tuple[Fundamental, dict[Any, float], Any]:
    d, table = CASES[case]
    y = np.linspace(0.1, 0.4, d)
    return fundamental(y, table, 1.0, "f"), table, y + RNG.normal(size=(20, d)) * 0.5


@pytest.mark.parametrize("case", CASES)
def test_derivatives_are_differences(case: str) -> None:
    phi, table, x = phi_of(case)
    step = 1e-5
    for alpha in {*table} - {(0,) * x.shape[1]}:
        axis = int(np.argmax(np.asarray(alpha) > 0))
        unit = np.eye(x.shape[1])[axis]
        lower = tuple(int(v) for v in np.asarray(alpha) - unit)
        ahead, behind = (phi.derivative(lower, x + s * step * unit) for s in (1, -1))
        found = phi.derivative(alpha, x)
        rounding = 1e-15 * np.max(np.abs(ahead)) / step  # all there is where a derivative is 0
        size = 1e-5 * np.max(np.abs(found))
        np.testing.assert_allclose(found, (ahead - behind) / (2 * step), atol=size + rounding, rtol=1e-4)


@pytest.mark.parametrize("case", CASES)
def test_the_equation_holds_away_from_the_source(case: str) -> None:
    phi, table, x = phi_of(case)
    coefficients = {alpha: np.full(len(x), value) for alpha, value in table.items()}
    terms = sum(np.abs(value * phi.derivative(alpha, x)) for alpha, value in table.items())
    assert np.all(np.abs(operator_on(phi, coefficients, x)) <= 1e-10 * terms + 1e-14)
    np.testing.assert_array_equal(remainder(phi, coefficients, x), 0.0)


@pytest.mark.parametrize("case", CASES)
def test_the_source_has_strength_one(case: str) -> None:
    """The flux of the highest derivatives out of a small sphere round y: −A∇Φ·n, or a ∂ₙΔΦ."""
    d, table = CASES[case]
    phi, _, _ = phi_of(case)
    n = RNG.normal(size=(20_000 if d > 1 else 2, d)) if d > 1 else np.array([[-1.0], [1.0]])
    n /= np.linalg.norm(n, axis=1, keepdims=True)
    radius, units = 1e-4, np.eye(d, dtype=int)
    x = phi.y + radius * n
    area = 2 * math.pi ** (d / 2) / math.gamma(d / 2) * radius ** (d - 1)

    def at(*axes: int) -> Any:
        return phi.derivative(tuple(int(v) for v in sum(units[axis] for axis in axes)), x)

    if phi.kind == "biharmonic":
        a = table[(4, *(0,) * (d - 1))]
        flux = a * sum(n[:, i] * at(i, j, j) for i in range(d) for j in range(d))
    else:
        principal = {
            (i, j): table[tuple(units[i] + units[j])] * (1 if i == j else 0.5) for i in range(d) for j in range(d)
        }
        flux = sum(value * n[:, i] * at(j) for (i, j), value in principal.items())
    assert area * np.mean(flux) == pytest.approx(1.0, rel=3e-2)


def test_what_is_not_known_is_refused() -> None:
    y = np.array([0.5, 0.5])
    for table, words in (
        ({(1, 0): 1.0}, "order 1"),
        ({(3, 0): 1.0, (0, 2): 1.0}, "order 3"),
        ({(2, 0): 1.0, (0, 2): -1.0}, "not elliptic"),
        ({(2, 0): -1.0}, "not elliptic"),
        ({(4, 0): 1.0, (0, 4): 1.0}, "not a Δ²"),
        ({(2, 0): -1.0, (0, 2): -1.0, (0, 0): 1j}, "complex"),
    ):
        with pytest.raises(ArgumentError, match=words):
            fundamental(y, table, 1.0, "f")

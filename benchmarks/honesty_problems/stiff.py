"""Ordinary differential equations: stiff, growing, oscillating; values at one end, or at both."""

from __future__ import annotations

from functools import cache
from typing import Any

import jax.numpy as jnp
import numpy as np
from scipy.integrate import solve_ivp

import kernop as ko
from honesty_problems.case import LINE, Case, dirichlet

FAMILY = "1-D"


def relaxation(rate: float, domain: ko.Interval) -> Any:
    """u′ + λ u = f, u given on the left."""
    return lambda: ko.Problem(
        ko.Equation(lambda u: ko.partial(u, 0) + rate * u, on=domain, name="f"),
        ko.Dirichlet(on=domain.face("left"), name="g"),
    )


def following(rate: float, start: float) -> tuple[dict[str, Any], Any]:
    """f such that u follows cos t, from ``start``: data and truth, cos t + (start − 1) exp(−λ t)."""
    f = lambda x: rate * np.cos(x[..., 0]) - np.sin(x[..., 0])
    return {"f": f, "g": start}, lambda x: np.cos(x[..., 0]) + (start - 1) * np.exp(-rate * x[..., 0])


def oscillator(stiffness: Any, domain: ko.Interval) -> Any:
    """u″ + k u = 0, u and u′ given on the left."""
    return lambda: ko.Problem(
        ko.Equation(lambda u: ko.partial(u, 0, 2) + stiffness * u, on=domain, name="f"),
        ko.Dirichlet(on=domain.face("left"), name="g"),
        ko.Condition(lambda u: ko.partial(u, 0), on=domain.face("left"), name="v"),
    )


def pumped(x: Any) -> Any:
    """The stiffness of a swing: a parameter that varies with the time."""
    return 20 + 15 * jnp.cos(4 * jnp.pi * x[..., 0])


@cache
def _pumped_path() -> Any:
    rhs = lambda t, y: [y[1], -(20 + 15 * np.cos(4 * np.pi * t)) * y[0]]
    return solve_ivp(rhs, (0, 2), [1.0, 0.0], "DOP853", dense_output=True, rtol=1e-13, atol=1e-14, max_step=0.004).sol


def pumped_truth(x: Any) -> Any:
    return _pumped_path()(np.clip(x[..., 0], 0, 2))[0]


def clamped_beam() -> ko.Problem:
    return ko.Problem(
        ko.Equation(lambda u: ko.partial(u, 0, 4), on=LINE, name="f"),
        ko.Dirichlet(on=LINE.boundary, name="g"),
        ko.Neumann(on=LINE.boundary, name="q"),
    )


def damped(epsilon: float, x: Any) -> Any:
    """ε u″ + u′ + u = 0, u(0) = 0, u(1) = 1: a layer on the left."""
    root = np.sqrt(1 - 4 * epsilon)
    slow, fast = -2 / (1 + root), -(1 + root) / (2 * epsilon)
    s = x[..., 0]
    return (np.exp(slow * s) - np.exp(fast * s)) / (np.exp(slow) - np.exp(fast))


def damped_case(epsilon: float, tol: float) -> Case:
    problem = dirichlet(LINE, lambda u: epsilon * ko.laplacian(u) + ko.partial(u, 0) + u)
    ends = lambda x: np.where(x[..., 0] > 0.5, 1.0, 0.0)
    return Case(FAMILY, f"layer at the left, ε = {epsilon:g}", tol, problem, {"f": 0.0, "g": ends},
                lambda x: damped(epsilon, x))  # fmt: skip


LONG = ko.Interval(0, 2)
SWING = lambda x: np.cos(20 * x[..., 0])
CASES = (
    Case(FAMILY, "stiff, λ = 1000, on the slow path", 1e-8, relaxation(1000.0, LONG), *following(1000.0, 1.0),
         stated=True),
    Case(FAMILY, "stiff, λ = 1000, from rest", 1e-3, relaxation(1000.0, LONG), *following(1000.0, 0.0)),
    Case(FAMILY, "stiff, λ = 50, from rest", 1e-6, relaxation(50.0, LONG), *following(50.0, 0.0)),
    Case(FAMILY, "growth e²⁰", 1e-6, relaxation(-20.0, LINE), {"f": 0.0, "g": 1.0},
         lambda x: np.exp(20 * x[..., 0])),
    Case(FAMILY, "oscillator, 6 periods", 1e-6, oscillator(400.0, LONG), {"f": 0.0, "g": 1.0, "v": 0.0}, SWING),
    Case(FAMILY, "pumped oscillator", 1e-6, oscillator(pumped, LONG), {"f": 0.0, "g": 1.0, "v": 0.0}, pumped_truth,
         stated=True),
    Case(FAMILY, "clamped beam", 1e-8, clamped_beam, {"f": 1.0, "g": 0.0, "q": 0.0},
         lambda x: (x[..., 0] * (1 - x[..., 0])) ** 2 / 24, stated=True),
    damped_case(0.05, 1e-6),
    damped_case(0.002, 1e-3),
)  # fmt: skip

"""Layers: advection–diffusion and reaction–diffusion with little diffusion, solved in closed form or by series."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
from scipy.special import erf

import kernop as ko
from honesty_problems.case import LINE, SQUARE, Case, dirichlet

FAMILY = "layers"


def outflow(peclet: float, s: Any) -> Any:
    """−w″ / Pe + w′ = 1, w(0) = w(1) = 0."""
    return s - (np.exp(peclet * (s - 1)) - np.exp(-peclet)) / (-np.expm1(-peclet))


def outflow_line(peclet: float, tol: float) -> Case:
    problem = dirichlet(LINE, lambda u: -ko.laplacian(u) / peclet + ko.partial(u, 0))
    truth = lambda x: outflow(peclet, x[..., 0])
    return Case(FAMILY, f"1-D outflow, Péclet {peclet:g}", tol, problem, {"f": 1.0, "g": 0.0}, truth)


def outflow_square(peclet: float, tol: float) -> Case:
    """u = w(x) w(y) solves −Δu / Pe + u_x + u_y = w(x) + w(y), u = 0 on the boundary."""
    problem = dirichlet(SQUARE, lambda u: -ko.laplacian(u) / peclet + ko.dot([1.0, 1.0], ko.grad(u)))
    f = lambda x: outflow(peclet, x[..., 0]) + outflow(peclet, x[..., 1])
    truth = lambda x: outflow(peclet, x[..., 0]) * outflow(peclet, x[..., 1])
    return Case(FAMILY, f"2-D outflow, Péclet {peclet:g}", tol, problem, {"f": f, "g": 0.0}, truth)


def channel(peclet: float, x: Any) -> Any:
    """−Δu / Pe + u_x = 1, u = 0 on the square's boundary.

    u = Pe y (1 − y) / 2 + v, and v = Σ c_n(x) sin nπy with −c″ + Pe c′ + n²π² c = 0 and c = −4 Pe / (nπ)³ at both
    ends, n odd. Roots of the characteristic equation: r = Pe / 2 ± √(Pe² / 4 + n²π²).
    """
    n = np.arange(1, 3000, 2)
    bent = np.sqrt(peclet**2 / 4 + (n * np.pi) ** 2)
    up, down = peclet / 2 + bent, -((n * np.pi) ** 2) / (peclet / 2 + bent)  # the second root without cancellation
    # c = A e^{up (s − 1)} + B e^{down s} with c(0) = c(1) = 1.
    past, left = np.exp(-up), np.exp(down)
    a = (1 - left) / (1 - past * left)
    b = (1 - past) / (1 - past * left)
    weights = -4 * peclet / (n * np.pi) ** 3
    found = np.empty(len(x))
    for rows in np.array_split(np.arange(len(x)), 1 + len(x) // 500):
        s, y = x[rows, 0:1], x[rows, 1:2]
        profile = a * np.exp(up * (s - 1)) + b * np.exp(down * s)
        found[rows] = peclet * y[:, 0] * (1 - y[:, 0]) / 2 + (profile * np.sin(n * np.pi * y)) @ weights
    return found


def channel_flow(peclet: float, tol: float) -> Case:
    problem = dirichlet(SQUARE, lambda u: -ko.laplacian(u) / peclet + ko.partial(u, 0))
    return Case(FAMILY, f"2-D channel, Péclet {peclet:g}", tol, problem, {"f": 1.0, "g": 0.0}, partial(channel, peclet))


def plateau(width: float, s: Any) -> Any:
    """−ε² r″ + r = 1, r(0) = r(1) = 0."""
    return 1 - (np.exp(-s / width) + np.exp((s - 1) / width)) / (1 + np.exp(-1 / width))


def reaction_line(width: float, tol: float) -> Case:
    problem = dirichlet(LINE, lambda u: -(width**2) * ko.laplacian(u) + u)
    truth = lambda x: plateau(width, x[..., 0])
    return Case(FAMILY, f"1-D reaction, ε = {width:g}", tol, problem, {"f": 1.0, "g": 0.0}, truth)


def reaction_square(width: float, tol: float) -> Case:
    """u = r(x) r(y); −ε² Δu + u = r(x) + r(y) − r(x) r(y)."""
    problem = dirichlet(SQUARE, lambda u: -(width**2) * ko.laplacian(u) + u)

    def parts(x: Any) -> tuple[Any, Any]:
        return plateau(width, x[..., 0]), plateau(width, x[..., 1])

    def f(x: Any) -> Any:
        r, s = parts(x)
        return r + s - r * s

    truth = lambda x: np.prod(parts(x), axis=0)
    return Case(FAMILY, f"2-D reaction, ε = {width:g}", tol, problem, {"f": f, "g": 0.0}, truth)


def turning(diffusion: float, tol: float) -> Case:
    """ε u″ + x u′ = 0 on (−1, 1): an inner layer, u = erf(x / √(2ε))."""
    domain = ko.Interval(-1, 1)
    problem = dirichlet(domain, lambda u: -diffusion * ko.laplacian(u) - (lambda x: x[..., 0]) * ko.partial(u, 0))
    truth = lambda x: erf(x[..., 0] / np.sqrt(2 * diffusion))
    return Case(FAMILY, f"1-D inner layer, ε = {diffusion:g}", tol, problem, {"f": 0.0, "g": truth}, truth)


CASES = (
    outflow_line(20, 1e-6),
    outflow_line(100, 1e-6),
    outflow_line(1000, 1e-3),
    outflow_square(20, 1e-6),
    outflow_square(100, 1e-3),
    outflow_square(1000, 1e-3),
    channel_flow(20, 1e-3),
    channel_flow(200, 1e-3),
    reaction_line(0.05, 1e-8),
    reaction_line(0.01, 1e-6),
    reaction_line(0.001, 1e-3),
    reaction_square(0.05, 1e-3),
    reaction_square(0.01, 1e-3),
    turning(0.01, 1e-6),
    turning(1e-4, 1e-3),
)

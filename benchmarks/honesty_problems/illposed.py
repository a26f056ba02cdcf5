"""Problems without a solution for most data, with many solutions, or with one that the data does not hold fast.

The inputs fit a smooth solution where one exists, so that nothing but the problem itself can give it away.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

import kernop as ko
from honesty_problems.case import LINE, SQUARE, Case, dirichlet

FAMILY = "ill-posed"
CYLINDER = ko.SpaceTime(LINE, (0, 1))
#: The first zero of the Bessel function J₀.
BESSEL_ZERO = 2.404825557695773


def ill(name: str, tol: float, problem: Callable[[], ko.Problem], inputs: dict[str, Any]) -> Case:
    return Case(FAMILY, name, tol, problem, inputs, None)


def of(*conditions: Any) -> Callable[[], ko.Problem]:
    """Conditions are made when they are asked for: one of them may be refused."""
    return lambda: ko.Problem(*(condition() for condition in conditions))


def poisson_on(domain: Any) -> Any:
    return lambda: ko.Equation(lambda u: -ko.laplacian(u), on=domain, name="f")


def heat(sign: float = 1.0) -> Any:
    return lambda: ko.Equation(lambda u: sign * ko.partial(u, -1) - 0.1 * ko.partial(u, 0, 2), on=CYLINDER, name="f")


def waves() -> ko.Condition:
    return ko.Equation(lambda u: ko.partial(u, -1, 2) - ko.partial(u, 0, 2), on=CYLINDER, name="f")


def transport() -> ko.Condition:
    return ko.Equation(lambda u: ko.partial(u, -1) + ko.partial(u, 0), on=CYLINDER, name="f")


def given(on: Any, name: str = "g") -> Any:
    return lambda: ko.Dirichlet(on=on, name=name)


def flux(on: Any, name: str = "q") -> Any:
    return lambda: ko.Neumann(on=on, name=name)


def cosines(x: Any) -> Any:
    return np.cos(np.pi * x[..., 0]) * np.cos(np.pi * x[..., 1])


def cosine_source(x: Any) -> Any:
    return 2 * np.pi**2 * cosines(x)


def harmonic(x: Any) -> Any:
    return np.exp(x[..., 0]) * np.cos(x[..., 1])


def faded(x: Any) -> Any:
    return np.exp(-0.1 * np.pi**2 * x[..., 1]) * np.sin(np.pi * x[..., 0])


CASES = (
    ill("pure Neumann", 1e-6, of(poisson_on(SQUARE), flux(SQUARE.boundary)), {"f": cosine_source, "q": 0.0}),
    ill("pure Neumann, data that do not fit", 1e-3, of(poisson_on(SQUARE), flux(SQUARE.boundary)),
        {"f": 1.0, "q": 0.0}),
    ill("pure Neumann on a disk", 1e-6, of(poisson_on(ko.Ball([0, 0], 1)), flux(ko.Ball([0, 0], 1).boundary)),
        {"f": 0.0, "q": lambda x: x[..., 0]}),
    ill("pure Neumann, 1-D", 1e-8, of(poisson_on(LINE), flux(LINE.boundary)),
        {"f": lambda x: np.cos(np.pi * x[..., 0]), "q": 0.0}),
    ill("Helmholtz at a resonance, 1-D", 1e-6, dirichlet(LINE, lambda u: -ko.laplacian(u) - 4 * np.pi**2 * u),
        {"f": lambda x: np.sin(np.pi * x[..., 0]), "g": 0.0}),
    ill("Helmholtz at a resonance", 1e-6, dirichlet(SQUARE, lambda u: -ko.laplacian(u) - 5 * np.pi**2 * u),
        {"f": lambda x: np.sin(np.pi * x[..., 0]) * np.sin(np.pi * x[..., 1]), "g": 0.0}),
    ill("Helmholtz at a resonance of a disk", 1e-3,
        dirichlet(ko.Ball([0, 0], 1), lambda u: -ko.laplacian(u) - BESSEL_ZERO**2 * u), {"f": 1.0, "g": 0.0}),
    ill("Robin with a negative sign", 1e-6,
        of(poisson_on(LINE), given(LINE.face("left")), lambda: ko.Robin(-1.0, 1.0, on=LINE.face("right"), name="r")),
        {"f": 1.0, "g": 0.0, "r": 0.0}),
    ill("waves between two times", 1e-3, of(waves, given(CYLINDER.boundary)),
        {"f": 0.0, "g": lambda x: np.sin(3 * (x[..., 0] - x[..., 1]))}),
    ill("waves without a velocity", 1e-3, of(waves, given(CYLINDER.walls), given(CYLINDER.initial, "u0")),
        {"f": 0.0, "g": 0.0, "u0": lambda x: np.sin(np.pi * x[..., 0])}),
    ill("backward heat, from the final time", 1e-6, of(heat(), given(CYLINDER.walls), given(CYLINDER.final, "u1")),
        {"f": 0.0, "g": 0.0, "u1": faded}),
    ill("backward heat, negative diffusion", 1e-3,
        of(heat(-1.0), given(CYLINDER.walls), given(CYLINDER.initial, "u0")),
        {"f": 0.0, "g": 0.0, "u0": lambda x: np.sin(np.pi * x[..., 0])}),
    ill("heat without an initial value", 1e-3, of(heat(), given(CYLINDER.walls)), {"f": 0.0, "g": 1.0}),
    ill("heat with an initial and a final value", 1e-3,
        of(heat(), given(CYLINDER.walls), given(CYLINDER.initial, "u0"), given(CYLINDER.final, "u1")),
        {"f": 0.0, "g": 0.0, "u0": lambda x: np.sin(np.pi * x[..., 0]), "u1": 0.0}),
    ill("transport with a value at the outflow", 1e-3,
        of(transport, given(CYLINDER.walls.where(lambda x: x[..., 0] > 0.5)), given(CYLINDER.initial, "u0")),
        {"f": 0.0, "g": lambda x: np.cos(1 - x[..., 1]), "u0": lambda x: np.cos(x[..., 0])}),
    ill("Cauchy data on one side", 1e-3,
        of(poisson_on(SQUARE), given(SQUARE.face("bottom")), flux(SQUARE.face("bottom"))),
        {"f": 0.0, "g": harmonic, "q": 0.0}),
    ill("a side without a condition", 1e-6, of(poisson_on(SQUARE), given(SQUARE.face("left", "right", "bottom"))),
        {"f": 0.0, "g": harmonic}),
    ill("a side without a condition, flux elsewhere", 1e-3,
        of(poisson_on(SQUARE), given(SQUARE.face("left")), flux(SQUARE.face("bottom", "top"))),
        {"f": 0.0, "g": 1.0, "q": 0.0}),
    ill("half a side without a condition", 1e-3,
        of(poisson_on(SQUARE), given(SQUARE.boundary.where(lambda x: (x[..., 1] < 1 - 1e-9) | (x[..., 0] < 0.5)))),
        {"f": 0.0, "g": harmonic}),
    ill("no boundary condition", 1e-6, of(poisson_on(SQUARE)), {"f": cosine_source}),
    ill("one end without a condition", 1e-8, of(poisson_on(LINE), given(LINE.face("left"))), {"f": 1.0, "g": 0.0}),
    ill("a plate with one condition", 1e-3,
        of(lambda: ko.Equation(lambda u: ko.laplacian(ko.laplacian(u)), on=SQUARE, name="f"), given(SQUARE.boundary)),
        {"f": 0.0, "g": harmonic}),
    ill("two values on one boundary", 1e-3,
        of(poisson_on(SQUARE), given(SQUARE.boundary), given(SQUARE.boundary, "h")), {"f": 0.0, "g": 0.0, "h": 1.0}),
    ill("value and flux on the whole boundary", 1e-3,
        of(poisson_on(SQUARE), given(SQUARE.boundary), flux(SQUARE.boundary)), {"f": 0.0, "g": 0.0, "q": 1.0}),
    ill("two equations", 1e-3,
        of(poisson_on(SQUARE), lambda: ko.Equation(lambda u: ko.laplacian(u) - u, on=SQUARE, name="e"),
           given(SQUARE.boundary)), {"f": 1.0, "e": 1.0, "g": 0.0}),
)  # fmt: skip

"""Space–time: heat, waves, transport. Time is the last coordinate, and operators name their axes."""

from __future__ import annotations

from typing import Any

import jax.numpy as jnp
import numpy as np

import kernop as ko
from honesty_problems.case import LINE, SQUARE, Case, along, exact, laplace

FAMILY = "space–time"


def heat(diffusivity: float, times: tuple[float, float]) -> Any:
    """u_t − κ u_xx = f on (0, 1), u = g on the walls, u = u0 at first."""
    cylinder = ko.SpaceTime(LINE, times)
    return lambda: ko.Problem(
        ko.Equation(lambda u: ko.partial(u, -1) - diffusivity * ko.partial(u, 0, 2), on=cylinder, name="f"),
        ko.Dirichlet(on=cylinder.walls, name="g"),
        ko.Initial(on=cylinder.initial, name="u0"),
    )


def wave(speed: float, times: tuple[float, float]) -> Any:
    """u_tt − c² u_xx = f on (0, 1), u = g on the walls, u = u0 and u_t = v0 at first."""
    cylinder = ko.SpaceTime(LINE, times)
    return lambda: ko.Problem(
        ko.Equation(lambda u: ko.partial(u, -1, 2) - speed**2 * ko.partial(u, 0, 2), on=cylinder, name="f"),
        ko.Dirichlet(on=cylinder.walls, name="g"),
        ko.Initial(on=cylinder.initial, name="u0"),
        ko.Initial(on=cylinder.initial, name="v0", order=1),
    )


def transport(times: tuple[float, float]) -> Any:
    """u_t + u_x = f on (0, 1), u = g at the inflow x = 0, u = u0 at first."""
    cylinder = ko.SpaceTime(LINE, times)
    return lambda: ko.Problem(
        ko.Equation(lambda u: ko.partial(u, -1) + ko.partial(u, 0), on=cylinder, name="f"),
        ko.Dirichlet(on=cylinder.walls.where(lambda x: x[..., 0] < 0.5), name="g"),
        ko.Initial(on=cylinder.initial, name="u0"),
    )


def heated_square() -> ko.Problem:
    cylinder = ko.SpaceTime(SQUARE, (0, 0.5))
    return ko.Problem(
        ko.Equation(
            lambda u: ko.partial(u, -1) - 0.2 * (ko.partial(u, 0, 2) + ko.partial(u, 1, 2)), on=cylinder, name="f"
        ),
        ko.Dirichlet(on=cylinder.walls, name="g"),
        ko.Initial(on=cylinder.initial, name="u0"),
    )


def heat_data(u: Any, diffusivity: float) -> dict[str, Any]:
    return {
        "f": exact(lambda x: along(u, 1)(x) - diffusivity * along(u, 0, 2)(x)),
        "g": exact(u),
        "u0": exact(u),
    }


def cooling(x: Any) -> Any:
    return jnp.exp(-x[..., 1]) * jnp.sin(2 * x[..., 0] + 0.5) + x[..., 0] * x[..., 1]


def fading(x: Any) -> Any:
    return np.exp(-(np.pi**2) * x[..., 1]) * np.sin(np.pi * x[..., 0])


def settling(x: Any) -> Any:
    """−u_xx = π² sin πx in the end, from nothing: the change is over after a fiftieth of the time."""
    return (1 - np.exp(-(np.pi**2) * x[..., 1])) * np.sin(np.pi * x[..., 0])


def spreading(x: Any) -> Any:
    """A Gaussian of width 0.06 and its images at the walls, κ = 0.01."""
    s, square = x[..., 0], 0.06**2 + 2 * 0.01 * x[..., 1]
    total = 0.0
    for k in range(-3, 4):
        total = total + np.exp(-((s - 0.45 - 2 * k) ** 2) / (2 * square))
        total = total - np.exp(-((s + 0.45 - 2 * k) ** 2) / (2 * square))
    return 0.06 / np.sqrt(square) * total


def string(mode: int, speed: float) -> Any:
    """A standing wave."""
    return lambda x: np.sin(mode * np.pi * x[..., 0]) * np.cos(mode * np.pi * speed * x[..., 1])


def moving(x: Any) -> Any:
    """A travelling wave and its source of zero."""
    return np.sin(3 * (x[..., 0] - x[..., 1])) + 0.5 * np.cos(2 * (x[..., 0] + x[..., 1]))


def moving_speed(x: Any) -> Any:
    """∂_t of `moving`."""
    return -3 * np.cos(3 * (x[..., 0] - x[..., 1])) - np.sin(2 * (x[..., 0] + x[..., 1]))


def plucked(s: Any) -> Any:
    """A Gaussian of width 0.1 and its images, odd about both walls."""
    gauss = lambda z: np.exp(-(z**2) / 0.02)
    return sum(gauss(s - 0.4 - 2 * k) - gauss(s + 0.4 - 2 * k) for k in range(-4, 5))


def pulses(x: Any) -> Any:
    """The formula of d'Alembert, speed 10: two pulses that are reflected."""
    return (plucked(x[..., 0] - 10 * x[..., 1]) + plucked(x[..., 0] + 10 * x[..., 1])) / 2


def carried(width: float) -> Any:
    return lambda x: np.exp(-((x[..., 0] - x[..., 1] + 0.2) ** 2) / (2 * width**2))


def drifting(x: Any) -> Any:
    return np.cos(2 * (x[..., 0] - x[..., 1]) + 0.3)


def front(x: Any) -> Any:
    """An inflow of 1 into 0: a jump along x = t."""
    return np.where(x[..., 0] < x[..., 1], 1.0, 0.0)


def warm_square(x: Any) -> Any:
    return jnp.exp(-2 * x[..., 2]) * jnp.sin(2 * x[..., 0] + 1) * jnp.cos(2 * x[..., 1]) + x[..., 0]


def warm_data(u: Any) -> dict[str, Any]:
    return {"f": exact(lambda x: along(u, 2)(x) - 0.2 * laplace(u, 2)(x)), "g": exact(u), "u0": exact(u)}


def free(u: Any, slope: Any = None) -> dict[str, Any]:
    """Data of a problem without source: u on the walls and at first, and ∂_t u at first where it is asked for."""
    return {"f": 0.0, "g": u, "u0": u} | ({} if slope is None else {"v0": slope})


CASES = (
    Case(FAMILY, "heat", 1e-6, heat(0.1, (0, 1)), heat_data(cooling, 0.1), exact(cooling), stated=True),
    Case(FAMILY, "heat, a mode that fades", 1e-6, heat(1.0, (0, 1)), free(fading), fading, stated=True),
    Case(FAMILY, "heat, a bump that spreads", 1e-3, heat(0.01, (0, 1)), free(spreading), spreading, stated=True),
    Case(
        FAMILY, "heat, a short time", 1e-6, heat(1.0, (0, 0.01)), heat_data(cooling, 1.0), exact(cooling), stated=True
    ),
    Case(
        FAMILY,
        "heat, a long time",
        1e-3,
        heat(1.0, (0, 20)),
        {"f": lambda x: np.pi**2 * np.sin(np.pi * x[..., 0]), "g": 0.0, "u0": 0.0},
        settling,
    ),
    Case(FAMILY, "heat on a square", 1e-3, heated_square, warm_data(warm_square), exact(warm_square), stated=True),
    Case(FAMILY, "wave, speed 1", 1e-8, wave(1.0, (0, 1)), free(moving, moving_speed), moving, stated=True),
    Case(
        FAMILY, "wave, speed 10, 2 periods", 1e-6, wave(10.0, (0, 0.4)), free(string(1, 10.0), 0.0), string(1, 10.0),
        stated=True,
    ),
    Case(
        FAMILY, "wave, speed 10, 5 periods", 1e-3, wave(10.0, (0, 1)), free(string(1, 10.0), 0.0), string(1, 10.0),
        stated=True,
    ),
    Case(FAMILY, "wave, speed 10, 15 periods", 1e-3, wave(10.0, (0, 1)), free(string(3, 10.0), 0.0), string(3, 10.0)),
    Case(FAMILY, "wave, speed 10, pulses", 1e-3, wave(10.0, (0, 0.2)), free(pulses, 0.0), pulses),
    Case(FAMILY, "transport", 1e-8, transport((0, 1)), free(drifting), drifting, stated=True),
    Case(FAMILY, "transport of a ridge σ = 0.1", 1e-3, transport((0, 1)), free(carried(0.1)), carried(0.1),
         stated=True),
    Case(FAMILY, "transport of a ridge σ = 0.02", 1e-3, transport((0, 1)), free(carried(0.02)), carried(0.02)),
    Case(FAMILY, "transport of a jump", 1e-3, transport((0, 1)), {"f": 0.0, "g": 1.0, "u0": 0.0}, front),
)  # fmt: skip

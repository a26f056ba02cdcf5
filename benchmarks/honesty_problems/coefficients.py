"""Coefficients under a divergence: steep, with wells, from tables, and with jumps.

A jump under a divergence has a delta function as its derivative, which no point sees: the strong form of the equation
loses the condition that the flux a ∂u/∂n is continuous. Such a problem should be refused, or the answer be right.
"""

from __future__ import annotations

from functools import cache
from typing import Any

import jax.numpy as jnp
import numpy as np

import kernop as ko
from honesty_problems.case import LINE, SQUARE, Case, dirichlet, flux_out
from honesty_problems.case import manufactured as made
from honesty_problems.potential import LinePotential, SquarePotential

FAMILY = "coefficients"
PANELS = np.linspace(0, 1, 2001)


def darcy(a: Any) -> Any:
    return lambda u: -ko.div(a * ko.grad(u))


def on_line(name: str, tol: float, a: Any, plain: Any, edges: Any = PANELS, blind: bool = False) -> Case:
    """−(a u′)′ = 1, u = 0 at both ends; ``a`` for JAX, of x (n, 1), ``plain`` with NumPy, of x (n,)."""
    truth = LinePotential(plain, edges)
    return Case(FAMILY, name, tol, dirichlet(LINE, darcy(a)), {"f": 1.0, "g": 0.0}, truth, blind=blind)


def on_square(name: str, tol: float, a: Any, plain: Any, edges: Any = PANELS, blind: bool = False) -> Case:
    """−∇·(a(x) ∇u) = 1 on the square, with the solution on the line, u(x), as data on the boundary."""
    truth = LinePotential(plain, edges)
    return Case(FAMILY, name, tol, dirichlet(SQUARE, darcy(a)), {"f": 1.0, "g": truth}, truth, blind=blind)


# Steep, but smooth


def steep(width: float) -> tuple[Any, Any]:
    """2 + 1.8 tanh((x − 0.45) / w), with JAX and with NumPy."""
    return (
        lambda x: 2 + 1.8 * jnp.tanh((x[..., 0] - 0.45) / width),
        lambda s: 2 + 1.8 * np.tanh((s - 0.45) / width),
    )


# Jumps


def two_layers() -> tuple[Any, Any]:
    return (lambda x: jnp.where(x[..., 0] < 0.5, 1.0, 10.0)), (lambda s: np.where(s < 0.5, 1.0, 10.0))


def inclusion(x: Any) -> Any:
    """Twenty in the disk |x − (½, ½)| < 0.3, one outside."""
    return jnp.where((x[..., 0] - 0.5) ** 2 + (x[..., 1] - 0.5) ** 2 < 0.09, 20.0, 1.0)


def around_inclusion(x: Any) -> Any:
    """A uniform field disturbed by that disk: 2x / (1 + k) inside, x + (1 − k) / (1 + k) R² x / r² outside."""
    s, t = x[..., 0] - 0.5, x[..., 1] - 0.5
    square = np.maximum(s**2 + t**2, 0.09)
    return np.where(s**2 + t**2 < 0.09, 2 / 21 * s, s * (1 - 19 / 21 * 0.09 / square))


TABLE = np.array([1.0, 3.0, 0.5, 2.0, 5.0, 1.5, 0.8, 4.0])


def nearest(x: Any) -> Any:
    """A table of eight cells along x, looked up without interpolation."""
    return jnp.asarray(TABLE)[jnp.clip((8 * x[..., 0]).astype(int), 0, 7)]


def nearest_plain(s: Any) -> Any:
    return TABLE[np.clip((8 * s).astype(int), 0, 7)]


FINE = np.exp(np.sin(np.arange(64) * 0.7) + 0.5 * np.cos(np.arange(64) * 1.9))


def image(x: Any) -> Any:
    """A table of 64 × 64 pixels, looked up without interpolation; all rows are alike."""
    pixels = jnp.tile(jnp.asarray(FINE)[:, None], (1, 64))
    row, column = (jnp.clip((64 * x[..., k]).astype(int), 0, 63) for k in (0, 1))
    return pixels[row, column]


def image_plain(s: Any) -> Any:
    return FINE[np.clip((64 * s).astype(int), 0, 63)]


KNOTS = np.linspace(0, 1, 9)
HEIGHTS = np.array([1.0, 2.0, 0.7, 1.4, 3.0, 2.2, 0.9, 1.1, 1.8])


def interpolated(x: Any) -> Any:
    return jnp.interp(x[..., 0], jnp.asarray(KNOTS), jnp.asarray(HEIGHTS))


# Wells and hills: log a is a sum of Gaussians

#: Place, height of log a, width.
HILLS = ((0.25, 0.3, 1.5, 0.12), (0.7, 0.25, -1.8, 0.1), (0.45, 0.75, -1.2, 0.15), (0.8, 0.8, 1.0, 0.12))
GENTLE = tuple((s, t, 0.6 * height, 2 * width) for s, t, height, width in HILLS)


def hilly(hills: Any) -> Any:
    def a(x: Any) -> Any:
        near = [c * jnp.exp(-((x[..., 0] - s) ** 2 + (x[..., 1] - t) ** 2) / (2 * w**2)) for s, t, c, w in hills]
        return jnp.exp(sum(near))

    return a


def log_hills(x: Any) -> Any:
    """Log a of `HILLS` and its two derivatives, with NumPy."""
    total = np.zeros((3, len(x)))
    for s, t, c, w in HILLS:
        d, e = x[:, 0] - s, x[:, 1] - t
        part = c * np.exp(-(d**2 + e**2) / (2 * w**2))
        total += np.stack([part, -d / w**2 * part, -e / w**2 * part])
    return total


def mode(x: Any) -> Any:
    return np.sin(np.pi * x[..., 0]) * np.sin(np.pi * x[..., 1])


@cache
def hilly_solution(degree: int = 48) -> SquarePotential:
    return SquarePotential(log_hills, mode, degree)


def hills_on_line(s: Any) -> Any:
    return np.exp(1.5 * np.exp(-((s - 0.3) ** 2) / 0.02) - 2.0 * np.exp(-((s - 0.65) ** 2) / 0.01))


def hills_on_line_jax(x: Any) -> Any:
    s = x[..., 0]
    return jnp.exp(1.5 * jnp.exp(-((s - 0.3) ** 2) / 0.02) - 2.0 * jnp.exp(-((s - 0.65) ** 2) / 0.01))


def gentle_wave(x: Any) -> Any:
    return jnp.sin(2 * x[..., 0] + 1) * jnp.cos(3 * x[..., 1])


CELLS = np.linspace(0, 1, 9)
CASES = (
    on_line("1-D tanh, w = 0.2", 1e-8, *steep(0.2)),
    on_line("1-D tanh, w = 0.03", 1e-6, *steep(0.03)),
    on_line("1-D tanh, w = 0.003", 1e-3, *steep(0.003)),
    on_square("2-D tanh, w = 0.2", 1e-6, *steep(0.2)),
    on_square("2-D tanh, w = 0.03", 1e-3, *steep(0.03)),
    on_square("2-D tanh, w = 0.005", 1e-3, *steep(0.005)),
    on_line("1-D hills and wells", 1e-6, hills_on_line_jax, hills_on_line),
    made(FAMILY, "gentle hills, smooth u", 1e-6, SQUARE, darcy(hilly(GENTLE)), gentle_wave,
         flux_out(hilly(GENTLE), gentle_wave, 2)),
    made(FAMILY, "hills and wells, smooth u", 1e-3, SQUARE, darcy(hilly(HILLS)), gentle_wave,
         flux_out(hilly(HILLS), gentle_wave, 2)),
    Case(FAMILY, "hills and wells, sin πx sin πy", 1e-3, dirichlet(SQUARE, darcy(hilly(HILLS))),
         {"f": mode, "g": 0.0}, lambda x: hilly_solution()(x)),
    on_line("1-D linear table", 1e-3, interpolated, lambda s: np.interp(s, KNOTS, HEIGHTS), np.linspace(0, 1, 801)),
    on_line("1-D jump", 1e-3, *two_layers(), np.linspace(0, 1, 3), blind=True),
    on_square("2-D jump", 1e-6, *two_layers(), np.linspace(0, 1, 3), blind=True),
    Case(FAMILY, "a disk of another material", 1e-3, dirichlet(SQUARE, darcy(inclusion)),
         {"f": 0.0, "g": around_inclusion}, around_inclusion, blind=True),
    on_line("1-D nearest neighbour", 1e-3, nearest, nearest_plain, CELLS, blind=True),
    on_square("2-D nearest neighbour", 1e-3, nearest, nearest_plain, CELLS, blind=True),
    on_square("an image of 64 × 64 pixels", 1e-3, image, image_plain, np.linspace(0, 1, 65), blind=True),
)  # fmt: skip

"""Local features: fronts, peaks, wells."""

from __future__ import annotations

from typing import Any

import jax.numpy as jnp

import kernop as ko
from collection_problems.entry import poisson

FAMILY = "local features"
SQUARE, AROUND, LINE = ko.Box([0, 0], [1, 1]), ko.Box([-1, -1], [1, 1]), ko.Interval(-1, 1)
NIST = "Mitchell, A collection of 2D elliptic problems (2013)"


def front(steepness: float, centre: tuple[float, float], radius: float) -> Any:
    """tan⁻¹ α(r − r₀)."""

    def u(x: Any) -> Any:
        r = jnp.sqrt((x[..., 0] - centre[0]) ** 2 + (x[..., 1] - centre[1]) ** 2)
        return jnp.arctan(steepness * (r - radius))

    return u


def peaks(sharpness: float, *centres: tuple[float, float]) -> Any:
    """Σ exp(−α|x − c|²)."""

    def u(x: Any) -> Any:
        squares = [(x[..., 0] - s) ** 2 + (x[..., 1] - t) ** 2 for s, t in centres]
        return sum(jnp.exp(-sharpness * square) for square in squares)

    return u


def wells(x: Any) -> Any:
    """A gentle ground with wells of σ = 0.03."""
    ground = jnp.sin(2 * x[..., 0] + x[..., 1])
    return ground - peaks(1 / (2 * 0.03**2), (0.3, 0.6), (0.7, 0.35))(x)


def steep(x: Any) -> Any:
    s, t = x[..., 0], x[..., 1]
    return (0.1 * jnp.sin(2 * jnp.pi * s) + jnp.tanh(10 * s)) * jnp.sin(2 * jnp.pi * t)


def steep_line(x: Any) -> Any:
    return 0.1 * jnp.sin(8 * jnp.pi * x[..., 0]) + jnp.tanh(80 * x[..., 0])


def bump_in_space(x: Any) -> Any:
    square = (x[..., 0] - 0.4) ** 2 + (x[..., 1] - 0.5) ** 2 + (x[..., 2] - 0.6) ** 2
    return jnp.exp(-square / (2 * 0.15**2))


HPVPINN = "Kharazmi, Zhang & Karniadakis, hp-VPINNs (2021)"
ENTRIES = (
    poisson(FAMILY, "NIST wave front, mild, α = 20", SQUARE, front(20, (-0.05, -0.05), 0.7), f"{NIST}, wave front"),
    poisson(FAMILY, "NIST wave front, steep, α = 1000", SQUARE, front(1000, (-0.05, -0.05), 0.7),
            f"{NIST}, wave front", needs_parts=True),
    poisson(FAMILY, "NIST wave front, α = 50, from outside", SQUARE, front(50, (-0.25, -0.25), 0.92),
            f"{NIST}, wave front, with another centre"),
    poisson(FAMILY, "NIST wave front, well, α = 50", SQUARE, front(50, (0.5, 0.5), 0.25), f"{NIST}, wave front",
            needs_parts=True),
    poisson(FAMILY, "NIST peak, α = 1000", SQUARE, peaks(1000, (0.5, 0.5)), f"{NIST}, peak"),
    poisson(FAMILY, "wells of σ = 0.03 on a gentle ground", SQUARE, wells, f"after {NIST}, peak"),
    poisson(FAMILY, "DAS-PINN, one peak α = 1000", AROUND, peaks(1000, (0.5, 0.5)),
            "Tang, Wan & Yang, DAS-PINNs (2023), section 5.1"),
    poisson(FAMILY, "FI-PINN, two peaks α = 1000", AROUND, peaks(1000, (0.5, 0.5), (-0.5, -0.5)),
            "Gao, Yan & Zhou, Failure-informed adaptive sampling for PINNs (2023); Tang, Wan & Yang (2023)"),
    poisson(FAMILY, "hp-VPINN, tanh 10x sin 2πy", AROUND, steep, HPVPINN),
    poisson(FAMILY, "hp-VPINN, tanh 80x on a line", LINE, steep_line, HPVPINN),
    poisson(FAMILY, "3-D bump σ = 0.15", ko.Box([0, 0, 0], [1, 1, 1]), bump_in_space, f"after {NIST}, peak, in 3-D"),
)  # fmt: skip

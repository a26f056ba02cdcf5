"""Elliptic equations whose coefficients oscillate or have a high contrast, but are smooth."""

from __future__ import annotations

from typing import Any

import jax.numpy as jnp
import numpy as np

import kernop as ko
from collection_problems.entry import Entry, dirichlet, exact, flux_out, made
from collection_problems.spectral import separable

FAMILY = "elliptic, rough"
SQUARE, LINE, DISK = ko.Box([0, 0], [1, 1]), ko.Interval(0, 1), ko.Ball([0, 0], 1)
TAU = 2 * np.pi


def darcy(a: Any) -> Any:
    return lambda u: -ko.div(a * ko.grad(u))


def cell(eps: float) -> Any:
    """1 / (2 + cos 2πx/ε)."""
    return lambda x: 1 / (2 + jnp.cos(TAU * x[..., 0] / eps))


def cell_truth(eps: float) -> Any:
    """−(a u′)′ = 1, so that a u′ = ½ − x."""

    def u(x: Any) -> Any:
        s = x[..., 0]
        wave = (0.5 - s) * np.sin(TAU * s / eps) / TAU - eps * np.cos(TAU * s / eps) / TAU**2
        return s - s**2 + eps * (wave + eps / TAU**2)

    return u


def contrast(eps: float) -> Any:
    """1 / (2 + 1.8 sin 2πx/ε)."""
    return lambda x: 1 / (2 + 1.8 * jnp.sin(TAU * x[..., 0] / eps))


def contrast_truth(eps: float) -> Any:
    """−(a u′)′ = 1, u(0) = u(1) = 0 for 1/ε a whole number: a u′ = c − x."""

    def primitive(s: Any) -> tuple[Any, Any]:
        """∫₀ˢ 1/a and ∫₀ˢ t/a(t) dt."""
        k = TAU / eps
        plain = 2 * s + 1.8 * (1 - np.cos(k * s)) / k
        return plain, s**2 + 1.8 * (np.sin(k * s) / k**2 - s * np.cos(k * s) / k)

    def u(x: Any) -> Any:
        plain, first = primitive(x[..., 0])
        whole, mean = primitive(1.0)
        return mean / whole * plain - first

    return u


def trigonometric(x: Any) -> Any:
    """Five scales, from 1/5 to 1/65."""
    s, t = TAU * x[..., 0], TAU * x[..., 1]
    total = (1.1 + jnp.sin(5 * s)) / (1.1 + jnp.sin(5 * t)) + (1.1 + jnp.sin(13 * t)) / (1.1 + jnp.cos(13 * s))
    total = total + (1.1 + jnp.cos(17 * s)) / (1.1 + jnp.sin(17 * t))
    total = total + (1.1 + jnp.sin(31 * t)) / (1.1 + jnp.cos(31 * s))
    total = total + (1.1 + jnp.cos(65 * s)) / (1.1 + jnp.sin(65 * t))
    return (total + jnp.sin(4 * x[..., 0] ** 2 * x[..., 1] ** 2) + 1) / 6


def two_scales(x: Any) -> Any:
    s, t = TAU * x[..., 0], TAU * x[..., 1]
    total = (1.1 + jnp.sin(3 * s)) / (1.1 + jnp.sin(3 * t)) + (1.1 + jnp.sin(5 * t)) / (1.1 + jnp.cos(5 * s))
    return total / 2


def chequered(x: Any) -> Any:
    """A smooth chequerboard of contrast e⁶ = 403."""
    return jnp.exp(3 * jnp.sin(2 * TAU * x[..., 0]) * jnp.sin(2 * TAU * x[..., 1]))


def inclusions(x: Any) -> Any:
    """1, and 101 in three smooth inclusions."""
    total = 1.0
    for s, t in ((0.3, 0.3), (0.7, 0.4), (0.4, 0.75)):
        total = total + 100 * jnp.exp(-((x[..., 0] - s) ** 2 + (x[..., 1] - t) ** 2) / (2 * 0.08**2))
    return total


def gentle(x: Any) -> Any:
    return jnp.sin(jnp.pi * x[..., 0]) * jnp.sin(jnp.pi * x[..., 1])


def slanted(x: Any) -> Any:
    return jnp.exp(x[..., 0]) * jnp.cos(2 * x[..., 1] - x[..., 0])


def rings(x: Any) -> Any:
    """1 / (1.1 + sin 20r²)."""
    return 1 / (1.1 + jnp.sin(20 * (x[..., 0] ** 2 + x[..., 1] ** 2)))


def rings_truth(x: Any) -> Any:
    """−(r a u′)′ / r = 1, so that u′ = −r (1.1 + sin 20r²) / 2."""
    primitive = lambda q: -1.1 * q / 4 + np.cos(20 * q) / 80
    return primitive(x[..., 0] ** 2 + x[..., 1] ** 2) - primitive(1.0)


def hou_wu(x: Any) -> Any:
    """1 / ((2 + 1.8 sin 2πx/ε)(2 + 1.8 sin 2πy/ε)), ε = 0.4 (contrast 361)."""
    k = TAU / 0.4
    return 1 / ((2 + 1.8 * jnp.sin(k * x[..., 0])) * (2 + 1.8 * jnp.sin(k * x[..., 1])))


def _profile(s: Any) -> Any:
    return 2 + 1.8 * np.sin(TAU / 0.4 * s)


def _along(s: Any, d: Any) -> Any:
    """−(p u′)′ / p with p = 1 / profile."""
    return -np.diag(_profile(s)) @ d @ np.diag(1 / _profile(s)) @ d


def soft_load(x: Any, y: Any) -> Any:
    return np.sin(np.pi * x) * np.sin(np.pi * y)


hou_wu_truth = separable(_along, _along, lambda x, y: soft_load(x, y) * _profile(x) * _profile(y), 360, 0.0, 1.0)
OWHADI = "coefficient of Owhadi & Zhang, Metric-based upscaling (2007) and Ming & Yue (2006); manufactured solution"

ENTRIES = (
    Entry(FAMILY, "cells ε = 0.1 on a line", dirichlet(LINE, darcy(cell(0.1))), {"f": 1.0, "g": 0.0},
          cell_truth(0.1), "Li, Xu & Zhang, Subspace decomposition based DNN for multiscale PDEs (2023), 1-D"),
    Entry(FAMILY, "contrast 19, ε = 0.05 on a line", dirichlet(LINE, darcy(contrast(0.05))), {"f": 1.0, "g": 0.0},
          contrast_truth(0.05), "coefficient of Hou & Wu, A multiscale FEM (1997); closed form"),
    made(FAMILY, "five scales, 1/5 to 1/65", SQUARE, darcy(trigonometric), gentle, flux_out(trigonometric, gentle, 2),
         OWHADI),
    made(FAMILY, "two scales, 1/3 and 1/5", SQUARE, darcy(two_scales), slanted, flux_out(two_scales, slanted, 2),
         OWHADI),
    made(FAMILY, "smooth chequerboard, contrast 403", SQUARE, darcy(chequered), slanted,
         flux_out(chequered, slanted, 2), "after Babuška, Caloz & Osborn (1994), smooth contrast; manufactured"),
    made(FAMILY, "three inclusions, contrast 101", SQUARE, darcy(inclusions), gentle, flux_out(inclusions, gentle, 2),
         "after Efendiev & Hou, Multiscale Finite Element Methods (2009), high contrast; manufactured"),
    Entry(FAMILY, "rings of contrast 21 on a disk", dirichlet(DISK, darcy(rings)), {"f": 1.0, "g": 0.0}, rings_truth,
          "a radially layered medium; closed form, u′ = −r / 2a"),
    Entry(FAMILY, "Hou–Wu cells ε = 0.4, contrast 361", dirichlet(SQUARE, darcy(hou_wu)),
          {"f": exact(gentle), "g": 0.0}, hou_wu_truth,
          "coefficient of Hou & Wu, A multiscale FEM (1997); Chebyshev collocation, 361 × 361"),
)  # fmt: skip

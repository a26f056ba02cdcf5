"""Narrow sources: Gaussian f of width σ at random places, between the points of T and those of the estimate.

Truth is a sine series: for L = −Δ + b·∇ + c with constant coefficients on the unit cube and u = 0 on its boundary,
u = e^{b·x/2} v with (−Δ + c + |b|²/4) v = e^{−b·x/2} f, and f is a product of functions of one coordinate each, whose
coefficients are sums on a fine grid. For every other place a smooth solution in closed form is added.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from common import table
from numpy.typing import NDArray

import kernop as ko
from kernop.operators.solution import SEARCH
from kernop.trust.estimates.unseen import look

Array = NDArray[np.float64]

PLACES = 40
WIDTHS = {2: (0.001, 0.003, 0.01, 0.03), 3: (0.0075, 0.015, 0.05)}
CENTRES = {2: 200, 3: 300}
#: Widths for the reach of the search.
REACH = {1: (1e-7, 1e-6, 1e-5, 1e-4), 2: (1e-4, 3e-4, 1e-3, 3e-3), 3: (0.001, 0.003, 0.005, 0.015)}
#: The velocity b, the same along each axis, and c.
OPERATORS = {"−Δ": (0.0, 0.0), "−Δ + 25": (0.0, 25.0), "−Δ + 6·∇": (6.0, 0.0), "−Δ − 30": (0.0, -30.0)}
#: Cells for the L2 error along each axis, and lines close to the peak for the largest one.
CELLS, CLOSE = {2: 48, 3: 16}, {2: 11, 3: 7}


@dataclass(frozen=True, eq=False)
class Source:
    """exp(−|x − y|² / 2σ²), and where it belongs, a smooth part L sin(k·x)."""

    dim: int
    width: float
    place: Array
    velocity: float
    reaction: float
    smooth: bool

    @property
    def wave(self) -> Array:
        """The wave vector k of the smooth part."""
        return np.array([2.0, 1.0, -1.5])[: self.dim]

    def f(self, x: Any) -> Any:
        """The source, (n,)."""
        bump = np.exp(-np.sum((x - self.place) ** 2, axis=-1) / (2.0 * self.width**2))
        k, angle = self.wave, x @ self.wave
        part = (k @ k + self.reaction) * np.sin(angle) + self.velocity * np.sum(k) * np.cos(angle)
        return bump + part if self.smooth else bump

    def g(self, x: Any) -> Any:
        """The boundary data, (n,)."""
        return np.sin(x @ self.wave) if self.smooth else np.zeros(len(x))

    def lines(self) -> tuple[list[Array], int]:
        """Coordinates along each axis: the middles of cells, then lines close to the peak; and the number of cells."""
        cells, close = CELLS[self.dim], np.linspace(-3.0, 3.0, CLOSE[self.dim])
        return [np.concatenate([(np.arange(cells) + 0.5) / cells, y + close * self.width]) for y in self.place], cells

    def truth(self, lines: list[Array]) -> Array:
        """u on the tensor grid of these lines."""
        modes = np.pi * np.arange(1, int(4.8 / (np.pi * self.width)) + 8)
        rows, sines = list[Array](), list[Array]()
        for y, line in zip(self.place, lines, strict=True):
            s = np.linspace(max(0.0, y - 9.0 * self.width), min(1.0, y + 9.0 * self.width), 721)
            bump = np.exp(-((s - y) ** 2) / (2.0 * self.width**2) - 0.5 * self.velocity * s)
            rows.append(2.0 * (s[1] - s[0]) * (np.sin(modes[:, None] * s) @ bump))
            sines.append(np.sin(line[:, None] * modes) * np.exp(0.5 * self.velocity * line)[:, None])
        squares, series = np.zeros((1,) * self.dim), np.ones((1,) * self.dim)
        for axis, row in enumerate(rows):
            shape = [-1 if k == axis else 1 for k in range(self.dim)]
            squares, series = squares + (modes**2).reshape(shape), series * row.reshape(shape)
        series = series / (squares + self.reaction + 0.25 * self.dim * self.velocity**2)
        for sine in sines:  # the first axis goes, and comes back as the last
            series = np.tensordot(series, sine, axes=(0, 1))
        x = np.stack(np.meshgrid(*lines, indexing="ij"), axis=-1)
        return series + np.sin(x @ self.wave) if self.smooth else series


def problem(dim: int, velocity: float, reaction: float) -> ko.Problem:
    cube = ko.Box([0.0] * dim, [1.0] * dim)
    return ko.Problem(
        ko.Equation(
            lambda u: -ko.laplacian(u) + ko.dot([velocity] * dim, ko.grad(u)) + reaction * u, on=cube, name="f"
        ),
        ko.Dirichlet(on=cube.boundary, name="g"),
    )


def judged(source: Source, u: ko.Solution, search: int | None) -> list[float]:
    """True and estimated L2 and L∞ errors, the bound (NaN if there is none), and whether there was a warning."""
    lines, cells = source.lines()
    x = np.stack(np.meshgrid(*lines, indexing="ij"), axis=-1)
    error = np.abs(u(x.reshape(-1, source.dim)).reshape(x.shape[:-1]) - source.truth(lines))
    l2 = np.sqrt(np.mean(error[(slice(cells),) * source.dim] ** 2))
    said = u.error_estimate(search=search) if search else u.error_estimate(**unsearched())
    bound = np.nan if said.bound is None else said.bound.linf
    return [float(l2), said.l2, float(np.max(error)), said.linf, bound, float(bool(getattr(said, "unseen", ())))]


def unsearched() -> dict[str, Any]:
    return {"search": None} if "search" in ko.Solution.error_estimate.__kwdefaults__ else {}


def reach(seed: int, places: int = 20) -> dict[str, Any]:
    """How often the search comes within a tenth of the height of a peak, alone and on a wave of the same height."""
    rows, figures = list[list[str]](), dict[str, Any]()
    for dim in (1, 2, 3):
        operator = ko.learn(problem(dim, 0.0, 0.0), points=100, method=ko.Subspace(centers=20))
        for width in REACH[dim]:
            spots = np.random.default_rng(seed).random((places, dim))
            alone, upon = (sum(_found(operator, dim, width, y, wave) for y in spots) for wave in (0.0, 1.0))
            figures[f"{dim}-D, σ = {width:g}"] = {"alone": alone, "on a wave": upon, "places": places}
            rows.append([f"{dim}-D, σ = {width:g}", f"{alone} of {places}", f"{upon} of {places}"])
            print(*rows[-1], sep=" | ", flush=True)
    table("Peaks that the search finds", ["", "alone", "on a wave"], rows)
    return figures


def _found(operator: ko.SolutionOperator, dim: int, width: float, place: Array, wave: float) -> bool:
    source = Source(dim, width, place, 0.0, 0.0, False)
    f = lambda x: source.f(x) + wave * np.sin(6.0 * x[..., 0])
    u = operator(f, 0.0)
    looked = look(u.problem, u.function, {"f": f}, SEARCH)["f"]
    return bool(np.max(source.f(looked.points.x)) > 0.9)


def narrow(seed: int, only: str = "", search: bool = True, places: int = PLACES) -> dict[str, Any]:
    """How often the truth exceeds estimates and bounds."""
    rows, figures = list[list[str]](), dict[str, Any]()
    for dim, widths in WIDTHS.items():
        for name, (velocity, reaction) in OPERATORS.items():
            if only not in f"{dim}-D {name}":
                continue
            operator = ko.learn(
                problem(dim, velocity, reaction),
                points=4 * CENTRES[dim],
                method=ko.Subspace(centers=CENTRES[dim]),
            )
            for width in widths:
                rng = np.random.default_rng(seed)
                margin = 6.0 * width
                spots = margin + (1.0 - 2.0 * margin) * rng.random((places, dim))
                sources = [Source(dim, width, y, velocity, reaction, k % 2 == 1) for k, y in enumerate(spots)]
                found = np.array([judged(s, operator(s.f, s.g), 2**18 if search else None) for s in sources])
                l2, said_l2, linf, said_linf, bound, warned = found.T
                label = f"{dim}-D, {name}, σ = {width:g}"
                bounded = bool(np.all(np.isfinite(bound)))
                figures[label] = {
                    "exceeded L2": int(np.sum(l2 > said_l2)),
                    "exceeded Linf": int(np.sum(linf > said_linf)),
                    "violated": int(np.sum(linf > bound)) if bounded else None,
                    "estimate / error, L2": float(np.median(said_l2 / l2)),
                    "estimate / error, Linf": float(np.median(said_linf / linf)),
                    "warned": int(np.sum(warned)),
                }
                one = figures[label]
                rows.append(
                    [
                        label,
                        f"{one['exceeded L2']}, {one['exceeded Linf']}",
                        "–" if one["violated"] is None else str(one["violated"]),
                        f"{one['estimate / error, L2']:.1f}, {one['estimate / error, Linf']:.1f}",
                        str(one["warned"]),
                    ]
                )
                print(*rows[-1], sep=" | ", flush=True)
    headings = ["", "exceeded: L2, L∞", "bound violated", "estimate ÷ error: L2, L∞", "warned"]
    table(f"Narrow sources, {places} places each{'' if search else ', without a search'}", headings, rows)
    return figures

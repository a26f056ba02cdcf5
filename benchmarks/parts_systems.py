"""Operators made of parts beyond one real unknown: systems, waves, plates, flows and layers, against exact solutions.

Errors are relative, in the maximum over places inside, and the largest of all unknowns. Two problems have no exact
solution: a clamped plate is compared with a Galerkin method of global polynomials, the lid-driven cavity with a fit of
biharmonic functions to its boundary, from which the singular solutions at its upper corners are taken away.
"""

from __future__ import annotations

import sys
import time
import warnings
from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from common import save, table
from numpy.polynomial import legendre

import kernop as ko

jax.config.update("jax_enable_x64", True)  # for the exact solutions

SQUARE = ko.Box([0, 0], [1, 1])
EDGE = SQUARE.boundary
CENTRE = np.array([[0.5, 0.5]])
#: Problem, method, error of what was learned.
Case = tuple[ko.Problem, ko.Partition, Callable[[Any], float]]


def sine(x: Any) -> Any:
    return jnp.sin(5 * x[..., 0] - 2 * x[..., 1])


def displacement(x: Any) -> Any:
    return jnp.stack([jnp.sin(5 * x[..., 0] + 3 * x[..., 1]), jnp.cos(4 * x[..., 0] - 2 * x[..., 1])], axis=-1)


def flow(x: Any) -> Any:
    slope = jnp.cos(4 * x[..., 0] + 3 * x[..., 1])
    return jnp.stack([3 * slope, -4 * slope], axis=-1)


def manufactured(problem: ko.Problem, exact: Any) -> Callable[[Any], float]:
    """The error for a known solution."""

    def error(operator: Any) -> float:
        s = operator(**problem.manufacture(exact, operator.points))
        x = SQUARE.sample(2000, "uniform", seed=1).x
        fields = exact if isinstance(exact, dict) else {"u": exact}
        several = len(problem.unknowns.names) > 1
        found = {name: getattr(s, name)(x) if several else s(x) for name in fields}
        truth = {name: np.asarray(own(x)) for name, own in fields.items()}
        return max(float(np.max(np.abs(found[k] - truth[k])) / np.max(np.abs(truth[k]))) for k in fields)

    return error


def elastic(ratio: float) -> Case:
    mu, lame = 0.5 / (1 + ratio), ratio / ((1 + ratio) * (1 - 2 * ratio))
    problem = ko.Problem(
        ko.Equation(
            lambda u: -ko.div(2 * mu * ko.sym(ko.grad(u)) + lame * ko.trace(ko.grad(u)) * ko.identity(u)), on=SQUARE
        ),
        ko.Dirichlet(on=EDGE, name="g", of="u"),
        unknowns={"u": 2},
    )
    return problem, ko.Partition(cells=3, degree=15, levels=0), manufactured(problem, displacement)


def reaction() -> Case:
    problem = ko.Problem(
        ko.Equation(lambda u, v: -ko.laplacian(u) + 3 * u - 2 * v, on=SQUARE, name="f"),
        ko.Equation(lambda u, v: -0.1 * ko.laplacian(v) + u + v, on=SQUARE, name="k"),
        ko.Dirichlet(on=EDGE, name="g", of="u"),
        ko.Neumann(on=EDGE, name="q", of="v"),
        unknowns={"u": 1, "v": 1},
    )
    exact = {"u": sine, "v": lambda x: jnp.cos(3 * x[..., 1] - x[..., 0])}
    return problem, ko.Partition(cells=3, degree=15, levels=0), manufactured(problem, exact)


def stokes() -> Case:
    problem = ko.Problem(
        ko.Equation(lambda u, p: -ko.laplacian(u) + ko.grad(p), on=SQUARE, name="f"),
        ko.Equation(lambda u: ko.div(u), on=SQUARE, name="mass", data=0.0),
        ko.Dirichlet(on=EDGE, name="g", of="u"),
        ko.Mean(on=SQUARE, name="mean", of="p"),
        unknowns={"u": 2, "p": 1},
    )
    return problem, ko.Partition(cells=3, degree=15, levels=0), manufactured(problem, {"u": flow, "p": sine})


def cavity() -> Case:
    lid, walls = SQUARE.face("top"), SQUARE.face("left", "right", "bottom")
    problem = ko.Problem(
        ko.Equation(lambda u, p: -ko.laplacian(u) + ko.grad(p), on=SQUARE, name="f", data=0.0),
        ko.Equation(lambda u: ko.div(u), on=SQUARE, name="mass", data=0.0),
        ko.Dirichlet(on=lid, name="lid", of="u"),
        ko.Dirichlet(on=walls, name="wall", of="u", data=0.0),
        ko.Mean(on=SQUARE, name="mean", of="p", data=0.0),
        unknowns={"u": 2, "p": 1},
    )

    def error(operator: Any) -> float:
        x = np.array([[0.5, 0.5], [0.5, 0.25], [0.25, 0.75], [0.8, 0.6]])
        s = operator(lid=np.tile([1.0, 0.0], (len(operator.points["lid"]), 1)))
        return float(np.max(np.abs(s.u(x) - cavity_velocity(x))))

    return problem, ko.Partition(cells=2, degree=15, levels=24), error


def fluxes_alone() -> Case:
    problem = ko.Problem(
        ko.Equation(lambda u: -ko.laplacian(u), on=SQUARE), ko.Neumann(on=EDGE, name="q"), ko.Mean(on=SQUARE, name="m")
    )
    return problem, ko.Partition(cells=3, degree=15, levels=0), manufactured(problem, sine)


def impedance(gluing: str | None) -> Case:
    w = 200.0
    problem = ko.Problem(
        ko.Equation(lambda u: -ko.laplacian(u) - w**2 * u, on=SQUARE),
        ko.Condition(lambda u: ko.normal_derivative(u) - 1j * w * u, on=EDGE, name="g"),
    )
    wave = lambda x: jnp.exp(1j * w * (0.6 * x[..., 0] + 0.8 * x[..., 1]))
    return problem, ko.Partition(cells=24, levels=0, gluing=gluing), manufactured(problem, wave)


def resonance() -> Case:
    """Two by two of three by three parts have this eigenvalue, and the square has not."""
    k = 7.5 * np.pi
    problem = ko.Problem(ko.Equation(lambda u: -ko.laplacian(u) - k**2 * u, on=SQUARE), ko.Dirichlet(on=EDGE))
    wave = lambda x: jnp.cos(k * (0.6 * x[..., 0] + 0.8 * x[..., 1]))
    return problem, ko.Partition(cells=3, degree=23, levels=0), manufactured(problem, wave)


def plate(second: Any, known: Callable[[], float] | None) -> Case:
    problem = ko.Problem(ko.Equation(lambda u: ko.laplacian(ko.laplacian(u)), on=SQUARE), ko.Dirichlet(on=EDGE), second)
    if known is None:
        exact = lambda x: jnp.sin(4 * x[..., 0] + 1) * jnp.cos(3 * x[..., 1])
        return problem, ko.Partition(cells=3, levels=0), manufactured(problem, exact)
    centre = known()
    error = lambda operator: abs(float(operator(1.0, 0.0, 0.0)(CENTRE)[0]) / centre - 1.0)
    return problem, ko.Partition(cells=2, levels=6), error


CLAMPED = ko.Neumann(on=EDGE, name="q")
HINGED = ko.Condition(lambda u: ko.laplacian(u), on=EDGE, name="q")


def hinged_centre() -> float:
    """Navier's double series for Δ²u = 1, u = Δu = 0 on the boundary."""
    n = np.arange(1, 4001, 2)
    m, sign = n[:, None], np.sin(n * np.pi / 2)
    return float(16 / np.pi**6 * np.sum(sign[:, None] * sign / (m * n * (m**2 + n**2.0) ** 2)))


def clamped_centre(number: int = 36) -> float:
    """Δ²u = 1, u = ∂u/∂n = 0, by Galerkin with products of (1 − x²)² P_2k(x) on (−1, 1)²."""
    x, w = legendre.leggauss(3 * number)
    bubble = legendre.poly2leg([1.0, 0.0, -2.0, 0.0, 1.0])
    own = [legendre.legmul(bubble, np.eye(2 * number)[2 * k]) for k in range(number)]
    tables = [np.stack([legendre.legval(x, legendre.legder(c, m)) for c in own]) for m in range(3)]
    size = 1.0 / np.sqrt(np.sum(tables[2] ** 2 * w, axis=1))
    values, slopes, bends = (size[:, None] * t for t in tables)
    mass, stiff, bend = ((t * w) @ t.T for t in (values, slopes, bends))
    load = np.sum(values * w, axis=1)
    matrix = np.kron(bend, mass) + 2 * np.kron(stiff, stiff) + np.kron(mass, bend)
    centre = size * np.array([legendre.legval(0.0, c) for c in own])
    return float(np.kron(centre, centre) @ np.linalg.solve(matrix, np.kron(load, load))) / 16.0


def cavity_velocity(x: Any, degree: int = 70) -> Any:
    """Stokes flow in the unit square whose lid moves with speed 1: ψ = corner solutions + Re(z̄ φ(z) + χ(z))."""
    t = 0.5 * (1 - np.cos(np.pi * (np.arange(600) + 0.5) / 600))
    zero, one = np.zeros_like(t), np.ones_like(t)
    sides = [np.stack(own, axis=1) for own in ((t, zero), (t, one), (zero, t), (one, t))]
    tangents = [zero, one, zero, zero]  # ∂ψ/∂y on the lower and the upper side, ∂ψ/∂x on the others
    rows, right = [], []
    for k, (own, tangent) in enumerate(zip(sides, tangents, strict=True)):
        axis = 1 if k < 2 else 0
        corner, slopes = corner_stream(own)
        smooth, gradients = biharmonic(own, degree)
        rows += [smooth, gradients[axis]]
        right += [-corner, tangent - slopes[axis]]
    matrix = np.concatenate(rows)
    size = np.maximum(np.linalg.norm(matrix, axis=0), 1e-300)
    c = np.linalg.lstsq(matrix / size, np.concatenate(right), rcond=1e-15)[0] / size
    slopes, gradients = corner_stream(x)[1], biharmonic(x, degree)[1]
    return np.stack([gradients[1] @ c + slopes[1], -(gradients[0] @ c + slopes[0])], axis=1)


def corner_stream(x: Any) -> tuple[Any, list[Any]]:
    """Goodier's and Taylor's solutions at both ends of the lid, C (φX + π/2 φY − π²/4 Y), and their derivatives."""
    c = 1.0 / (np.pi**2 / 4 - 1)
    value, slopes = np.zeros(len(x)), [np.zeros(len(x)), np.zeros(len(x))]
    for sign, along in ((1.0, x[:, 0]), (-1.0, 1.0 - x[:, 0])):
        down = 1.0 - x[:, 1]
        angle, square = np.arctan2(down, along), np.maximum(along**2 + down**2, 1e-300)
        mixed = along + np.pi / 2 * down
        value += c * (angle * mixed - np.pi**2 / 4 * down)
        slopes[0] += sign * c * (angle - down / square * mixed)
        slopes[1] -= c * (np.pi / 2 * angle + along / square * mixed - np.pi**2 / 4)
    return value, slopes


def biharmonic(x: Any, degree: int) -> tuple[Any, list[Any]]:
    """Re and Im of z^k and z̄ z^k around the centre, (n, 4 (degree + 1)), and their derivatives along x and y."""
    z = (x[:, 0] - 0.5 + 1j * (x[:, 1] - 0.5))[:, None] * np.sqrt(2.0)
    k = np.arange(degree + 1)
    power, slope = z**k, np.where(k > 0, k * z ** np.maximum(k - 1, 0), 0.0) * np.sqrt(2.0)
    bar = np.conj(z)
    values = [power, bar * power]
    along_x = [slope, np.sqrt(2.0) * power + bar * slope]
    along_y = [1j * slope, -1j * np.sqrt(2.0) * power + 1j * bar * slope]
    real = lambda own: np.concatenate([part(v) for v in own for part in (np.real, np.imag)], axis=1)
    return real(values), [real(along_x), real(along_y)]


def layers(peclet: float) -> Case:
    """−εΔu + u_x + u_y = f with layers at x = 1 and y = 1: u = φ(x) φ(y), −εφ″ + φ′ = 1."""
    e = 1.0 / peclet
    profile = lambda t: t - (np.exp((t - 1) / e) - np.exp(-1 / e)) / (1 - np.exp(-1 / e))
    problem = ko.Problem(
        ko.Equation(lambda u: -e * ko.laplacian(u) + ko.partial(u, 0) + ko.partial(u, 1), on=SQUARE),
        ko.Dirichlet(on=EDGE),
    )

    def error(operator: Any) -> float:
        rng = np.random.default_rng(0)
        x = np.concatenate([rng.random((1000, 2)), 1 - 20 * e * rng.random((500, 2))])
        u = operator(lambda y: profile(y[..., 0]) + profile(y[..., 1]), 0.0)
        return float(np.max(np.abs(u(x) - profile(x[:, 0]) * profile(x[:, 1]))))

    return problem, ko.Partition(cells=2, levels=0), error


CASES: dict[str, Callable[[], Case]] = {
    "elastic body, ν = 0.3": lambda: elastic(0.3),
    "elastic body, ν = 0.499": lambda: elastic(0.499),
    "elastic body, ν = 0.49999": lambda: elastic(0.49999),
    "reaction and diffusion": reaction,
    "Stokes flow": stokes,
    "lid-driven cavity": cavity,
    "Poisson, fluxes and a mean": fluxes_alone,
    "Helmholtz, ω = 200, impedance boundary": lambda: impedance(None),
    "the same, mixed traces": lambda: impedance("impedance"),
    "Helmholtz at a resonance of parts": resonance,
    "clamped plate": lambda: plate(CLAMPED, None),
    "clamped plate, f = 1": lambda: plate(CLAMPED, clamped_centre),
    "hinged plate, f = 1": lambda: plate(HINGED, hinged_centre),
    "layers, Péclet 10³": lambda: layers(1e3),
    "layers, Péclet 10⁵": lambda: layers(1e5),
}


def run(name: str) -> list[str]:
    problem, method, error = CASES[name]()
    ko.learn(problem, method=ko.Partition(cells=2, degree=4, levels=0, gluing="robin"))  # compiles
    started = time.perf_counter()
    operator = ko.learn(problem, method=method)
    seconds = time.perf_counter() - started
    return [name, str(len(operator.factorisation.locals)), f"{seconds:.1f}", f"{error(operator):.1e}"]


def main() -> None:
    warnings.simplefilter("ignore")
    wanted = sys.argv[1:] or list(CASES)
    rows = [run(name) for name in CASES if any(name.startswith(own) for own in wanted)]
    head = ["problem", "parts", "learning, s", "error"]
    table("Operators made of parts", head, rows)
    save("parts_systems", {"header": head, "rows": rows})


if __name__ == "__main__":
    main()

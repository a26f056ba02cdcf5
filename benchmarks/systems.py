"""Systems and complex values: errors and times of kernop, beside scikit-fem with a cached sparse LU.

On the unit square, a hundred manufactured solutions at once, values on a 41 × 41 grid: Stokes flow, plane strain at
Poisson's ratios 0.3 and 0.499, the Helmholtz equation at ω = 50 with an impedance boundary, and a damped wave in
space–time (which has no peer here). Each by plain `learn(problem)` and with tol=1e-6; the meshes of the peer are
refined until its error is ours or it has some 150 000 unknowns. Where it does not get there, kernop with the fewest
functions whose errors are no larger stands beside the finest mesh.
"""

from __future__ import annotations

import sys
import time
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from common import console, interleaved, once, save, table
from systems_fem import SIDES, Elasticity, Helmholtz, Stokes

import kernop as ko
from kernop.paper.experiment import square_grid

jax.config.update("jax_enable_x64", True)  # for the exact solutions

GRID = square_grid(41)
COUNT = 100
RNG = np.random.default_rng(0)
SQUARE = ko.Box([0, 0], [1, 1])
#: Wave vectors (2, B) and phases (B,) of four families of exact solutions.
WAVES = [(RNG.normal(scale=3.0, size=(2, COUNT)), RNG.uniform(0.0, 6.0, size=COUNT)) for _ in range(4)]
#: Meshes have so many cells along a side, and at most so many unknowns.
CELLS, MOST = (8, 16, 32, 64, 96, 128, 192, 256), 150_000
#: Numbers of functions among which the fewest at equal error are sought.
FUNCTIONS = (100, 150, 200, 300, 400, 600, 800, 1200)
#: A learn of so many seconds is timed again, when everything is compiled.
SHORT = 10.0

Errors = dict[str, float]


@dataclass(frozen=True)
class Peer:
    """A set-up that can be run again, the right-hand sides solved, and the number of unknowns."""

    setup: Callable[[], Any]
    solve: Callable[[], dict[str, np.ndarray]]
    size: int


@dataclass(frozen=True)
class Case:
    """A problem with exact solutions.

    Arguments:
        exact: the solutions, as `Problem.manufacture` takes them.
        peer: from the number of cells along a side to set-up, right-hand sides to solve, and the number of unknowns.
    """

    problem: ko.Problem
    exact: Any
    peer: Callable[[int], Peer] | None = None

    def truth(self) -> dict[str, np.ndarray]:
        """Each unknown on the grid: (M, B) or (M, k, B)."""
        fields = self.exact if isinstance(self.exact, dict) else {"u": self.exact}
        return {name: np.asarray(field(GRID)) for name, field in fields.items()}


def sine(number: int) -> Callable[[Any], Any]:
    k, b = WAVES[number]
    return lambda x: jnp.sin(x @ k + b)


def flow(x: Any) -> Any:
    """(∂ψ/∂y, −∂ψ/∂x) with ψ = sin(k·x + b), (…, 2, B)."""
    k, b = WAVES[0]
    slope = jnp.cos(x @ k + b)
    return jnp.stack([k[1] * slope, -k[0] * slope], axis=-2)


def displacement(x: Any) -> Any:
    return jnp.stack([sine(1)(x), sine(2)(x)], axis=-2)


def errors(found: dict[str, np.ndarray], truth: dict[str, np.ndarray]) -> Errors:
    """The mean over the solutions of the relative L2 error, of each unknown."""
    return {name: float(np.mean(norm(found[name] - own) / norm(own))) for name, own in truth.items()}


def norm(values: np.ndarray) -> np.ndarray:
    return np.sqrt(np.sum(np.abs(values) ** 2, axis=tuple(range(values.ndim - 1))))


def interleave(values: np.ndarray) -> np.ndarray:
    """Vectors at nodes (n, 2, B) in the order of the unknowns of the peer, (2n, B)."""
    return values.reshape(-1, values.shape[-1])


def stacked(rows: np.ndarray) -> np.ndarray:
    """Rows of the peer, component after component (2M, B), as vectors (M, 2, B)."""
    return rows.reshape(2, -1, rows.shape[-1]).swapaxes(0, 1)


def stokes() -> Case:
    problem = ko.Problem(
        ko.Equation(lambda u, p: -ko.laplacian(u) + ko.grad(p), on=SQUARE, name="f"),
        ko.Equation(lambda u: ko.div(u), on=SQUARE, name="mass", data=0.0),
        ko.Dirichlet(on=SQUARE.boundary, name="g", of="u"),
        ko.Mean(on=SQUARE, name="mean", of="p"),
        unknowns={"u": 2, "p": 1},
    )
    exact = {"u": flow, "p": sine(3)}
    rule = SQUARE.quadrature(1024)

    def peer(cells: int) -> Peer:
        setup = lambda: Stokes(np.linspace(0.0, 1.0, cells + 1), GRID)
        fem = setup()
        (k, _), (q, c) = WAVES[0], WAVES[3]
        x = fem.nodes[::2]
        push = q * np.cos(x @ q + c)[:, None]  # ∇p, (n, 2, B)
        f = interleave(np.sum(k**2, axis=0) * np.asarray(flow(x)) + push)
        mean = np.tensordot(rule.weight, np.sin(rule.x @ q + c), axes=1)
        own = fem.boundary % 2
        g = np.asarray(flow(fem.nodes[fem.boundary]))[np.arange(len(own)), own]

        def solve() -> dict[str, np.ndarray]:
            found, m = fem.solve(f, g), 2 * len(GRID)
            return {"u": stacked(found[:m]), "p": found[m:] + mean}

        return Peer(setup, solve, fem.peer.size)

    return Case(problem, exact, peer)


def elasticity(nu: float) -> Case:
    mu, lame = 1.0 / (2.0 * (1.0 + nu)), nu / ((1.0 + nu) * (1.0 - 2.0 * nu))

    def stress(u: Any) -> Any:
        strain = ko.sym(ko.grad(u))
        return 2.0 * mu * strain + lame * ko.trace(strain) * ko.identity(strain)

    right = SQUARE.boundary.where(lambda x: x[..., 0] == 1.0)
    problem = ko.Problem(
        ko.Equation(lambda u: -ko.div(stress(u)), on=SQUARE, name="f"),
        ko.Dirichlet(on=SQUARE.boundary.where(lambda x: x[..., 0] < 1.0), name="g"),
        ko.Condition(lambda u: ko.normal_component(stress(u)), on=right, name="t"),
        unknowns={"u": 2},
    )

    def peer(cells: int) -> Peer:
        setup = lambda: Elasticity(np.linspace(0.0, 1.0, cells + 1), GRID, mu, lame)
        fem = setup()
        x, edge = fem.nodes[::2], fem.nodes[fem.right][::2]
        (k, b), (q, c) = WAVES[1], WAVES[2]  # of u₁ and u₂
        first, second = np.sin(x @ k + b), np.sin(x @ q + c)
        swell = lambda i: (mu + lame) * (k[0] * k[i] * first + q[1] * q[i] * second)  # of −(λ + μ) ∂ᵢ div u
        force = [mu * np.sum(k**2, axis=0) * first + swell(0), mu * np.sum(q**2, axis=0) * second + swell(1)]
        rise, climb = np.cos(edge @ k + b), np.cos(edge @ q + c)
        pull = [(2.0 * mu + lame) * k[0] * rise + lame * q[1] * climb, mu * (k[1] * rise + q[0] * climb)]
        f, t = np.stack(force, axis=1), np.stack(pull, axis=1)
        g = interleave(np.asarray(displacement(x)))[fem.fixed]
        data = [interleave(f), interleave(t)]
        return Peer(setup, lambda: {"u": stacked(fem.peer.solve(data, g))}, fem.peer.size)

    return Case(problem, displacement, peer)


def impedance(omega: float) -> Case:
    problem = ko.Problem(
        ko.Equation(lambda u: -ko.laplacian(u) - omega**2 * u, on=SQUARE, name="f"),
        ko.Robin(-1j * omega, 1.0, on=SQUARE.boundary, name="r"),
    )
    angles = np.linspace(0.0, 2.0 * np.pi, COUNT, endpoint=False)
    d = np.stack([np.cos(angles), np.sin(angles)])

    def waves(x: Any) -> Any:
        return jnp.exp(1j * omega * (x @ d))

    def peer(cells: int) -> Peer:
        setup = lambda: Helmholtz(np.linspace(0.0, 1.0, cells + 1), GRID, omega)
        fem = setup()
        data = [np.zeros((len(fem.nodes), COUNT), dtype=complex)]
        for (_, axis, value), own in zip(SIDES, fem.sides, strict=True):
            outward = (2.0 * value - 1.0) * d[axis]
            data.append(1j * omega * (outward - 1.0) * np.exp(1j * omega * fem.nodes[own] @ d))
        none = np.zeros((0, COUNT))
        return Peer(setup, lambda: {"u": fem.peer.solve(data, none)}, fem.peer.size)

    return Case(problem, waves, peer)


def damped_wave() -> Case:
    string = ko.SpaceTime(ko.Interval(0, 1), (0, 1))
    problem = ko.Problem(
        ko.Equation(lambda u: ko.dt(u, 2) + 1.5 * ko.dt(u) - ko.laplacian(u), on=string, name="f"),
        ko.Dirichlet(on=string.walls, name="g"),
        ko.Initial(on=string.initial, name="position"),
        ko.Initial(on=string.initial, name="velocity", order=1),
    )
    return Case(problem, sine(0))


def kernop(case: Case, tol: float | None, functions: int | None = None) -> dict[str, Any]:
    method = None if functions is None else ko.Subspace(functions)
    points = None if functions is None else 3 * functions * case.problem.unknowns.total
    learn = lambda: ko.learn(case.problem, tol=tol, points=points, method=method)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # constant data, whose corner singularities miss tol=1e-6, are not of the table
        started = time.perf_counter()
        operator = learn()
        spent = time.perf_counter() - started
        if spent < SHORT:  # compilation counts
            spent = once(learn)
    fixed = operator.on(GRID)
    data = case.problem.manufacture(case.exact, operator.points)
    found = fixed(**data)
    values = found._asdict() if isinstance(case.exact, dict) else {"u": found}
    seconds = interleaved({"each": lambda: fixed(**data)}, rounds=3)["each"] / COUNT
    found = errors(values, case.truth())
    console.print(f"kernop, tol={tol}: {operator.n_points} points, {found}, {spent:.1f} s")
    return {"size": operator.n_points, "errors": found, "set-up, s": spent, "each, s": seconds}


def at_equal_error(case: Case, target: Errors) -> dict[str, Any]:
    """With the fewest functions, of a few numbers, whose errors are at most ``target``."""
    for functions in FUNCTIONS:
        found = kernop(case, None, functions)
        if within(found["errors"], target):
            break
    return found | {"functions": functions}


def within(found: Errors, target: Errors) -> bool:
    return all(found[name] <= error for name, error in target.items())


def refined(case: Case, target: Errors) -> list[dict[str, Any]]:
    """The peer on finer and finer meshes, until all of its errors are at most ``target`` or it is large enough."""
    rows, truth = list[dict[str, Any]](), case.truth()
    for cells in CELLS:
        if case.peer is None or (rows and rows[-1]["size"] * (cells / rows[-1]["cells"]) ** 2 > 1.05 * MOST):
            break
        peer = case.peer(cells)
        row = {"cells": cells, "size": peer.size, "errors": errors(peer.solve(), truth)}
        rows.append(row | {"set-up, s": once(peer.setup), "each, s": once(peer.solve) / COUNT})
        console.print(f"scikit-fem: {rows[-1]}")
        if within(rows[-1]["errors"], target):
            break
    return rows


CASES: dict[str, Callable[[], Case]] = {
    "Stokes": stokes,
    "elasticity, ν = 0.3": lambda: elasticity(0.3),
    "elasticity, ν = 0.499": lambda: elasticity(0.499),
    "impedance, ω = 50": lambda: impedance(50.0),
    "damped wave": damped_wave,
}


def shown(row: dict[str, Any]) -> list[str]:
    """Size, errors and times, as a line of the table."""
    found = [f"{row['errors'][k]:.1e}" if k in row["errors"] else "" for k in ("u", "p")]
    return [str(row["size"]), *found, f"{row['set-up, s']:.2f}", f"{1e6 * row['each, s']:.0f}"]


def main(wanted: list[str]) -> None:
    results: dict[str, dict[str, Any]] = {}
    for name, make in CASES.items():
        if wanted and not any(word in name for word in wanted):
            continue
        case = make()
        own = {"learn(problem)": kernop(case, None), "tol=1e-6": kernop(case, 1e-6)}
        peers = refined(case, own["tol=1e-6"]["errors"])
        if peers and not within(peers[-1]["errors"], own["tol=1e-6"]["errors"]):
            equal = at_equal_error(case, peers[-1]["errors"])
            own |= {f"{equal['functions']} functions": equal}
        results[name] = own | {f"scikit-fem, {row['cells']} cells": row for row in peers}
    rows = [[name, how, *shown(row)] for name, group in results.items() for how, row in group.items()]
    headings = ["", "", "points or unknowns", "error of u", "error of p", "set-up, s", "each, µs"]
    table("Systems and complex values: 100 right-hand sides onto 41 × 41 points", headings, rows)
    save("systems", results)


if __name__ == "__main__":
    main(sys.argv[1:])

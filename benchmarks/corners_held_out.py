"""Corners on which no constant of the adaptive halving was tuned: truth against ``tol``, by exact solutions.

The constants of ``learning/partitioned.py`` were chosen on the square, the L-shape, the half-insulated side and the
circle of ``corners.py``; these problems were fixed before they were run. ``--default`` takes ``ko.learn(problem)``.
"""

from __future__ import annotations

import sys
import time
import warnings
from collections.abc import Callable
from typing import Any

import jax.numpy as jnp
import numpy as np
from common import save, table
from corners import ELL, at_tip, known, notch, some
from scipy.special import jv

import kernop as ko

TOL = 1e-6
#: Is `learn` called without it?
DEFAULT = "--default" in sys.argv
#: Problem, data, places, truth there.
Case = tuple[ko.Problem, tuple[Any, ...], Any, Any]


def pentagon() -> Case:
    turn = 2.0 * np.pi * np.arange(5) / 5
    domain = ko.Polygon(np.stack([np.cos(turn), np.sin(turn)], axis=1))
    return known(domain, at_tip([1.0, 0.0], np.pi - 0.3 * np.pi, 0.6 * np.pi))


def tee() -> Case:
    corners = [[-1, 1], [-1, 0.4], [-0.3, 0.4], [-0.3, -1], [0.3, -1], [0.3, 0.4], [1, 0.4], [1, 1]]
    return known(ko.Polygon(corners), at_tip([0.3, 0.4], 0.0, 1.5 * np.pi))


def wedge() -> Case:
    """60°, u = 0 on one side and ∂u/∂n = 0 on the other: r^1.5 sin 1.5θ."""
    domain = ko.Polygon([[0, 0], [1, 0], [0.5, 0.5 * np.sqrt(3.0)]])
    upper = domain.boundary.where(lambda x: np.abs(np.sqrt(3.0) * x[..., 0] - x[..., 1]) < 1e-7)
    rest = domain.boundary.where(lambda x: np.abs(np.sqrt(3.0) * x[..., 0] - x[..., 1]) >= 1e-7)
    problem = ko.Problem(
        ko.Equation(lambda u: -ko.laplacian(u), on=domain),
        ko.Dirichlet(on=rest, name="g"),
        ko.Neumann(on=upper, name="q"),
    )
    exact = lambda x: np.hypot(x[..., 0], x[..., 1]) ** 1.5 * np.sin(1.5 * np.arctan2(x[..., 1], x[..., 0]))
    return problem, (0.0, exact, 0.0), some(domain), exact(some(domain))


def hexagonal_hole() -> Case:
    """Re (z − c) ((z − a) / (z − c))^¾ with a corner a of the hole and c inside it: its cut lies in the hole.

    (r^¾ sin ¾θ alone is no function around a hole: θ grows by 2π.)
    """
    turn = 2.0 * np.pi * np.arange(6) / 6
    hole = np.stack([0.4 * np.cos(turn), 0.4 * np.sin(turn)], axis=1)

    def exact(x: Any) -> Any:
        z = np.asarray(x)[..., 0] + 1j * np.asarray(x)[..., 1]
        return np.real((z + 0.1) * ((z - 0.4) / (z + 0.1)) ** 0.75)

    return known(ko.Polygon([[-1, -1], [1, -1], [1, 1], [-1, 1]], holes=[hole]), exact)


def sector() -> Case:
    """A disk without a wedge of 60°."""
    domain = ko.Ball([0, 0], 1) - ko.Polygon([[0, 0], [2, -2 / np.sqrt(3.0)], [2, 2 / np.sqrt(3.0)]])
    return known(domain, at_tip([0.0, 0.0], np.pi / 6, 5 * np.pi / 3))


def sawtooth() -> Case:
    teeth = [[1, 0], [1, 1], [0.75, 0.5], [0.5, 1], [0.25, 0.5], [0, 1], [0, 0]]
    half = np.arctan(0.5)
    return known(ko.Polygon(teeth[::-1]), at_tip([0.25, 0.5], 0.5 * np.pi + half, 2 * np.pi - 2 * half))


def two_notches() -> Case:
    domain = ko.Box([-1, -1], [1, 1]) - ko.Polygon([[0.2, 1.1], [0.5, 0.3], [0.8, 1.1]])
    return known(domain - ko.Polygon([[-0.7, -1.1], [-0.4, -0.2], [-0.1, -1.1]]), notch)


ell = at_tip([0.0, 0.0], 0.5 * np.pi, 1.5 * np.pi)


def robin() -> Case:
    """∂u/∂n + u on the lower side of the L-shape."""
    lower = ELL.boundary.where(lambda x: x[..., 1] < -1 + 1e-9)
    rest = ELL.boundary.where(lambda x: x[..., 1] >= -1 + 1e-9)
    problem = ko.Problem(
        ko.Equation(lambda u: -ko.laplacian(u), on=ELL),
        ko.Dirichlet(on=rest, name="g"),
        ko.Robin(alpha=1.0, beta=1.0, on=lower, name="r"),
    )
    step = 1e-5

    def flux(x: Any) -> Any:
        down = np.array([0.0, step])
        slope = (8 * (ell(x - down) - ell(x + down)) - (ell(x - 2 * down) - ell(x + 2 * down))) / (12 * step)
        return ell(x) + slope

    return problem, (0.0, ell, flux), some(ELL), ell(some(ELL))


def coefficients() -> Case:
    """−div(eˣ ∇u) at a re-entrant corner: f = −eˣ ∂u/∂x is like r^(−1/3)."""
    problem = ko.Problem(
        ko.Equation(lambda u: -ko.div((lambda x: jnp.exp(x[..., 0])) * ko.grad(u)), on=ELL),
        ko.Dirichlet(on=ELL.boundary),
    )

    def source(x: Any) -> Any:
        r, angle = np.hypot(x[..., 0], x[..., 1]), np.mod(np.arctan2(x[..., 1], x[..., 0]), 2 * np.pi)
        turned = 2 / 3 * (angle - 0.5 * np.pi)
        return -np.exp(x[..., 0]) * 2 / 3 * r ** (-1 / 3) * np.sin(turned - angle)

    return problem, (source, ell), some(ELL), ell(some(ELL))


def waves() -> Case:
    """−Δu − 25 u = 0: J_{2/3}(5 r) sin(2θ/3)."""
    problem = ko.Problem(ko.Equation(lambda u: -ko.laplacian(u) - 25.0 * u, on=ELL), ko.Dirichlet(on=ELL.boundary))

    def exact(x: Any) -> Any:
        r = np.hypot(x[..., 0], x[..., 1])
        return ell(x) / np.maximum(r, 1e-300) ** (2 / 3) * jv(2 / 3, 5 * r)

    return problem, (0.0, exact), some(ELL), exact(some(ELL))


def arrow() -> Case:
    opening = np.arctan(0.5)
    domain = ko.Polygon([[0, 0], [1, 0.5], [-1, 1], [-1, -1], [1, -0.5]])
    return known(domain, at_tip([0.0, 0.0], opening, 2 * np.pi - 2 * opening))


def step_of_data() -> Case:
    """u = 1 on the right side of the square, 0 on the others: u jumps at two corners."""
    square = ko.Box([0, 0], [1, 1])
    problem = ko.Problem(
        ko.Equation(lambda u: -ko.laplacian(u), on=square),
        ko.Dirichlet(on=square.face("right"), name="a"),
        ko.Dirichlet(on=square.face("left", "top", "bottom"), name="b"),
    )
    x = some(square)
    x, k = x[x[:, 0] < 0.9], np.pi * np.arange(1, 400, 2)
    shape = np.exp(-k * (1 - x[:, :1])) * (1 - np.exp(-2 * k * x[:, :1])) / (1 - np.exp(-2 * k))
    return problem, (0.0, 1.0, 0.0), x, np.sum(4 / k * np.sin(k * x[:, 1:]) * shape, axis=1)


CASES: dict[str, Callable[[], Case]] = {
    "regular pentagon, r^1.67": pentagon,
    "T-shape, r^0.67": tee,
    "wedge of 60°, mixed, r^1.5": wedge,
    "hexagonal hole, r^0.75": hexagonal_hole,
    "sector of 300°, r^0.6": sector,
    "sawtooth, r^0.59": sawtooth,
    "two notches, r^0.56": two_notches,
    "Robin side, r^0.67": robin,
    "variable coefficient, r^0.67": coefficients,
    "waves, J_2/3(5r)": waves,
    "arrow, r^0.59": arrow,
    "data that jump at corners": step_of_data,
}


def run(name: str) -> list[str]:
    problem, data, x, truth = CASES[name]()
    started = time.process_time()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        T = ko.learn(problem, tol=None if DEFAULT else TOL)
        seconds = time.process_time() - started
        error = np.max(np.abs(T(*data)(x) - truth)) / np.max(np.abs(truth))
    parts = getattr(getattr(T.factorisation.expansion, "mosaic", None), "owners", [0])
    met = "met" if T.report is not None and T.report.met and not T.report.missed else "not met"
    return [name, str(len(parts)), f"{seconds:.1f}", f"{error:.1e}", met]


def main() -> None:
    words = [word for word in sys.argv[1:] if not word.startswith("--")]
    chosen = [name for name in CASES if not words or any(word in name for word in words)]
    rows: list[list[str]] = []
    for name in chosen:
        try:
            rows.append(run(name))
        except ko.errors.KernopError as error:
            rows.append([name, "", "", "", str(error)[:60]])
        print(" · ".join(rows[-1]), flush=True)
    goal = "by default" if DEFAULT else f"tol={TOL:.0e}"
    header = ["problem", "parts", "processor [s]", "error", goal]
    table(f"Corners that no constant was tuned on, {goal}", header, rows)
    save("corners_held_out_default" if DEFAULT else "corners_held_out", {"header": header, "rows": rows})


if __name__ == "__main__":
    main()

"""The picture of README and of the site: four operators, each learned once, with one of their answers.

`python tools/hero.py` learns them in some seconds each and writes
docs/figures/hero.png.
"""

import warnings
from pathlib import Path
from typing import Any

import numpy as np

import kernop as ko
from kernop.plotting import pyplot, save

ROOT, SIDE = Path(__file__).parents[1], 320


def gear() -> tuple[Any, Any]:
    """Heat that enters at the bore of a gear from a file, whose teeth are cold."""
    wheel, bore = (
        ko.Polygon(np.loadtxt(ROOT / "examples/data/gear.csv", delimiter=",", skiprows=1)),
        ko.Ball([0, 0], 0.3),
    )
    domain = wheel - bore
    problem = ko.Problem(
        ko.Equation(lambda u: -ko.laplacian(u), on=domain, data=0.0),
        ko.Dirichlet(on=domain.boundary.of(wheel), name="g", data=0.0),
        ko.Neumann(on=domain.boundary.of(bore), name="q"),
    )
    return domain, ko.learn(problem, points=1800, method=ko.Subspace(600))(q=1.0)


def waves() -> tuple[Any, Any]:
    """A source of waves in a disk whose boundary absorbs, k = 25: complex values."""
    disk, k = ko.Ball([0, 0], 1), 25.0
    problem = ko.Problem(
        ko.Equation(lambda u: -ko.laplacian(u) - k**2 * u, on=disk, name="f"),
        ko.Robin(-1j * k, 1.0, on=disk.boundary, name="r", data=0.0),
    )
    T = ko.learn(problem, points=2100, method=ko.Subspace(700))
    return disk, T(f=lambda x: np.exp(-np.sum((x - [0.35, 0.25]) ** 2, axis=-1) / 0.08**2))


def fibres() -> tuple[Any, Any]:
    """The strength of the field in a plate with a fibre that conducts ten times better."""
    plate, fibre = ko.Box([-1, -1], [1, 1]), ko.Ball([0, 0], 0.5)
    a = ko.Piecewise({fibre: 10.0}, otherwise=1.0)
    problem = ko.Problem(
        ko.Equation(lambda u: -ko.div(a * ko.grad(u)), on=plate, data=0.0), ko.Dirichlet(on=plate.boundary, name="g")
    )
    u = ko.learn(problem, points=900, method=ko.Subspace(300))(g=lambda x: x[..., 0] + 0.5 * x[..., 1])
    return plate, lambda x: np.linalg.norm(u.grad(x), axis=1)


def sources() -> tuple[Any, Any]:
    """Five sources of either sign in a plate with three holes whose rims are cold."""
    holes = [ko.Ball([-0.45, 0.4], 0.22), ko.Ball([0.5, 0.1], 0.3), ko.Ball([-0.2, -0.5], 0.25)]
    domain = ko.Box([-1, -1], [1, 1]) - holes[0] - holes[1] - holes[2]
    problem = ko.Problem(
        ko.Equation(lambda u: -ko.laplacian(u), on=domain, name="f"),
        ko.Dirichlet(on=domain.boundary, name="g", data=0.0),
    )
    T = ko.learn(problem, points=1800, method=ko.Subspace(600))
    places = np.array([[0.1, 0.7], [-0.75, -0.1], [0.35, -0.6], [0.05, 0.05], [0.8, 0.7]])
    strengths = np.array([1.0, -0.8, 0.9, 0.7, -0.9])
    return domain, T(lambda x: np.exp(-np.sum((x[..., None, :] - places) ** 2, axis=-1) / 0.12**2) @ strengths)


SHOWN = {
    "heat in a gear": (gear, "inferno"),
    "waves that leave a disk": (waves, "RdBu"),
    "field around a fibre": (fibres, "viridis"),
    "sources, and cold holes": (sources, "PuOr"),
}


def main() -> None:
    """Learn, draw, write."""
    figure, axes = pyplot().subplots(1, 4, figsize=(12.8, 3.6), layout="constrained")
    for axis, (caption, (make, cmap)) in zip(axes, SHOWN.items(), strict=True):
        domain, u = make()
        low, high = domain.bounds
        lines = [np.linspace(low[k], high[k], SIDE) for k in (0, 1)]
        x = np.stack(np.meshgrid(*lines, indexing="ij"), axis=-1).reshape(-1, 2)
        inside, values = domain.contains(x), np.full(len(x), np.nan)
        values[inside] = np.real(u(x[inside]))
        limits = (
            {} if cmap in ("inferno", "viridis") else {"vmin": -np.nanmax(abs(values)), "vmax": np.nanmax(abs(values))}
        )
        extent = (low[0], high[0], low[1], high[1])
        axis.imshow(values.reshape(SIDE, SIDE).T, origin="lower", extent=extent, cmap=cmap, **limits)
        axis.set_title(caption, fontsize=14)
        axis.set_axis_off()
        print(caption, flush=True)
    print(save(figure, ROOT / "docs" / "figures" / "hero.png"))


if __name__ == "__main__":
    with warnings.catch_warnings(action="ignore", category=ko.AccuracyWarning):  # corners of the gear: see the gallery
        main()

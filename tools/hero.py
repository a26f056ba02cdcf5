"""The picture of README and of the site: four operators, each learned once, with one of their answers.

`python tools/hero.py` learns each twice, the second time with fewer functions, prints how far the two answers are
apart, refuses what a reader could see, and writes docs/figures/hero.png.
"""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

import kernop as ko
from kernop.plotting import pyplot, save

#: Pixels along a side of each panel; the largest difference, relative to u, that they do not show: one shade of 256.
ROOT, SIDE, VISIBLE = Path(__file__).parents[1], 420, 1 / 256


def one_space(problem: ko.Problem, fine: bool, number: int = 1200) -> Any:
    """An operator in one space for the whole domain."""
    number = number if fine else 3 * number // 4
    return ko.learn(problem, points=3 * number, method=ko.Subspace(number))


def cable(fine: bool) -> tuple[Any, Any]:
    """The potential between two wires at ±1 and their round shield."""
    shield, wires = ko.Ball([0, 0], 1), [ko.Ball([-0.38, 0.1], 0.25), ko.Ball([0.42, -0.15], 0.3)]
    domain = shield - wires[0] - wires[1]
    problem = ko.Problem(
        ko.Equation(lambda u: -ko.laplacian(u), on=domain, data=0.0),
        ko.Dirichlet(on=domain.boundary.of(shield), name="outside", data=0.0),
        ko.Dirichlet(on=domain.boundary.of(wires[0]), name="first"),
        ko.Dirichlet(on=domain.boundary.of(wires[1]), name="second"),
    )
    return domain, one_space(problem, fine)(first=1.0, second=-1.0)


def waves(fine: bool) -> tuple[Any, Any]:
    """Two sources of waves in a disk whose boundary absorbs, k = 20: complex values."""
    disk, k, places = ko.Ball([0, 0], 1), 20.0, np.array([[0.35, 0.3], [-0.4, -0.2]])
    problem = ko.Problem(
        ko.Equation(lambda u: -ko.laplacian(u) - k**2 * u, on=disk, name="f"),
        ko.Robin(-1j * k, 1.0, on=disk.boundary, name="r", data=0.0),
    )
    T = one_space(problem, fine)
    return disk, T(f=lambda x: np.sum(np.exp(-np.sum((x[..., None, :] - places) ** 2, axis=-1) / 0.14**2), axis=-1))


def fibre(fine: bool) -> tuple[Any, Any]:
    """The potential in a plate with a fibre that conducts ten times better."""
    plate, fibre = ko.Box([-1, -1], [1, 1]), ko.Ball([0, 0], 0.5)
    a = ko.Piecewise({fibre: 10.0}, otherwise=1.0)
    problem = ko.Problem(
        ko.Equation(lambda u: -ko.div(a * ko.grad(u)), on=plate, data=0.0), ko.Dirichlet(on=plate.boundary, name="g")
    )
    return plate, one_space(problem, fine)(g=lambda x: x[..., 0] + 0.5 * x[..., 1])


def sources(fine: bool) -> tuple[Any, Any]:
    """Five sources of either sign in a plate with three holes whose rims are cold."""
    holes = [ko.Ball([-0.45, 0.4], 0.22), ko.Ball([0.5, 0.1], 0.3), ko.Ball([-0.2, -0.5], 0.25)]
    domain = ko.Box([-1, -1], [1, 1]) - holes[0] - holes[1] - holes[2]
    problem = ko.Problem(
        ko.Equation(lambda u: -ko.laplacian(u), on=domain, name="f"),
        ko.Dirichlet(on=domain.boundary, name="g", data=0.0),
    )
    T = one_space(problem, fine, 2000)
    places = np.array([[0.1, 0.7], [-0.75, -0.1], [0.35, -0.6], [0.05, 0.05], [0.8, 0.7]])
    strengths = np.array([1.0, -0.8, 0.9, 0.7, -0.9])
    return domain, T(lambda x: np.exp(-np.sum((x[..., None, :] - places) ** 2, axis=-1) / 0.2**2) @ strengths)


#: The captions; how each is made; its colours, and whether they are the same on both sides of 0.
SHOWN: dict[str, tuple[Callable[[bool], tuple[Any, Any]], str, bool]] = {
    "two wires in a shield": (cable, "PRGn", True),
    "waves that leave a disk": (waves, "RdBu", True),
    "a fibre that conducts better": (fibre, "cividis", False),
    "sources, and cold holes": (sources, "PuOr", True),
}


def panel(axis: Any, domain: Any, u: Any, cmap: str, both: bool) -> None:
    """u in colours with lines of equal value, and the outline of the domain."""
    margin = 0.02 * np.subtract(*domain.bounds[::-1])
    low, high = domain.bounds[0] - margin, domain.bounds[1] + margin
    lines = [np.linspace(low[k], high[k], SIDE) for k in (0, 1)]
    x = np.stack(np.meshgrid(*lines, indexing="ij"), axis=-1).reshape(-1, 2)
    inside, values = domain.contains(x), np.full(len(x), np.nan)
    values[inside] = np.real(u(x[inside]))
    image, height = (own.reshape(SIDE, SIDE).T for own in (values, domain.height(x)))
    most = np.nanmax(np.abs(values))
    limits = {"vmin": -most, "vmax": most} if both else {}
    axis.imshow(image, origin="lower", extent=(low[0], high[0], low[1], high[1]), cmap=cmap, **limits)
    if cmap != "RdBu":  # waves have enough lines of their own
        steps = np.arange(-7, 8) / 7.5
        levels = most * steps[steps != 0.0]  # a line at 0 would follow rims that are 0
        axis.contour(*lines, image, levels, colors="0.1" if both else "white", linewidths=0.6, alpha=0.45)
    axis.contour(*lines, height, [0.0], colors="0.25", linewidths=1.0)
    axis.set_axis_off()


def main() -> None:
    """Learn, check, draw, write."""
    figure, axes = pyplot().subplots(1, 4, figsize=(14.4, 4.0), layout="constrained")
    for axis, (caption, (make, cmap, both)) in zip(axes, SHOWN.items(), strict=True):
        (domain, u), (_, coarse) = make(True), make(False)
        x = domain.sample(2000, "uniform", seed=0).x
        apart = np.max(np.abs(u(x) - coarse(x))) / np.max(np.abs(u(x)))
        print(f"{caption}: {apart:.1e} from the answer with fewer functions", flush=True)
        assert apart < VISIBLE, f"{caption} is not resolved"
        panel(axis, domain, u, cmap, both)
        axis.set_title(caption, fontsize=15)
    print(save(figure, ROOT / "docs" / "figures" / "hero.png"))


if __name__ == "__main__":
    main()

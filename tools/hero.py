"""The picture of README and of the site: eight examples, each learned once. `python tools/hero.py`

Runs the examples that it shows, a few minutes in all, and writes docs/figures/hero.png.
"""

import runpy
import tempfile
from collections.abc import Callable
from contextlib import chdir
from pathlib import Path
from typing import Any

import numpy as np

from kernop.plotting import pyplot, save

ROOT = Path(__file__).parents[1]
SIDE = 480


def length(v: Callable[[np.ndarray], Any]) -> Callable[[np.ndarray], np.ndarray]:
    """The length of a vector field."""
    return lambda x: np.linalg.norm(v(x), axis=1)


#: Example, caption, the names in it of a domain and of what is shown there, and its colours.
SHOWN: list[tuple[str, str, str, Callable[[dict[str, Any]], Any], str]] = [
    ("gear", "heat in a gear", "gear", lambda own: own["heated"], "inferno"),
    ("cavity", "flow under a moving lid", "D", lambda own: length(own["cavity"]), "viridis"),
    ("impedance", "waves that leave a room", "room", lambda own: own["T"](r=own["data"][:, 7]), "RdBu"),
    ("l_shape", "a re-entrant corner", "plate", lambda own: own["u"], "inferno"),
    ("inclusion", "field around a fibre", "plate", lambda own: length(own["u"].grad), "viridis"),
    (
        "groundwater",
        "groundwater and two wells",
        "D",
        lambda own: own["T"](q=own["q"] @ own["rates"][:, 0], head=own["heads"][0]),
        "viridis",
    ),
    ("annulus", "a cable off the middle", "gap", lambda own: own["u"], "inferno"),
    (
        "find_the_source",
        "a source, and its sensors",
        "room",
        lambda own: own["T"](lambda x: own["smoke"](x, own["found"])),
        "viridis",
    ),
]


def run(name: str) -> dict[str, Any]:
    """The names of an example after it has run, its picture thrown away."""
    with tempfile.TemporaryDirectory() as folder, chdir(folder):
        return runpy.run_path(str(ROOT / "examples" / f"{name}.py"))


def image(domain: Any, u: Any) -> tuple[np.ndarray, tuple[float, float, float, float]]:
    """u on a grid over the domain, NaN outside; its real part."""
    low, high = domain.bounds
    lines = [np.linspace(low[k], high[k], SIDE) for k in (0, 1)]
    x = np.stack(np.meshgrid(*lines, indexing="ij"), axis=-1).reshape(-1, 2)
    inside, values = domain.contains(x), np.full(len(x), np.nan)
    values[inside] = np.real(u(x[inside]))
    return values.reshape(SIDE, SIDE).T, (low[0], high[0], low[1], high[1])


def main() -> None:
    """Run, draw, write."""
    figure, axes = pyplot().subplots(2, 4, figsize=(12.8, 6.9), layout="constrained")
    for axis, (name, caption, domain, shown, cmap) in zip(axes.flat, SHOWN, strict=True):
        own = run(name)
        values, extent = image(own[domain], shown(own))
        axis.imshow(values, origin="lower", extent=extent, cmap=cmap, interpolation="nearest")
        if name == "find_the_source":
            axis.plot(*own["sensors"].T, "wo", markersize=5, markeredgecolor="k")
        axis.set_title(caption, fontsize=14)
        axis.set_axis_off()
    print(save(figure, ROOT / "docs" / "figures" / "hero.png"))


if __name__ == "__main__":
    main()

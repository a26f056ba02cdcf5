"""The convergence study of the paper in three dimensions, and the same with kernop's defaults.

    python benchmarks/poisson3d.py                     # a small version, two minutes
    python benchmarks/poisson3d.py --full [datasets]   # N up to 300 000, L = 5000; hours, and it can be interrupted

What was computed is kept in out/poisson3d and not computed again. One process of one BLAS thread for each core is the
quickest way to many data sets: OPENBLAS_NUM_THREADS=1.
"""

from __future__ import annotations

import sys
from pathlib import Path

from common import OUT, console, save, table

from kernop.experiments.poisson3d import PAPER_SLOPES, Study, run, summary
from kernop.plotting import convergence

FOLDER = Path("out/poisson3d")
NAMES = {"l2": "relative L2", "linf": "relative L∞"}


def study(estimator: str, full: bool) -> Study:
    return Study(estimator) if full else Study(estimator, centers=1000, sizes=(10_000, 20_000, 40_000))


def main() -> None:
    full = "--full" in sys.argv
    datasets = int(sys.argv[-1]) if sys.argv[-1].isdigit() else 5 if full else 2
    found = {
        estimator: summary(list(run(study(estimator, full), datasets, FOLDER, console.print)))
        for estimator in ("paper", "default")
    }
    sizes = found["paper"]["sizes"]
    rows: list[list[str]] = []
    for estimator, result in found.items():
        for name, line in result["lines"].items():
            label, norm = name.split()
            paper = f"{PAPER_SLOPES[label][norm == 'linf']:.2f}" if label in PAPER_SLOPES else "–"
            errors = [f"{line['mean'][k]:.1e} ± {line['standard error'][k]:.0e}" for k in (0, -1)]
            rows.append([f"{estimator}, {label}", NAMES[norm], *errors, f"{line['slope']:.2f}", paper])
    headings = ["", "", f"N = {sizes[0]}", f"N = {sizes[-1]}", "slope β", "paper's β"]
    table(f"Poisson 3-D, {found['paper']['data sets']} data sets", headings, rows)
    ratio = found["paper"]["lines"]["fixed l2"]["mean"][0] / found["default"]["lines"]["default l2"]["mean"][0]
    console.print(f"The default is {ratio:.1e} times more accurate than the paper's estimator at N = {sizes[0]}.")
    for label in ("fixed", "adaptive", "default"):
        lines = found["default" if label == "default" else "paper"]["lines"]
        shown = {NAMES[norm]: lines[f"{label} {norm}"] for norm in NAMES}
        slopes = dict(zip(NAMES.values(), PAPER_SLOPES[label], strict=True)) if label in PAPER_SLOPES else None
        title = f"Poisson 3-D, {'kernop by default' if label == 'default' else f'{label} regularisation'}"
        path = convergence(sizes, shown, OUT / f"poisson3d_{label}.png", title=title, slopes=slopes)
        console.print(f"Figure: {path}")
    for estimator, result in found.items():
        console.print(
            f"{estimator}: {result['mean seconds']:.0f} s for a data set, {result['mean seconds'] / 3:.0f} min for 20"
        )
    save("poisson3d", {"full": full, **found})


if __name__ == "__main__":
    main()

"""The command line: ``kernop demo``."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import numpy as np
from cyclopts import App, Parameter
from rich.console import Console
from rich.table import Table

import kernop
from kernop.errors import KernopError
from kernop.experiments import darcy, measure
from kernop.plotting import true_predicted_error

app = App(name="kernop", help="Learn the solution operator of a linear PDE in closed form.", version=kernop.__version__)
console = Console()


@app.command
def demo(*, out: Annotated[Path, Parameter(help="Folder for the figure.")] = Path("out"), seed: int = 0) -> None:
    """Learn the paper's Darcy operator, apply it to 50 random right-hand sides, print the errors, draw a figure."""
    experiment = darcy("a2", seed=seed)
    console.print("\n[bold]Darcy flow[/]  −∇·(a∇u) = f in (0,1)²,  u = g on the boundary,  a = exp(x + y)")
    console.print("Learning T: (f, g) ↦ u from the equation alone, with the paper's settings …")
    experiment.learn_as_paper(seed)  # compiles
    operator = experiment.learn_as_paper(seed, progress=True)
    outcome = measure(experiment, operator)
    table = Table(title="Mean over 50 random neural networks as exact solutions")
    for heading in ("", "learn [s]", "all 50 solutions [s]", "relative L2", "relative L∞"):
        table.add_column(heading, justify="left" if not heading else "right")
    paper = experiment.paper
    table.add_row("paper", f"{paper.seconds:.2f}", "", f"{paper.l2:.1e}", f"{paper.linf:.1e}")
    ours = (f"{outcome.learn_seconds:.2f}", f"{outcome.apply_seconds:.2f}")
    table.add_row("kernop, the paper's estimator", *ours, f"{outcome.mean_l2:.1e}", f"{outcome.mean_linf:.1e}")
    console.print(table)
    typical = int(np.argsort(outcome.l2)[len(outcome.l2) // 2])
    title = f"Darcy flow, a = exp(x + y): a solution of median error (relative L2 {outcome.l2[typical]:.1e})"
    exact, found = outcome.exact[:, typical], outcome.found[:, typical]
    figure = true_predicted_error(experiment.grid, exact, found, out / "demo.png", title=title)
    console.print(f"Figure: [bold]{figure}[/]")


def main() -> None:
    """The entry point of the ``kernop`` command."""
    try:
        app()
    except KernopError as error:
        console.print(f"[bold red]error[/] {error}", highlight=False)
        sys.exit(1)

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
from kernop.experiments import Experiment, Outcome, darcy, measure
from kernop.plotting import true_predicted_error

app = App(name="kernop", help="Learn the solution operator of a linear PDE in closed form.", version=kernop.__version__)
console = Console()


@app.command
def demo(*, out: Annotated[Path, Parameter(help="Folder for the figure.")] = Path("out"), seed: int = 0) -> None:
    """Learn the paper's Darcy operator, apply it to 50 random right-hand sides, print the errors, draw a figure."""
    experiment = darcy("a2", seed=seed)
    console.print("\n[bold]Darcy flow[/]  −∇·(a∇u) = f in (0,1)²,  u = g on the boundary,  a = exp(x + y)")
    console.print("Learning T: (f, g) ↦ u from the equation alone,")
    console.print("from 2500 random points inside and 1500 on the boundary.\n")
    ways = {"the paper's estimator": experiment.learn_as_paper, "kernop's default": experiment.learn_by_default}
    outcomes: dict[str, Outcome] = {}
    for name, learn in ways.items():
        learn(seed)  # compiles
        console.print(f"[bold]{name}[/]")
        outcomes[name] = measure(experiment, learn(seed, progress=True))
    console.print()
    console.print(_comparison(experiment, outcomes))
    first, best = outcomes.values()
    typical = int(np.argsort(first.l2)[len(first.l2) // 2])
    figure = true_predicted_error(
        experiment.grid,
        first.exact[:, typical],
        {name: outcome.found[:, typical] for name, outcome in outcomes.items()},
        out / "demo.png",
        title="Darcy flow, a = exp(x + y): one of 50 test solutions",
    )
    times = experiment.paper.l2 / best.mean_l2
    console.print(f"\nOn the same points, the default is {times:.0e} times more accurate than the paper's table.")
    console.print(f"Figure: [bold]{figure}[/]")


def _comparison(experiment: Experiment, outcomes: dict[str, Outcome]) -> Table:
    table = Table(title="Relative errors, mean over 50 random neural networks")
    for heading in ("", "learn, s", "50 solves, s", "L2 error", "L∞ error"):
        table.add_column(heading, justify="right" if heading else "left", no_wrap=True)
    paper = experiment.paper
    table.add_row("paper, as printed", f"{paper.seconds:.2f}", "", f"{paper.l2:.1e}", f"{paper.linf:.1e}")
    for name, outcome in outcomes.items():
        seconds = (f"{outcome.learn_seconds:.2f}", f"{outcome.apply_seconds:.2f}")
        table.add_row(name, *seconds, f"{outcome.mean_l2:.1e}", f"{outcome.mean_linf:.1e}")
    return table


def main() -> None:
    """The entry point of the ``kernop`` command."""
    try:
        app(sys.argv[1:])
    except KernopError as error:
        console.print(f"[bold red]error[/] {error}", highlight=False)
        sys.exit(1)

"""The command line: ``kernop demo``, ``kernop reproduce``, ``kernop info``."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated, Literal

import numpy as np
from cyclopts import App, Parameter
from rich.console import Console
from rich.markup import escape
from rich.progress import Progress, SpinnerColumn, TimeElapsedColumn
from rich.table import Table

import kernop
from kernop.basics.errors import KernopError
from kernop.environment import environment
from kernop.operators.load import file_summary
from kernop.paper import Experiment, Outcome, darcy, measure
from kernop.paper.reproduce import CHAPTERS, Chapter, Request, write_json
from kernop.paper.tables import tables
from kernop.plotting import true_predicted_error

#: What ``kernop reproduce`` can run.
Choice = Literal["darcy", "darcy-rough", "helmholtz", "helmholtz-smooth", "schrodinger", "heat", "poisson3d", "all"]

app = App(name="kernop", help="Learn the solution operator of a linear PDE in closed form.", version=kernop.__version__)
console = Console()


@app.command
def demo(*, out: Annotated[Path, Parameter(help="Folder for the figure.")] = Path("out"), seed: int = 0) -> None:
    """Learn the paper's Darcy operator, apply it to 50 random right-hand sides, print the errors, draw a figure."""
    experiment = darcy("a2", seed=seed)
    console.print("\n[bold]Darcy flow[/]  −∇·(a∇u) = f in (0,1)²,  u = g on the boundary,  a = exp(x + y)")
    console.print("Learning T: (f, g) ↦ u from the equation alone,")
    console.print("from 2500 random points inside and 1500 on the boundary.\n")
    ways = {"the paper's estimator": experiment.learn_as_paper, "kernop by default": experiment.learn_by_default}
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


@app.command
def reproduce(
    *names: Choice,
    quick: Annotated[bool, Parameter(help="Small versions of what takes long: two minutes at most.")] = False,
    out: Annotated[Path, Parameter(help="Folder for figures and JSON.")] = Path("out/paper"),
    seed: Annotated[int, Parameter(help="Of the points and the test functions.")] = 0,
    datasets: Annotated[int | None, Parameter(help="Data sets of poisson3d.")] = None,
) -> None:
    """Run the tables and figures of the paper, print ours beside the paper's, and write JSON and figures.

    Without names, everything. poisson3d takes about an hour for five data sets unless it is --quick; it can be
    interrupted and goes on where it was.
    """
    chosen = list(CHAPTERS) if not names or "all" in names else list(dict.fromkeys(names))
    found: list[Chapter] = []
    with Progress(SpinnerColumn(), *Progress.get_default_columns(), TimeElapsedColumn(), console=console) as bar:
        task = bar.add_task("", total=len(chosen))
        request = Request(out, quick, seed, datasets, lambda text: bar.update(task, description=text))
        for name in chosen:
            chapter = CHAPTERS[name](request)
            found.append(chapter)
            files = ", ".join(map(str, (write_json(chapter, request), *chapter.figures)))
            bar.console.print(f"[bold]{name}[/]: {files}", soft_wrap=True)
            bar.advance(task)
    for table in tables(found):
        _whole(table)


def _whole(table: Table) -> None:
    """Print a table as wide as it is: a terminal may wrap its lines, but no figure is cut."""
    needed = Console(width=1000).measure(table).maximum
    Console(width=max(console.width, needed)).print(table)


@app.command
def info(file: Annotated[Path | None, Parameter(help="A file that T.save wrote: what does it hold?")] = None) -> None:
    """Versions, threads, memory and devices; or what the file of an operator holds."""
    table = Table(show_header=False)
    for name, value in (environment() if file is None else file_summary(file)).items():
        text = ", ".join(map(str, value)) if isinstance(value, list) else str(value)
        table.add_row(escape(name), escape(text))  # a file may hold what looks like markup
    console.print(table)


def main() -> None:
    """The entry point of the ``kernop`` command."""
    try:
        app(sys.argv[1:])
    except KernopError as error:
        console.print(f"[bold red]error[/] {escape(str(error))}", highlight=False)
        sys.exit(1)

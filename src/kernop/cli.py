"""The command line: ``kernop demo``, ``reproduce``, ``info``, ``page``, ``serve``."""

from __future__ import annotations

import sys
import webbrowser
from pathlib import Path
from typing import Annotated, Literal

from cyclopts import App, Parameter
from rich.console import Console
from rich.markup import escape
from rich.progress import Progress, SpinnerColumn, TimeElapsedColumn
from rich.table import Table

import kernop
from kernop.basics.errors import ArgumentError, KernopError, MissingExtraError, fail
from kernop.environment import environment
from kernop.operators.load import file_summary, load
from kernop.paper import Experiment, Outcome, darcy
from kernop.paper.reproduce import CHAPTERS, DEFAULT, Chapter, Request, compare, write_json
from kernop.paper.tables import tables
from kernop.serving import write_page

#: What ``kernop reproduce`` can run.
Choice = Literal["darcy", "darcy-rough", "helmholtz", "helmholtz-smooth", "schrodinger", "heat", "poisson3d", "all"]

app = App(name="kernop", help="Learn the solution operator of a linear PDE in closed form.", version=kernop.__version__)
console = Console()


@app.command
def demo(
    *,
    out: Annotated[Path, Parameter(help="Folder for the figure.")] = Path("out"),
    seed: int = 0,
    live: Annotated[bool, Parameter(help="Open a live page of the operator in the browser at the end.")] = False,
) -> None:
    """Learn the paper's Darcy operator, apply it to 50 random right-hand sides, print the errors, draw a figure."""
    experiment = darcy("a2", seed=seed)
    console.print("\n[bold]Darcy flow[/]  −∇·(a∇u) = f in (0,1)²,  u = g on the boundary,  a = exp(x + y)")
    console.print("Learning T: (f, g) ↦ u from the equation alone,")
    console.print("from 2500 random points inside and 1500 on the boundary.\n")
    with console.status("Learning it by the paper's estimator and by default, and solving …"):
        both = compare(experiment, Request(out, seed=seed))
    console.print(_comparison(experiment, both.outcomes))
    times = experiment.paper.l2 / both.outcomes[DEFAULT].mean_l2
    console.print(f"\nOn the same points, the default is {times:.0e} times more accurate than the paper's table.")
    figure = both.maps(out / "demo.png", title="Darcy flow, a = exp(x + y): one of 50 test solutions")
    console.print(f"Figure: [bold]{figure}[/]")
    if live:
        with console.status("Writing the live page …"):
            place = write_page(experiment.learn_by_default(seed), out / "demo.html", "Darcy flow, a = exp(x + y)")
        console.print(f"Live page: [bold]{place}[/]")
        webbrowser.open(place.resolve().as_uri())


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


@app.command
def page(
    file: Annotated[Path, Parameter(help="A file that T.save wrote.")],
    *,
    out: Annotated[Path | None, Parameter(name=["--out", "-o"], help="The page; beside the file by default.")] = None,
    title: Annotated[str, Parameter(help="What stands above.")] = "",
) -> None:
    """Write the live page of an operator: one HTML file that runs in the browser alone."""
    operator = load(file)
    with console.status("Solving for sources all over the domain, and estimating errors …"):
        place = write_page(operator, out or file.with_suffix(".html"), title or file.stem)
    console.print(f"[bold]{place}[/], {place.stat().st_size / 1e6:.1f} MB", soft_wrap=True)


@app.command
def serve(
    *files: Annotated[Path, Parameter(help="Files that T.save wrote; each is served under its name.")],
    host: Annotated[str, Parameter(help="The address to listen at; 0.0.0.0 for all.")] = "127.0.0.1",
    port: int = 8000,
    token: Annotated[str | None, Parameter(help="What clients must send.", env_var="KERNOP_TOKEN")] = None,
    workers: Annotated[int, Parameter(help="Processes; each loads the operators.")] = 1,
    threads: Annotated[int | None, Parameter(help="For numerical work; one for each core by default.")] = None,
    body: Annotated[int, Parameter(help="The most bytes of a request.")] = 32 * 2**20,
    points: Annotated[int, Parameter(help="The most points of a request.")] = 250_000,
    inputs: Annotated[int, Parameter(help="The most inputs of a request.")] = 1000,
    seconds: Annotated[float, Parameter(help="The most seconds for a request.")] = 60.0,
) -> None:
    """Serve operators over HTTP, with a live page for each. Needs the extra kernop[serve]."""
    try:
        from kernop.serving.refusal import Limits
        from kernop.serving.server import serve as run
        from kernop.serving.server import serve_together
    except ImportError as error:
        remedy = "install the extra: pip install 'kernop[serve]'"
        raise fail(MissingExtraError, "serve", f"no package {error.name}", remedy) from error
    known = {file.stem: file for file in files}
    if len(known) < max(1, len(files)):
        names = [file.stem for file in files]
        got = "none" if not files else f"two with the name {max(names, key=names.count)!r}"
        raise fail(ArgumentError, "files", got, "give files of operators with different names")
    operators = {name: load(file) for name, file in known.items()}
    limits = Limits(body=body, points=points, inputs=inputs, seconds=seconds)
    console.print(f"{', '.join(known)}: http://{host}:{port}  (interface: /docs)", soft_wrap=True)
    if workers == 1:
        run(operators, host=host, port=port, token=token, limits=limits, threads=threads)
        return
    del operators  # they can be read; each process loads its own
    serve_together(known, workers, host=host, port=port, token=token, limits=limits, threads=threads)


def main() -> None:
    """The entry point of the ``kernop`` command."""
    try:
        app(sys.argv[1:])
    except KernopError as error:
        console.print(f"[bold red]error[/] {escape(str(error))}", highlight=False)
        sys.exit(1)

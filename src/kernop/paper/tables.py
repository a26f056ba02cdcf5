"""The tables that ``kernop reproduce`` prints."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from rich.table import Table

from kernop.paper.poisson3d import NORMS, PAPER_SLOPES
from kernop.paper.reproduce import Chapter, Figures, GreenRow, Row


def tables(chapters: Sequence[Chapter]) -> Iterator[Table]:
    """A table for each kind of result that the chapters have."""
    rows = [row for chapter in chapters for row in chapter.rows]
    if any(isinstance(row, Row) for row in rows):
        yield _comparison([row for row in rows if isinstance(row, Row)])
    if any(isinstance(row, GreenRow) for row in rows):
        yield _green([row for row in rows if isinstance(row, GreenRow)])
    for chapter in chapters:
        if chapter.name == "darcy-rough":
            yield _rough(chapter)
        if chapter.name == "poisson3d":
            yield _slopes(chapter)


def _table(title: str, *headings: str, left: int = 1, no_wrap: bool = False) -> Table:
    table = Table(title=title)
    for k, heading in enumerate(headings):
        table.add_column(heading, justify="left" if k < left else "right", no_wrap=no_wrap)
    return table


def _comparison(rows: Sequence[Row]) -> Table:
    title = "The paper's tables: cost (here: learning + all solutions), mean relative L2 and L∞ errors"
    headings = ("experiment", "points, η, λ", "paper, as printed", "its estimator, here", "kernop by default")
    table = _table(title, *headings, "here/paper", "paper/default", left=5, no_wrap=True)
    for row in rows:
        paper = row.paper
        table.add_row(
            row.experiment,
            f"{row.points} {row.eta:g} {_short(row.regularization)}",
            _three(paper.seconds, paper.l2, paper.linf),
            _figures(row.estimator),
            _figures(row.default),
            f"{row.estimator.l2 / paper.l2:.2f}",
            f"{paper.l2 / row.default.l2:.0e}",
        )
    return table


def _green(rows: Sequence[GreenRow]) -> Table:
    headings = ("experiment", "", "paper: cost, L2, L∞", "here: training, L2, L∞", "here, inputs like its training: L2")
    table = _table("The Green operator (Stepaniants 2023), trained on 100 pairs", *headings)
    for row in rows:
        theirs, ours = row.paper, _three(row.train, row.l2, row.linf)
        printed = _three(theirs.seconds, theirs.l2, theirs.linf) if row.way == "500 epochs" else ""
        table.add_row(row.experiment, row.way, printed, ours, _short(row.inside))
    return table


def _rough(chapter: Chapter) -> Table:
    table = _table("Darcy a1 with discontinuous data, against finite differences", "", "relative L2", "relative L∞")
    for name, errors in chapter.more["errors"].items():
        table.add_row(name, _short(errors["l2"]), _short(errors["linf"]))
    return table


def _slopes(chapter: Chapter) -> Table:
    sizes = chapter.more["paper"]["sizes"]
    title = f"Poisson 3-D: error ~ N^−β, {chapter.more['paper']['data sets']} data sets"
    table = _table(title, "", "", f"N = {sizes[0]}", f"N = {sizes[-1]}", "β", "paper's β", "a data set")
    for estimator, result in chapter.more.items():
        for name, line in result["lines"].items():
            label, norm = name.split()
            paper = f"{PAPER_SLOPES[label][norm == 'linf']:.2f}" if label in PAPER_SLOPES else "–"
            errors = [f"{line['mean'][k]:.1e} ± {line['standard error'][k]:.0e}" for k in (0, -1)]
            cost = f"{result['mean seconds']:.0f} s"
            table.add_row(f"{estimator}, {label}", NORMS[norm], *errors, f"{line['slope']:.2f}", paper, cost)
    return table


def _figures(found: Figures) -> str:
    return f"{found.learn:.2f} + {found.apply:.2f} s {_short(found.l2):>7} {_short(found.linf):>7}"


def _three(seconds: float | None, l2: float, linf: float) -> str:
    cost = "–" if seconds is None else f"{seconds / 3600:.2f} h" if seconds > 600 else f"{seconds:.2f} s"
    return f"{cost:>6} {_short(l2):>7} {_short(linf):>7}"


def _short(number: float) -> str:
    """Two digits, and no zero in the exponent: 2.5e-3."""
    mantissa, _, exponent = f"{number:.1e}".partition("e")
    return f"{mantissa}e{int(exponent)}"

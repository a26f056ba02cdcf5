"""The paper's tables and figures beside ours: what ``kernop reproduce`` runs, chapter by chapter."""

from __future__ import annotations

import json
import time
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from kernop import plotting
from kernop.basics.errors import AccuracyWarning, FloatArray
from kernop.environment import environment
from kernop.operators.operator import SolutionOperator
from kernop.paper import green as opponent
from kernop.paper import poisson3d, rough
from kernop.paper.darcy import darcy
from kernop.paper.experiment import Experiment, Outcome, Reported, measure
from kernop.paper.figures import curves
from kernop.paper.heat import heat
from kernop.paper.helmholtz import helmholtz
from kernop.paper.schrodinger import hexagon, schrodinger
from kernop.trust.metrics import relative_l2, relative_linf

#: What the two ways to learn are called, in tables and figures.
PAPER, DEFAULT = "the paper's estimator", "kernop by default"


@dataclass(frozen=True)
class Order:
    """What was ordered.

    Arguments:
        out: the folder for figures and JSON.
        quick: small versions of what takes long.
        seed: of the points and the test functions.
        datasets: of the study in three dimensions; None for five, or two when it is quick.
        say: is told what is going on.
    """

    out: Path
    quick: bool = False
    seed: int = 0
    datasets: int | None = None
    say: Callable[[str], None] = lambda text: None


@dataclass(frozen=True)
class Figures:
    """One way to solve: seconds to learn (warm) and to solve for all test functions, and mean errors."""

    learn: float
    apply: float
    l2: float
    linf: float

    @staticmethod
    def of(outcome: Outcome) -> Figures:
        """Those of a measurement."""
        return Figures(outcome.learn_seconds, outcome.apply_seconds, outcome.mean_l2, outcome.mean_linf)


@dataclass(frozen=True)
class Row:
    """A row of the table: the paper's figures and ours."""

    experiment: str
    points: int
    eta: float
    regularization: float
    paper: Reported
    estimator: Figures
    default: Figures
    compile: float


@dataclass(frozen=True)
class GreenRow:
    """A row of the paper's opponent: trained as the paper trains it, or the exact minimum of the same objective."""

    experiment: str
    way: str
    paper: Reported
    train: float
    l2: float
    linf: float
    inside: float  # error on inputs like those of the training


@dataclass(frozen=True, eq=False)
class Chapter:
    """What a chapter found: rows, and paths of figures."""

    name: str
    rows: Sequence[Row | GreenRow]
    figures: Sequence[Path]
    more: dict[str, Any]


@dataclass(frozen=True, eq=False)
class Pair:
    """Both ways on the same points: the row, and the outcomes for the figures."""

    row: Row
    outcomes: dict[str, Outcome]

    def typical(self) -> int:
        """The test function on which the paper's estimator has its median error."""
        errors = self.outcomes[PAPER].l2
        return int(np.argsort(errors)[len(errors) // 2])

    def values(self, k: int) -> dict[str, FloatArray]:
        """Both solutions for test function k, on the grid."""
        return {name: outcome.found[:, k] for name, outcome in self.outcomes.items()}


def compare(experiment: Experiment, order: Order) -> Pair:
    """Learn in both ways, twice: the first time compiles."""
    order.say(experiment.name)
    started = time.perf_counter()
    for learn in (experiment.learn_as_paper, experiment.learn_by_default):
        learn(order.seed)
    cold = time.perf_counter() - started
    operators: dict[str, SolutionOperator] = {
        PAPER: experiment.learn_as_paper(order.seed),
        DEFAULT: experiment.learn_by_default(order.seed),
    }
    outcomes = {name: measure(experiment, operator) for name, operator in operators.items()}
    warm = sum(outcome.learn_seconds for outcome in outcomes.values())
    row = Row(
        experiment.name,
        sum(experiment.points.values()),
        experiment.lengthscale,
        experiment.regularization,
        experiment.paper,
        Figures.of(outcomes[PAPER]),
        Figures.of(outcomes[DEFAULT]),
        max(0.0, cold - warm),
    )
    return Pair(row, outcomes)


def _maps(pair: Pair, experiment: Experiment, path: Path, labels: tuple[str, str] = ("x", "y")) -> Path:
    k = pair.typical()
    exact = pair.outcomes[PAPER].exact[:, k]
    return plotting.true_predicted_error(
        experiment.grid, exact, pair.values(k), path, title=experiment.name, labels=labels
    )


def darcy_chapter(order: Order) -> Chapter:
    """Table 1: three permeabilities."""
    experiments = [darcy(case, seed=order.seed) for case in ("a1", "a2", "a3")]
    pairs = [compare(experiment, order) for experiment in experiments]
    figures = [
        _maps(pair, experiment, order.out / f"{_slug(experiment.name)}.png")
        for pair, experiment in zip(pairs, experiments, strict=True)
    ]
    return Chapter("darcy", [pair.row for pair in pairs], figures, {})


def rough_chapter(order: Order) -> Chapter:
    """The figure with discontinuous data."""
    experiment = darcy("a1", seed=order.seed)
    order.say("Darcy with discontinuous data")
    exact = rough.reference()
    found: dict[str, FloatArray] = {}
    for name, learn in ((PAPER, experiment.learn_as_paper), (DEFAULT, experiment.learn_by_default)):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", AccuracyWarning)  # the table says how wrong it is
            found[name] = learn(order.seed)(rough.source, rough.boundary)(experiment.grid)
    errors = {
        name: {"l2": float(relative_l2(values, exact)), "linf": float(relative_linf(values, exact))}
        for name, values in found.items()
    }
    path = order.out / "darcy-rough.png"
    title, truth = "Darcy a1, discontinuous f and g", "reference (finite differences)"
    figure = plotting.true_predicted_error(experiment.grid, exact, found, path, title=title, truth=truth)
    return Chapter("darcy-rough", [], [figure], {"errors": errors})


def helmholtz_chapter(order: Order, *, smooth: bool = False) -> Chapter:
    """Tables 2 and 5: both frequencies, with the Green operator."""
    rows: list[Row | GreenRow] = []
    panels: dict[str, tuple[FloatArray, FloatArray, dict[str, FloatArray]]] = {}
    for omega in (20, 200):
        experiment = helmholtz(omega, smooth=smooth, seed=order.seed)
        pair = compare(experiment, order)
        exact, k = pair.outcomes[PAPER].exact, pair.typical()
        order.say(f"Green operator, ω = {omega}")
        greens = {
            "500 epochs": opponent.fit(omega, seed=order.seed),
            "exact minimum": opponent.minimise(omega, seed=order.seed),
        }
        found = {name: _green_solutions(green, experiment) for name, green in greens.items()}
        rows.append(pair.row)
        rows += [_green_row(experiment, omega, name, green, found[name], exact) for name, green in greens.items()]
        shown = pair.values(k) | {"Green operator": found["500 epochs"][:, k]}
        panels[f"ω = {omega}"] = (experiment.grid[:, 0], exact[:, k], shown)
    name = "helmholtz-smooth" if smooth else "helmholtz"
    title = "Helmholtz" + (", smooth test functions" if smooth else "")
    return Chapter(name, rows, [curves(panels, order.out / f"{name}.png", title=title)], {})


def _green_solutions(green: opponent.GreenOperator, experiment: Experiment) -> FloatArray:
    sources = experiment.problem.manufacture(experiment.family, {"f": green.grid[:, None]})["f"]
    return green(sources, experiment.grid[:, 0])


def _green_row(
    experiment: Experiment,
    omega: int,
    name: str,
    green: opponent.GreenOperator,
    found: FloatArray,
    exact: FloatArray,
) -> GreenRow:
    paper = opponent.PAPER[omega, experiment.name.endswith("smooth")]
    l2, linf = float(np.mean(relative_l2(found, exact))), float(np.mean(relative_linf(found, exact)))
    inside = opponent.measure(green).held_out.l2
    return GreenRow(experiment.name, name, paper, green.seconds, l2, linf, inside)


def schrodinger_chapter(order: Order) -> Chapter:
    """Table 3, with the hexagonal potential."""
    experiment = schrodinger()
    pair = compare(experiment, order)
    potential = plotting.field(
        experiment.grid, np.asarray(hexagon(experiment.grid)), order.out / "schrodinger-potential.png", title="V"
    )
    return Chapter("schrodinger", [pair.row], [potential, _maps(pair, experiment, order.out / "schrodinger.png")], {})


def heat_chapter(order: Order) -> Chapter:
    """Table 4."""
    experiment = heat()
    pair = compare(experiment, order)
    return Chapter("heat", [pair.row], [_maps(pair, experiment, order.out / "heat.png", ("x", "t"))], {})


def poisson3d_chapter(order: Order) -> Chapter:
    """The convergence study; what a file in the folder has is not computed again."""
    datasets = order.datasets or (2 if order.quick else 5)
    found: dict[str, Any] = {}
    for estimator in ("paper", "default"):
        study = poisson3d.small(estimator) if order.quick else poisson3d.Study(estimator)
        found[estimator] = poisson3d.summary(list(poisson3d.run(study, datasets, order.out / "poisson3d", order.say)))
    return Chapter("poisson3d", [], poisson3d.draw(found, order.out), found)


CHAPTERS: dict[str, Callable[[Order], Chapter]] = {
    "darcy": darcy_chapter,
    "darcy-rough": rough_chapter,
    "helmholtz": helmholtz_chapter,
    "helmholtz-smooth": lambda order: helmholtz_chapter(order, smooth=True),
    "schrodinger": schrodinger_chapter,
    "heat": heat_chapter,
    "poisson3d": poisson3d_chapter,
}


def write(chapter: Chapter, order: Order) -> Path:
    """All figures of a chapter as JSON, with versions and machine."""
    path = order.out / f"{chapter.name}.json"
    path.parent.mkdir(parents=True, exist_ok=True)
    content = {
        "about": environment(),
        "seed": order.seed,
        "quick": order.quick,
        "rows": [_plain(row) for row in chapter.rows],
        **chapter.more,
        "figures": [figure.name for figure in chapter.figures],
    }
    path.write_text(json.dumps(content, indent=2, ensure_ascii=False))
    return path


def _plain(row: Any) -> Any:
    return {k: _plain(v) if hasattr(v, "__dict__") else v for k, v in vars(row).items()}


def _slug(name: str) -> str:
    return name.lower().replace(" ", "-")

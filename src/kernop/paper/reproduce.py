"""The paper's tables and figures beside ours: what ``kernop reproduce`` runs, chapter by chapter."""

from __future__ import annotations

import json
import time
import warnings
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

import jax.numpy as jnp
import numpy as np

from kernop import plotting
from kernop.basics.errors import AccuracyWarning, FloatArray
from kernop.basics.storage import JsonObject
from kernop.environment import environment
from kernop.paper import green as opponent
from kernop.paper import poisson3d, rough
from kernop.paper.darcy import darcy
from kernop.paper.experiment import Experiment, MeanErrors, Outcome, Reported, measure
from kernop.paper.figures import error_curves
from kernop.paper.heat import heat
from kernop.paper.helmholtz import helmholtz
from kernop.paper.schrodinger import hexagon, schrodinger
from kernop.trust.metrics import relative_l2

#: What the two ways to learn are called, in tables and figures.
PAPER, DEFAULT = "the paper's estimator", "kernop by default"


@dataclass(frozen=True)
class Request:
    """What is to be run, and where results go.

    Arguments:
        out: the folder for figures and JSON.
        quick: small versions of what takes long.
        seed: of the points and the test functions.
        datasets: of the study in three dimensions; None for five, or two when it is quick.
        say: is called with what is going on.
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


@dataclass(frozen=True, kw_only=True)
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


@dataclass(frozen=True, kw_only=True)
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
    more: JsonObject


@dataclass(frozen=True, eq=False)
class Both:
    """An experiment by the paper's estimator and by default on the same points, and the seconds to compile."""

    experiment: Experiment
    outcomes: dict[str, Outcome]
    compile: float

    @property
    def row(self) -> Row:
        """The row of the table: the paper's settings and figures, and ours."""
        own, found = self.experiment, self.outcomes.values()
        paper, default = (Figures(o.learn_seconds, o.apply_seconds, o.mean_l2, o.mean_linf) for o in found)
        return Row(
            experiment=own.name,
            points=sum(own.points.values()),
            eta=own.lengthscale,
            regularization=own.regularization,
            paper=own.paper,
            estimator=paper,
            default=default,
            compile=self.compile,
        )

    def typical(self) -> tuple[FloatArray, dict[str, FloatArray], int]:
        """The test function on which the paper's estimator has its median error: exact, both solutions, its number."""
        first = self.outcomes[PAPER]
        errors = relative_l2(first.found, first.exact)
        k = int(np.argsort(errors)[len(errors) // 2])
        return first.exact[:, k], {name: own.found[:, k] for name, own in self.outcomes.items()}, k

    def maps(self, path: Path, labels: tuple[str, str] = ("x", "y"), title: str = "") -> Path:
        """The figure of a typical test function."""
        exact, found, _ = self.typical()
        heading = title or self.experiment.name
        return plotting.true_predicted_error(self.experiment.grid, exact, found, path, title=heading, labels=labels)


def compare(experiment: Experiment, request: Request) -> Both:
    """Learn in both ways, twice: the first time compiles."""
    request.say(experiment.name)
    ways = {PAPER: experiment.learn_as_paper, DEFAULT: experiment.learn_by_default}
    started = time.perf_counter()
    for learn in ways.values():
        learn(request.seed)
    cold = time.perf_counter() - started
    outcomes = {name: measure(experiment, learn(request.seed)) for name, learn in ways.items()}
    return Both(experiment, outcomes, max(0.0, cold - sum(outcome.learn_seconds for outcome in outcomes.values())))


def darcy_chapter(request: Request) -> Chapter:
    """Table 1: three permeabilities."""
    found = [compare(darcy(case, seed=request.seed), request) for case in ("a1", "a2", "a3")]
    figures = [own.maps(request.out / f"{own.experiment.name.lower().replace(' ', '-')}.png") for own in found]
    return Chapter("darcy", [own.row for own in found], figures, {})


def rough_chapter(request: Request) -> Chapter:
    """The figure with discontinuous data, against a reference by finite differences."""
    experiment = darcy("a1", seed=request.seed)
    request.say("Darcy with discontinuous data")
    exact = rough.reference()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", AccuracyWarning)  # the table says how wrong it is
        operators = {PAPER: experiment.learn_as_paper(request.seed), DEFAULT: experiment.learn_by_default(request.seed)}
        found = {name: own(rough.right_side, rough.boundary)(experiment.grid) for name, own in operators.items()}
    errors = {name: vars(MeanErrors.of(values, exact)) for name, values in found.items()}
    path = request.out / "darcy-rough.png"
    title, truth = "Darcy a1, discontinuous f and g", "reference (finite differences)"
    figure = plotting.true_predicted_error(experiment.grid, exact, found, path, title=title, truth=truth)
    return Chapter("darcy-rough", [], [figure], {"errors": errors})


def helmholtz_chapter(request: Request, *, smooth: bool = False) -> Chapter:
    """Tables 2 and 5: both frequencies, with the Green operator."""
    rows: list[Row | GreenRow] = []
    panels: dict[str, tuple[FloatArray, FloatArray, dict[str, FloatArray]]] = {}
    for omega in (20, 200):
        experiment = helmholtz(omega, smooth=smooth, seed=request.seed)
        both = compare(experiment, request)
        rows.append(both.row)
        exact, shown, k = both.typical()
        request.say(f"Green operator, ω = {omega}")
        for way, learn in (("500 epochs", opponent.fit), ("exact minimum", opponent.minimise)):
            green = learn(omega, seed=request.seed)
            sources = experiment.problem.manufacture(experiment.family, {"f": green.grid[:, None]})["f"]
            found = green(sources, experiment.grid[:, 0])
            error, inside = MeanErrors.of(found, both.outcomes[PAPER].exact), opponent.held_out_errors(green).l2
            paper, name = opponent.PAPER[omega, smooth], experiment.name
            row = GreenRow(
                experiment=name, way=way, paper=paper, train=green.seconds, inside=inside, l2=error.l2, linf=error.linf
            )
            rows.append(row)
            shown.setdefault("Green operator", found[:, k])
        panels[f"ω = {omega}"] = (experiment.grid[:, 0], exact, shown)
    name = "helmholtz-smooth" if smooth else "helmholtz"
    title = "Helmholtz" + (", smooth test functions" if smooth else "")
    return Chapter(name, rows, [error_curves(panels, request.out / f"{name}.png", title=title)], {})


def schrodinger_chapter(request: Request) -> Chapter:
    """Table 3, with the hexagonal potential."""
    both, path = compare(schrodinger(), request), request.out / "schrodinger-potential.png"
    grid = both.experiment.grid
    potential = plotting.field(grid, np.asarray(hexagon(jnp.asarray(grid))), path, title="V")
    return Chapter("schrodinger", [both.row], [potential, both.maps(request.out / "schrodinger.png")], {})


def heat_chapter(request: Request) -> Chapter:
    """Table 4: the heat equation."""
    both = compare(heat(), request)
    return Chapter("heat", [both.row], [both.maps(request.out / "heat.png", ("x", "t"))], {})


def poisson3d_chapter(request: Request) -> Chapter:
    """The convergence study; what a file in the folder has is not computed again."""
    datasets = request.datasets or (2 if request.quick else 5)
    found: JsonObject = {}
    for estimator in ("paper", "default"):
        study = poisson3d.small(estimator) if request.quick else poisson3d.Study(estimator)
        results = list(poisson3d.run(study, datasets, request.out / "poisson3d", request.say))
        found[estimator] = poisson3d.summarised(results)
    return Chapter("poisson3d", [], poisson3d.draw_rates(found, request.out), found)


CHAPTERS: dict[str, Callable[[Request], Chapter]] = {
    "darcy": darcy_chapter,
    "darcy-rough": rough_chapter,
    "helmholtz": helmholtz_chapter,
    "helmholtz-smooth": lambda request: helmholtz_chapter(request, smooth=True),
    "schrodinger": schrodinger_chapter,
    "heat": heat_chapter,
    "poisson3d": poisson3d_chapter,
}


def write_json(chapter: Chapter, request: Request) -> Path:
    """All figures of a chapter as JSON, with versions and machine."""
    path = request.out / f"{chapter.name}.json"
    path.parent.mkdir(parents=True, exist_ok=True)
    content = {
        "about": environment(),
        "seed": request.seed,
        "quick": request.quick,
        "rows": [asdict(row) for row in chapter.rows],
        **chapter.more,
        "figures": [figure.name for figure in chapter.figures],
    }
    path.write_text(json.dumps(content, indent=2, ensure_ascii=False))
    return path

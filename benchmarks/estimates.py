"""Are estimates of errors near the truth? The published problems of `collection.py`, and corners and many short waves.

Usage: python benchmarks/estimates.py [--half tuning|held-out] [--family X] [--only NAME] [--centres default 400 …]
       [--arrays] [--part i/n] [--seconds S] [--gigabytes G] [--record FILE]

For each problem, and for the default or a number of centres (with three points for each), the estimate ÷ the true error
of u, in L2 inside and in L∞ inside and on the boundaries, at 2500 and 500 points that kernop does not use, and in the
families of corners and edges at 40000 and 4000, since a few of the former hit an error that is large at a corner alone;
of operators made of parts, in L∞ also in the middle of parts at singularities, which no sample hits. Below 1 is too
small. True errors below 1e-12 of u are rounding, and counted apart. "relative" is the relative L2 error that the
estimate states ÷ the true one. Problems of which kernop itself doubts the coefficients, or whether they are well-posed,
are marked and not counted. Half of the problems were used for tuning: of the published ones, those that a fixed
hash of the name tells. With --arrays inputs that are functions are given as their values at the points of the operator
alone. What takes longer than S seconds, or more than G gigabytes, is ended and told as exceeded.
"""

from __future__ import annotations

import argparse
import time
import warnings
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from casewise import EXCEEDED, add_limits, casewise, limits_of
from collection_problems import ENTRIES
from collection_problems.entry import Entry
from common import console, save, table
from estimates_problems import HELD_OUT, TUNING, half_of
from estimates_singular import FAMILIES

import kernop as ko
from kernop.methods.parts.space import PartsSpace

#: Below this part of u an error is rounding.
ROUNDING = 1e-12
#: Points at which the truth is compared on each boundary; inside, and on each boundary, if there are corners.
RIM, AT_CORNERS = 500, (40_000, 4000)
PROBLEMS = (*TUNING, *HELD_OUT, *ENTRIES)
HEADINGS = ("problem", "centres", "true L2", "L2", "L∞", "relative", "learn s", "estimate s", "")


@dataclass(frozen=True)
class Found:
    """One solution: its relative L2 error, estimate ÷ truth in L2, in L∞ and of the relative L2 error, and seconds."""

    name: str
    half: str
    asked: str
    centres: int
    true: float
    l2: float
    linf: float
    relative: float
    learning: float
    estimating: float
    said: str

    @property
    def counts(self) -> bool:
        """Is the error more than rounding, and was nothing doubted?"""
        return self.said == "" and self.true >= ROUNDING

    def row(self) -> list[str]:
        """For the table."""
        figures = [f"{v:.2g}" for v in (self.l2, self.linf, self.relative)]
        seconds = [f"{v:.1f}" for v in (self.learning, self.estimating)]
        return [self.name, str(self.centres), f"{self.true:.0e}", *figures, *seconds, self.said]


def given_to(operator: ko.SolutionOperator, entry: Entry, arrays: bool) -> dict[str, Any]:
    """The inputs of T, those that are functions perhaps as arrays at its points."""
    given = {name: entry.inputs[name] for name in operator.problem.inputs}
    if not arrays:
        return given
    return {name: own(operator.points[name].x) if callable(own) else own for name, own in given.items()}


def measured(entry: Entry, asked: str, arrays: bool) -> Found:
    settings: dict[str, Any] = {}
    if asked != "default":
        settings = {"method": ko.Subspace(int(asked)), "points": 3 * int(asked)}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        started = time.perf_counter()
        operator = ko.learn(entry.problem(), **settings)
        learned = time.perf_counter()
        u = operator(**given_to(operator, entry, arrays))
        asked_at = time.perf_counter()
        estimate = u.error_estimate(covering=None)
        done = time.perf_counter()
    rims = [c.on for c in operator.problem.conditions if 0 < c.on.intrinsic_dim < operator.problem.dim]
    inside = max((c.on for c in operator.problem.conditions), key=lambda region: region.intrinsic_dim)
    inner, expected, number = entry.places, entry.expected, RIM
    if entry.family in ("corners", *FAMILIES):
        inner, number = inside.sample(AT_CORNERS[0], "uniform", seed=4711).x, AT_CORNERS[1]
        expected = np.asarray(entry.truth(inner))
    drawn = [rim.sample(number, "uniform", seed=4712).x for rim in rims]
    outer = np.concatenate([*drawn, np.empty((0, operator.problem.dim))])
    error = moduli(np.asarray(u(inner)) - expected)
    space = operator.factorisation.expansion
    if isinstance(space, PartsSpace):
        tips = np.mean(space.boxes, axis=0)[space.mosaic.singular == 1]
        outer = np.concatenate([outer, tips[np.asarray(inside.contains(tips))]])
    edge = moduli(np.asarray(u(outer)) - np.asarray(entry.truth(outer))) if len(outer) else np.zeros(1)
    l2, size = (float(np.sqrt(np.mean(v**2))) for v in (error, moduli(expected)))
    linf = float(max(np.max(error), np.max(edge)))
    doubts = operator.diagnosis
    told = [name for name, of in (("ill-posed", doubts.ill_posed), ("coefficients", doubts.unresolved)) if of]
    return Found(
        name=entry.name,
        half=half_of(entry),
        asked=asked,
        centres=len(operator.factorisation.expansion),
        true=l2 / size,
        l2=float(estimate.l2) / l2,
        linf=float(estimate.linf) / linf,
        relative=float(estimate.relative_l2) * size / l2,
        learning=learned - started,
        estimating=done - asked_at,
        said=" ".join(told + (["unseen"] if estimate.unseen else [])),
    )


def moduli(values: Any) -> Any:
    """Of numbers (n,), or of vectors (n, k)."""
    return np.abs(values) if values.ndim == 1 else np.linalg.norm(values, axis=1)


def asked(case: str) -> dict[str, Any]:
    """What is found of "name | centres", or of "name | centres | arrays"."""
    name, centres, *arrays = case.split(" | ")
    (entry,) = (entry for entry in PROBLEMS if entry.name == name)
    return asdict(measured(entry, centres, bool(arrays)))


def summary(found: Sequence[Found]) -> str:
    own = [one for one in found if one.counts]
    rounding = [one for one in found if one.said == "" and one.true < ROUNDING]

    def counts(values: list[float]) -> str:
        v = np.asarray(values)
        return f"{np.sum(v < 1)} below 1, {np.sum(v > 10)} above 10, {np.sum(v > 100)} above 100"

    lines = [f"{len(own)} solutions whose errors count, {len(rounding)} to rounding, {len(found)} in all"]
    for norm in ("l2", "linf", "relative"):
        lines.append(f"{norm}: {counts([getattr(one, norm) for one in own])}; ")
        lines[-1] += f"of those to rounding, {counts([getattr(one, norm) for one in rounding])}"
    return "\n".join(lines)


def main() -> None:
    parser = argparse.ArgumentParser(description="Are estimates of errors near the truth?")
    parser.add_argument("--half", choices=("tuning", "held-out"))
    parser.add_argument("--family")
    parser.add_argument("--only")
    parser.add_argument("--centres", nargs="+", default=["default", "400", "1500", "3000"])
    parser.add_argument("--arrays", action="store_true", help="inputs as values at the points of the operator")
    parser.add_argument("--part", default="0/1", help="of the problems, i/n")
    add_limits(parser)
    given = parser.parse_args()
    part, parts = map(int, given.part.split("/"))
    chosen = [
        e
        for e in PROBLEMS
        if given.half in (None, half_of(e)) and given.family in (None, e.family) and given.only in (None, e.name)
    ][part::parts]
    end = " | arrays" if given.arrays else ""
    cases = [f"{entry.name} | {centres}{end}" for entry in chosen for centres in given.centres]
    every = dict(casewise(asked, cases, limits_of(given)))
    found = [Found(**own) for own in every.values() if EXCEEDED not in own]
    for half in ("tuning", "held-out"):
        own = [one for one in found if one.half == half]
        if own:
            table(f"Estimate ÷ truth, {half}", HEADINGS, [one.row() for one in own])
            console.print(summary(own))
    exceeded = [f"{case} ({own[EXCEEDED]})" for case, own in every.items() if EXCEEDED in own]
    console.print(f"{len(exceeded)} exceeded their limit: {', '.join(exceeded) or 'none'}", highlight=False)
    save("estimates", {"found": [asdict(one) for one in found]})


if __name__ == "__main__":
    main()

"""The judge: what kernop said of a case, what is true, and whether the first hides the second."""

from __future__ import annotations

import math
import time
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

import kernop as ko
from honesty_problems.case import Case, FloatArray
from kernop.basics.errors import KernopError

#: A true error may exceed what was said by this factor.
ROOM = 10.0
#: Errors below this part of u are rounding.
ROUNDING = 1e-12
#: Points at which the truth is compared, inside and on the boundary.
INSIDE, RIM = 2500, 500
#: Warnings by which kernop tells that something is wrong, by name: a version may not have all of them.
TELLING = ("ToleranceWarning", "IllPosedWarning", "AccuracyWarning", "JumpWarning")


@dataclass(frozen=True)
class Errors:
    """Relative errors: root mean square over the domain, and largest, also on the boundary."""

    l2: float
    linf: float

    def pairs(self, other: Errors | None) -> list[tuple[float, float]]:
        """Norm by norm beside another one; beside nothing, 0."""
        return [(self.l2, other.l2 if other else 0.0), (self.linf, other.linf if other else 0.0)]


@dataclass
class Said:
    """What kernop said while it learned, solved and estimated.

    Attributes:
        met: does the report say that the tolerance is met? None if there is no report.
        warnings: the classes of all warnings, by name, each once.
        refusal: the class of the error of kernop that ended it, and the step; None if there was none.
        crash: any other exception.
        exceeded: the limit of time or memory that it exceeded.
        estimate: of the errors.
        truth: the errors.
        seconds: for all steps.
    """

    met: bool | None = None
    warnings: list[str] = field(default_factory=list)
    refusal: str | None = None
    crash: str | None = None
    exceeded: str | None = None
    estimate: Errors | None = None
    truth: Errors | None = None
    seconds: float = 0.0

    @classmethod
    def read(cls, fields: dict[str, Any]) -> Said:
        """What `dataclasses.asdict` made of one."""
        errors = {key: Errors(**own) for key in ("estimate", "truth") if (own := fields.get(key)) is not None}
        return cls(**(fields | errors))

    @property
    def told(self) -> bool:
        """Was there a warning of kernop, or a refusal?"""
        return self.refusal is not None or any(name in TELLING for name in self.warnings)


@dataclass(frozen=True)
class Line:
    """A case and what came of it."""

    case: Case
    said: Said

    @property
    def promised(self) -> str:
        """In words: the tolerance, that it is not met, or the error."""
        said = self.said
        if said.exceeded:
            return f"exceeded {said.exceeded}"
        if said.crash or said.refusal:
            return said.crash or f"refused: {said.refusal}"
        return f"{self.case.tol:.0e}" if said.met else "NOT met"

    @property
    def within(self) -> bool:
        """Is the true L2 error at most ten times the tolerance?"""
        return self.said.truth is not None and self.said.truth.l2 <= ROOM * self.case.tol

    @property
    def hidden(self) -> bool:
        """In either norm: is the truth more than ten times the tolerance, and more than ten times the estimate?

        The estimate counts for nothing where it is blind for what is wrong.
        """
        said = self.said
        if said.truth is None:
            return False
        estimate = None if self.case.blind else said.estimate
        return any(true > ROOM * max(self.case.tol, told) for true, told in said.truth.pairs(estimate))

    @property
    def verdict(self) -> str:
        """One of

        broken: an exception that is not kernop's.
        exceeded: it took too long, or too much memory.
        told: a warning or a refusal.
        silent: no word, and the problem is ill-posed, or the error far above the tolerance and the estimate.
        estimated: the error is far above the tolerance, but the estimate says so.
        true: the error is at most ten times the tolerance.
        """
        if self.said.crash:
            return "broken"
        if self.said.exceeded:
            return "exceeded"
        if self.said.told:
            return "told"
        if not self.case.posed or self.hidden:
            return "silent"
        return "true" if self.within else "estimated"


def judge(case: Case) -> Line:
    """Learn, solve, estimate, compare."""
    said = Said()
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        started = time.perf_counter()
        _ask(case, said)
        said.seconds = time.perf_counter() - started
    said.warnings = list(dict.fromkeys(warning.category.__name__ for warning in caught))
    return Line(case, said)


def _ask(case: Case, said: Said) -> None:
    step = "learn"
    try:
        problem = case.problem()
        operator = ko.learn(problem, tol=case.tol, budget=case.budget)
        said.met = bool(operator.report.met)
        step = "T"
        u = operator(**case.inputs)
        if case.truth is not None:
            said.truth = true_errors(u, case.truth, *places(case, problem))
        step = "estimate"
        found = u.error_estimate(covering=None)
        said.estimate = Errors(float(found.relative_l2), float(found.relative_linf))
    except KernopError as error:
        said.refusal = type(error).__name__ + ("" if step == "learn" else f" ({step})")
    except Exception as error:
        said.crash = f"{type(error).__name__} ({step})"


def places(case: Case, problem: ko.Problem, inside: int = INSIDE, rim: int = RIM) -> tuple[FloatArray, FloatArray]:
    """Points inside and on the boundary (n, d), none of which kernop uses."""
    if case.places is not None:
        return case.places()
    regions = sorted((condition.on for condition in problem.conditions), key=lambda on: -on.intrinsic_dim)
    share = rim // max(1, len(regions) - 1)
    drawn = [on.sample(_number(on, share), "uniform", seed=4711 + k).x for k, on in enumerate(regions[1:])]
    return regions[0].sample(inside, "uniform", seed=271828).x, np.concatenate([*drawn, np.empty((0, problem.dim))])


def _number(region: ko.Region, wanted: int) -> int:
    """The ends of an interval are two points at most."""
    return wanted if region.intrinsic_dim else min(wanted, int(region.measure))


def true_errors(u: Callable[[Any], Any], truth: Callable[[Any], Any], inside: FloatArray, rim: FloatArray) -> Errors:
    """Of u against the truth."""
    expected = np.asarray(truth(np.concatenate([inside, rim])))
    error = np.asarray(u(np.concatenate([inside, rim]))) - expected
    inner, size = error[: len(inside)], expected[: len(inside)]
    l2 = math.sqrt(float(np.mean(inner**2) / np.mean(size**2)))
    linf = float(np.max(np.abs(error)) / np.max(np.abs(expected)))
    return Errors(l2 if math.isfinite(l2) else math.inf, linf if math.isfinite(linf) else math.inf)


@dataclass(frozen=True)
class Summary:
    """Of many lines: the two figures that are promised, and what caution costs."""

    lines: Sequence[Line]

    def having(self, verdict: str) -> list[Line]:
        """The lines with a verdict."""
        return [line for line in self.lines if line.verdict == verdict]

    @property
    def meant(self) -> list[Line]:
        """The lines said to be met, of the class as it was meant when the problems were collected."""
        return [line for line in self.lines if line.case.stated and line.said.met]

    @property
    def promises(self) -> list[Line]:
        """Those of them that are of the class that the reports state."""
        return [line for line in self.meant if not line.case.narrow]

    @property
    def kept(self) -> list[Line]:
        """Those of them whose true L2 error is at most ten times the tolerance."""
        return [line for line in self.promises if line.within]

    @property
    def share(self) -> float:
        """The share of promises that were kept; 1 if there were none."""
        return len(self.kept) / len(self.promises) if self.promises else 1.0

    @property
    def wrong(self) -> list[Line]:
        """All lines said to be met, without another warning, whose true L2 error is more than ten times that."""
        return [
            line for line in self.lines if line.case.posed and line.said.met and not line.said.told and not line.within
        ]

    @property
    def estimates(self) -> tuple[int, int, int]:
        """How many estimates in L2 are below the truth, and above ten times it, of how many.

        Errors below 1e-12 of u are rounding; what kernop warned of otherwise than of the tolerance does not count.
        """
        pairs = [
            (line.said.estimate.l2, line.said.truth.l2)
            for line in self.lines
            if line.said.estimate and line.said.truth and line.said.truth.l2 >= ROUNDING
        ]
        return sum(e < t for e, t in pairs), sum(e > 10 * t for e, t in pairs), len(pairs)

    @property
    def unmet(self) -> list[Line]:
        """The lines of the stated class without a promise: refused, or not met."""
        return [line for line in self.lines if line.case.stated and not line.said.met]

    @property
    def needless(self) -> list[Line]:
        """Well-posed lines with a warning or a refusal whose true L2 error is below the tolerance itself."""
        return [
            line
            for line in self.lines
            if line.said.told and line.said.truth is not None and line.said.truth.l2 <= line.case.tol
        ]

    @property
    def called_ill(self) -> list[Line]:
        """Well-posed lines that were called ill-posed."""
        return [line for line in self.lines if line.case.posed and "IllPosedWarning" in line.said.warnings]

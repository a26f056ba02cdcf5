"""Is what kernop promises true? A fixed collection of problems whose solutions were not computed by kernop.

Usage: python benchmarks/honesty.py [families and names …] [--list] [--check] [--seconds S] [--gigabytes G]
       [--record FILE]

For each problem: learn(problem, tol=…), u = T(…), u.error_estimate(), and the true error. A line is *silent* if the
problem is ill-posed, or the true error is more than ten times the tolerance and more than ten times the estimate, and
there was neither a warning nor an error. (Where a coefficient jumps under a divergence, the estimate does not count: it
answers the same wrong equation.) Exits with 1 if there is a silent line, or one that ended with an exception that is
not kernop's. The problems are not to be used for tuning. A problem that takes longer than S seconds, or more than G
gigabytes, is ended and told as exceeded.

--list shows the problems; --check puts the true solutions into the conditions, by finite differences.
"""

from __future__ import annotations

import argparse
import sys
from dataclasses import asdict

import numpy as np
from casewise import Found, Limits, add_limits, casewise, limits_of
from common import console, save, table
from honesty_problems import CASES
from honesty_problems.case import Case
from honesty_problems.check import misfits
from honesty_problems.judge import Errors, Line, Said, Summary, judge

HEADINGS = ("family", "problem", "tol", "promised", "warnings", "estimate", "truth", "s", "verdict")


def chosen(words: list[str]) -> list[Case]:
    """The cases of these families or names; all of them for no words."""
    known = {word for case in CASES for word in (case.family, case.name)}
    for word in words:
        if word not in known:
            sys.exit(f"{word!r} is no family and no name; --list shows them")
    return [case for case in CASES if not words or case.family in words or case.name in words]


def shown(errors: Errors | None) -> str:
    """L2 and L∞."""
    return "–" if errors is None else f"{errors.l2:.0e} {errors.linf:.0e}"


def row(line: Line) -> list[str]:
    said, case = line.said, line.case
    heard = " ".join(name.removesuffix("Warning") for name in said.warnings) or "–"
    name = case.name if case.stated or not case.posed else f"{case.name} *"
    figures = [shown(said.estimate), shown(said.truth) if case.posed else "ill-posed", f"{said.seconds:.1f}"]
    return [case.family, name, f"{case.tol:.0e}", line.promised, heard, *figures, line.verdict]


def recorded(line: Line) -> dict[str, object]:
    case = {"family": line.case.family, "tol": line.case.tol, "stated": line.case.stated, "posed": line.case.posed}
    return case | {"promised": line.promised, "verdict": line.verdict} | asdict(line.said)


def summarise(summary: Summary) -> None:
    silent, broken, exceeded = (summary.having(word) for word in ("silent", "broken", "exceeded"))
    console.print(
        f"{len(summary.lines)} lines: {len(silent)} silent, {len(broken)} broken (both must be 0), "
        f"{len(exceeded)} exceeded their limit"
    )
    low, high, counted = summary.estimates
    console.print(
        f"{len(summary.wrong)} tolerances said to be met, without another warning, that are not "
        f"({', '.join(str(line.case) for line in summary.wrong) or 'none'}); estimates below the truth in {low}, above "
        f"ten times in {high} of {counted} lines"
    )
    console.print(
        f"Stated class: {len(summary.promises)} tolerances said to be met, {len(summary.kept)} of them true to a "
        f"factor of ten, {100 * summary.share:.1f} % (must be at least 95 %); {len(summary.unmet)} not met or refused"
    )
    true = sum(line.within for line in summary.meant)
    console.print(
        f"With bumps narrower than the reports state: {len(summary.meant)} said to be met, {true} true, "
        f"{sum(not line.within and not line.said.told for line in summary.meant)} of the others without a warning"
    )
    console.print(
        f"Caution: {len(summary.needless)} lines with a warning whose error is below the tolerance; "
        f"{len(summary.called_ill)} well-posed problems called ill-posed"
    )


def asked(name: str) -> Found:
    """What kernop says of the case of this name."""
    (case,) = (case for case in CASES if str(case) == name)
    return asdict(judge(case).said)


def run(cases: list[Case], limits: Limits) -> Summary:
    named = {str(case): case for case in cases}
    found = casewise(asked, list(named), limits)
    return Summary([Line(named[name], Said.read(said)) for name, said in found])


def check(cases: list[Case]) -> None:
    rows: list[list[str]] = []
    for case in cases:
        if case.posed:
            found = misfits(case).items()
            rows += [[str(case), name, f"{np.median(m):.0e}", f"{np.max(m):.0e}"] for name, m in found]
    table("How well the true solutions fit the conditions", ["problem", "condition", "median", "largest"], rows)


def main() -> None:
    parser = argparse.ArgumentParser(description="Is what kernop promises true?")
    parser.add_argument("words", nargs="*", metavar="family or name")
    parser.add_argument("--list", action="store_true", help="show the problems")
    parser.add_argument("--check", action="store_true", help="check the true solutions by finite differences")
    add_limits(parser)
    options = parser.parse_args()
    cases = chosen(options.words)
    if options.list:
        for case in cases:
            console.print(f"{case}, tol {case.tol:g}{', stated class' if case.stated else ''}", highlight=False)
        return
    if options.check:
        check(cases)
        return
    summary = run(cases, limits_of(options))
    title = "Is it true? L2 and L∞, relative; * outside the stated class"
    table(title, HEADINGS, [row(line) for line in summary.lines])
    summarise(summary)
    figures = {"silent": len(summary.having("silent")), "share": summary.share}
    save("honesty", figures | {"lines": {str(line.case): recorded(line) for line in summary.lines}})
    if summary.having("silent") or summary.having("broken"):
        sys.exit(1)


if __name__ == "__main__":
    main()

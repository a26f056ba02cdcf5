"""Operators made of parts against jaxhps and finite elements at equal error, and how their cost grows.

The unit square, −∇·(a∇u) = f, u = g, with solutions sin(k·x + b) of 20 and of 100 rad per unit; a = exp(x + y), whose
parts are all alike up to a factor, and a coefficient no two parts of which are. ``jaxhps``, ``fem``, ``growth``,
``million``, ``million_space``, ``leaves``, ``workers``, ``sent`` or ``disk`` on the command line run one of them,
``jaxhps=0`` the first case of its table alone. Seconds are processor time (those of workers are not; with ``wall`` none
are), and one thread is for all: set OPENBLAS_NUM_THREADS=1 and
XLA_FLAGS="--xla_cpu_multi_thread_eigen=false intra_op_parallelism_threads=1".
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import parts_growth
from common import console, interleaved, once, save, table
from parts_problems import (
    BLOCK,
    CLOCK,
    COEFFICIENTS,
    PLACES,
    Waves,
    darcy,
    exponential,
    exponential_slopes,
    relative,
    timed,
)

import kernop as ko

#: How often a set-up is done, and for how many seconds, before it is timed beside others; and a small one, before any:
#: code that is used often, such as derivatives of coefficients, is compiled then.
AGAIN, ENOUGH, WARM = 5, 0.5, 20


@dataclass(frozen=True, eq=False)
class Run:
    """What one discretisation does: its set-up and its solves as jobs, and its error."""

    name: str
    error: float
    set_up: Callable[[], Any]
    block: Callable[[], Any]
    single: Callable[[], Any]
    places: Callable[[], Any]
    first: float
    seconds: float
    anew: Callable[[], Any] | None = None
    with_coefficients: Callable[[], Any] | None = None

    def timed(self) -> dict[str, Callable[[], Any]]:
        """Its jobs by name; a peer's solve gives values at places already."""
        jobs = {"set-up": self.set_up, "block": self.block, "single": self.single}
        if self.with_coefficients is not None:
            jobs["set-up with coefficients"] = self.with_coefficients
        return jobs if self.anew is None else {**jobs, "places": self.places, "anew": self.anew}


def of_parts(coefficient: Any, waves: Waves, cells: int, degree: int) -> Run:
    """Learned again, and anew: a problem that is not known from before is looked at first, is it well-posed?"""
    problem = darcy(coefficient)

    def learn(own: ko.Problem = problem) -> ko.SolutionOperator:
        return ko.learn(own, method=ko.Partition(cells=cells, degree=degree, levels=0))

    first, T = timed(learn)
    seconds = repeated(learn)
    f, g = (waves.f(T.points["f"].x), waves.u(T.points["g"].x))
    error = relative(T(f, g)(PLACES), waves.u(PLACES))
    alone = np.ascontiguousarray(f[:, 0]), np.ascontiguousarray(g[:, 0])
    jobs = (learn, lambda: T(f, g), lambda: T(*alone), lambda: T(f, g)(PLACES))
    anew = lambda: learn(darcy(coefficient))
    return Run(f"{cells}×{cells}, degree {degree}", error, *jobs, first, seconds, anew)


def of_hps(waves: Waves, levels: int, p: int) -> Run:
    from peers_hps import hps

    peer = hps(levels, p, waves.slopes)
    first = once(peer.build, CLOCK)
    seconds = repeated(peer.build)
    f, g = waves.f(peer.inside), waves.u(peer.around)
    error = relative(peer.solve(f, g), waves.u(peer.inside))
    alone = np.ascontiguousarray(f[..., :1]), np.ascontiguousarray(g[:, :1])
    name = f"{2**levels}×{2**levels}, p = {p}"
    jobs = (peer.build, lambda: peer.solve(f, g), lambda: peer.solve(*alone), lambda: peer.solve(f, g))
    return Run(name, error, *jobs, first, seconds, with_coefficients=peer.build_anew)


def repeated(job: Callable[[], Any]) -> float:
    """The least seconds of a set-up that is done again and again: short ones more often, which are noisier."""
    found = [once(job, CLOCK) for _ in range(AGAIN)]
    while sum(found) < ENOUGH:
        found.append(once(job, CLOCK))
    return min(found)


def best(runs: Sequence[Run], target: float) -> Run | None:
    """The one with the quickest set-up among those whose errors are at most the target."""
    return min((run for run in runs if run.error <= target), key=lambda run: run.seconds, default=None)


#: Coefficient, radians per unit, and sizes to choose from, as many for either: cells and degrees, levels and p.
Case = tuple[str, float, list[tuple[int, int]], list[tuple[int, int]]]
SMALL = (
    [(1, 24), (2, 15), (2, 16), (2, 17), (2, 18), (2, 19), (2, 21), (3, 19), (3, 21)],
    [(1, 20), (2, 10), (2, 12), (2, 14), (2, 16), (3, 8), (3, 10), (3, 12), (3, 16)],
)
CASES: list[Case] = [
    ("wavy", 20.0, *SMALL),
    ("exp(x + y)", 20.0, *SMALL),
    ("wavy", 100.0, [(6, 21), (8, 19), (10, 19)], [(4, 12), (4, 14), (4, 16)]),
    ("wavy", 100.0, [(8, 23), (12, 23), (12, 25)], [(5, 12), (5, 14), (5, 16)]),
]


def against_jaxhps(cases: Sequence[Case] = ()) -> None:
    """At equal error, interleaved in one run."""
    rows: list[list[str]] = []
    every: list[dict[str, Any]] = []
    for name, number, ours, theirs in cases or CASES:
        coefficient, slopes = COEFFICIENTS[name]
        waves = Waves(number, slopes)
        for _ in range(WARM):
            ko.learn(darcy(coefficient), method=ko.Partition(cells=1, degree=9, levels=0))
        mine = [told(f"{number:g} rad, {name}, kernop", of_parts(coefficient, waves, *size)) for size in ours]
        peers = [told(f"{number:g} rad, {name}, jaxhps", of_hps(waves, *size)) for size in theirs]
        done: set[tuple[str, str]] = set()
        for target in (1e-4, 1e-5, 1e-6, 1e-7, 1e-8, 1e-10, 1e-12):
            one, other = best(mine, target), best(peers, target)
            if one is None or other is None or (one.name, other.name) in done:
                continue
            done.add((one.name, other.name))
            found = compared(one, other)
            every.append({"rad per unit": number, "coefficient": name, "error at most": target, **found})
            rows.append(described(every[-1]))
            console.print(" · ".join(rows[-1]))
    headings = ["rad, a, error ≤", "kernop: error", "jaxhps: error", "learn, s", "build, s", "ratio"]
    headings += ["with coefficients, s", "ratio"]
    headings += ["each of 64, ms", "jaxhps, ms", "ratio", "one, ms", "jaxhps, ms"]
    table("kernop and jaxhps at equal error; compilation apart", headings, rows)
    save("parts_jaxhps" if not cases else f"parts_jaxhps_{CASES.index(cases[0])}", {"at equal error": every})


def told(who: str, run: Run) -> Run:
    """The same, said."""
    console.print(f"{who} {run.name}: error {run.error:.1e}, {run.seconds:.2f} s, the first time {run.first:.1f} s")
    return run


def compared(one: Run, other: Run) -> dict[str, Any]:
    """Both interleaved."""
    jobs = {f"{who} {what}": job for who, run in (("our", one), ("their", other)) for what, job in run.timed().items()}
    seconds = interleaved(jobs, rounds=9, clock=CLOCK)
    return {
        "our size": one.name,
        "their size": other.name,
        "our error": one.error,
        "their error": other.error,
        **{f"{name}, s": value for name, value in seconds.items()},
        "our first set-up, s": one.first,
        "their first set-up, s": other.first,
        "set-up, ratio": seconds["our set-up"] / seconds["their set-up"],
        "with coefficients, ratio": seconds["our set-up"] / seconds["their set-up with coefficients"],
        "block, ratio": seconds["our block"] / seconds["their block"],
        "block to one, ratio": seconds["our block"] / BLOCK / seconds["their single"],
    }


def described(found: dict[str, Any]) -> list[str]:
    each = 1e3 / BLOCK
    return [
        f"{found['rad per unit']:g}, {found['coefficient']}, {found['error at most']:g}",
        f"{found['our size']}: {found['our error']:.1e}",
        f"{found['their size']}: {found['their error']:.1e}",
        f"{found['our set-up, s']:.4f}",
        f"{found['their set-up, s']:.4f}",
        f"{found['set-up, ratio']:.2f}",
        f"{found['their set-up with coefficients, s']:.4f}",
        f"{found['with coefficients, ratio']:.2f}",
        f"{each * found['our block, s']:.2f}",
        f"{each * found['their block, s']:.2f}",
        f"{found['block, ratio']:.2f}",
        f"{1e3 * found['our single, s']:.1f}",
        f"{1e3 * found['their single, s']:.1f}",
    ]


#: Cells and degrees of parts, and cells of P2, from coarse to fine.
OURS = [(2, 11), (3, 11), (3, 13), (4, 13), (4, 15), (5, 15), (6, 15), (6, 17), (6, 19), (8, 19)]
P2 = (16, 32, 64, 96, 128, 192)


def against_fem() -> None:
    """Time against error, 64 right-hand sides of 20 rad per unit at 4000 places, beside P2 with a cached sparse LU."""
    from peers_fem import finite_elements

    waves = Waves(20.0, exponential_slopes)
    truth = waves.u(PLACES)
    results: dict[str, list[dict[str, float]]] = {"kernop": [], "P2": []}
    for cells, degree in OURS:
        run = of_parts(exponential, waves, cells, degree)
        seconds = interleaved({"set-up": run.set_up, "each": run.places}, rounds=3, clock=CLOCK)
        results["kernop"].append({"cells": cells, "degree": degree, "error": run.error, **seconds})
    for cells in P2:
        set_up, peer = timed(lambda cells=cells: finite_elements(cells, 2, PLACES))
        f, g = waves.f(peer.nodes), waves.u(peer.nodes[peer.outer])
        each, found = timed(lambda peer=peer, f=f, g=g: peer.solve(f, g))
        results["P2"].append({"cells": cells, "error": relative(found, truth), "set-up": set_up, "each": each})
    rows: list[list[str]] = []
    for target in 10.0 ** -np.arange(3.0, 13.0):
        found = {who: cheapest(runs, target) for who, runs in results.items()}
        shown = [part for who in found for part in _shown(found[who])]
        rows.append([f"{target:.0e}", *shown])
    headings = ["error at most", *(f"{who}: {what}" for who in results for what in ("error", "set-up, s", "each, ms"))]
    table("kernop's parts and P2: 64 right-hand sides of 20 rad per unit, values at 4000 places", headings, rows)
    save("parts_fem", results)


def cheapest(runs: Sequence[dict[str, float]], target: float) -> dict[str, float] | None:
    """The one with the quickest set-up whose error is at most the target."""
    return min((run for run in runs if run["error"] <= target), key=lambda run: run["set-up"], default=None)


def _shown(run: dict[str, float] | None) -> list[str]:
    if run is None:
        return ["not reached", "", ""]
    return [f"{run['error']:.1e}", f"{run['set-up']:.2f}", f"{1e3 * run['each'] / BLOCK:.2f}"]


TABLES = {"jaxhps": against_jaxhps, "fem": against_fem, **parts_growth.TABLES}


def main() -> None:
    for name in [own for own in sys.argv[1:] if own != "wall"] or TABLES:
        if name.startswith("jaxhps="):
            against_jaxhps([CASES[int(name.removeprefix("jaxhps="))]])
        else:
            TABLES[name]()


if __name__ == "__main__":
    main()

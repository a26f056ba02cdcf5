"""Operators made of parts against jaxhps and finite elements at equal error, and how their cost grows.

The unit square, −∇·(a∇u) = f, u = g, with solutions sin(k·x + b) of 20 and of 100 rad per unit; a = exp(x + y), whose
parts are all alike, and a coefficient no two parts of which are. ``jaxhps``, ``fem``, ``growth`` or ``million`` on the
command line run one of the tables. One thread for all: set OPENBLAS_NUM_THREADS=1 and
XLA_FLAGS="--xla_cpu_multi_thread_eigen=false intra_op_parallelism_threads=1", or use taskset.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import jax.numpy as jnp
import numpy as np
from common import console, interleaved, once, save, table

import kernop as ko

SQUARE = ko.Box([0, 0], [1, 1])
#: Right-hand sides in a block.
BLOCK = 64
RNG = np.random.default_rng(0)
#: Directions and phases of the solutions.
ANGLE, PHASE = RNG.uniform(0.0, np.pi, BLOCK), RNG.uniform(0.0, 2.0 * np.pi, BLOCK)
PLACES = RNG.random((4000, 2))


def wavy(x: Any) -> Any:
    """A coefficient that no two parts have alike."""
    return 1.5 + jnp.sin(7.0 * x[..., 0] + 1.0) * jnp.cos(5.0 * x[..., 1])


def wavy_slopes(x: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The same, and its derivatives, by hand."""
    one, other = 7.0 * x[..., 0] + 1.0, 5.0 * x[..., 1]
    return (
        1.5 + np.sin(one) * np.cos(other),
        7.0 * np.cos(one) * np.cos(other),
        -5.0 * np.sin(one) * np.sin(other),
    )


def exponential(x: Any) -> Any:
    """Darcy a2."""
    return jnp.exp(x[..., 0] + x[..., 1])


def exponential_slopes(x: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The same, and its derivatives."""
    value = np.exp(x[..., 0] + x[..., 1])
    return value, value, value


COEFFICIENTS: dict[str, tuple[Any, Any]] = {
    "wavy": (wavy, wavy_slopes),
    "exp(x + y)": (exponential, exponential_slopes),
}


@dataclass(frozen=True)
class Waves:
    """Solutions sin(k·x + b) with |k| the same for all, and what they ask for."""

    number: float
    slopes: Callable[[np.ndarray], tuple[np.ndarray, np.ndarray, np.ndarray]]

    @property
    def k(self) -> np.ndarray:
        """(2, B)."""
        return self.number * np.stack([np.cos(ANGLE), np.sin(ANGLE)])

    def u(self, x: np.ndarray) -> np.ndarray:
        """(…, B)."""
        return np.sin(x @ self.k + PHASE)

    def f(self, x: np.ndarray) -> np.ndarray:
        """−∇·(a∇u) = a |k|² sin − ∇a·k cos, (…, B)."""
        a, along_x, along_y = (own[..., None] for own in self.slopes(x))
        angle = x @ self.k + PHASE
        return a * self.number**2 * np.sin(angle) - (along_x * self.k[0] + along_y * self.k[1]) * np.cos(angle)


def relative(found: np.ndarray, truth: np.ndarray) -> float:
    """The worst relative L2 error of the block."""
    shape = (-1, found.shape[-1])
    apart, truth = (found - truth).reshape(shape), truth.reshape(shape)
    return float(np.max(np.linalg.norm(apart, axis=0) / np.linalg.norm(truth, axis=0)))


def darcy(coefficient: Any) -> ko.Problem:
    return ko.Problem(
        ko.Equation(lambda u: -ko.div(coefficient * ko.grad(u)), on=SQUARE, name="f"),
        ko.Dirichlet(on=SQUARE.boundary, name="g"),
    )


@dataclass(frozen=True, eq=False)
class Run:
    """What one discretisation does: its set-up and its solves as jobs, and its error."""

    name: str
    error: float
    set_up: Callable[[], Any]
    block: Callable[[], Any]
    single: Callable[[], Any]
    first: float
    seconds: float

    def timed(self) -> dict[str, Callable[[], Any]]:
        """Its jobs by name."""
        return {"set-up": self.set_up, "block": self.block, "single": self.single}


def of_parts(problem: ko.Problem, waves: Waves, cells: int, degree: int) -> Run:
    def learn() -> ko.SolutionOperator:
        return ko.learn(problem, method=ko.Partition(cells=cells, degree=degree, levels=0))

    first = once(learn)
    seconds, T = timed(learn)
    f, g = (waves.f(T.points["f"].x), waves.u(T.points["g"].x))
    error = relative(T(f, g)(PLACES), waves.u(PLACES))
    alone = np.ascontiguousarray(f[:, 0]), np.ascontiguousarray(g[:, 0])
    return Run(f"{cells}×{cells}, degree {degree}", error, learn, lambda: T(f, g), lambda: T(*alone), first, seconds)


def of_hps(waves: Waves, levels: int, p: int) -> Run:
    from peers_hps import hps

    peer = hps(levels, p, waves.slopes)
    first = once(peer.build)
    seconds = once(peer.build)
    f, g = waves.f(peer.inside), waves.u(peer.around)
    error = relative(peer.solve(f, g), waves.u(peer.inside))
    alone = np.ascontiguousarray(f[..., :1]), np.ascontiguousarray(g[:, :1])
    name = f"{2**levels}×{2**levels}, p = {p}"
    return Run(name, error, peer.build, lambda: peer.solve(f, g), lambda: peer.solve(*alone), first, seconds)


def timed(job: Callable[[], Any]) -> tuple[float, Any]:
    """Seconds of a call, and what it gives."""
    kept: list[Any] = []
    seconds = once(lambda: kept.append(job()))
    return seconds, kept[0]


def best(runs: Sequence[Run], target: float) -> Run | None:
    """The one with the quickest set-up among those whose errors are at most the target."""
    return min((run for run in runs if run.error <= target), key=lambda run: run.seconds, default=None)


#: For each number of radians: cells and degrees, levels and p.
SIZES: dict[float, tuple[list[tuple[int, int]], list[tuple[int, int]]]] = {
    20.0: ([(4, 13), (5, 15), (6, 15), (6, 17), (6, 19), (8, 19)], [(2, 12), (2, 16), (3, 12), (3, 16), (3, 18)]),
    100.0: ([(16, 15), (16, 19), (20, 19), (24, 19), (28, 19)], [(4, 12), (4, 16), (5, 12), (5, 14), (5, 16)]),
}


def against_jaxhps() -> None:
    """At equal error, interleaved in one run."""
    rows: list[list[str]] = []
    every: list[dict[str, Any]] = []
    for number, (ours, theirs) in SIZES.items():
        for name, (coefficient, slopes) in COEFFICIENTS.items():
            waves, problem = Waves(number, slopes), darcy(coefficient)
            mine = [of_parts(problem, waves, *size) for size in ours]
            peers = [of_hps(waves, *size) for size in theirs]
            for who, runs in (("kernop", mine), ("jaxhps", peers)):
                for run in runs:
                    console.print(f"{number:g} rad, {name}, {who} {run.name}: {run.error:.1e}, {run.seconds:.2f} s")
            done: set[tuple[str, str]] = set()
            for target in (1e-4, 1e-6, 1e-8, 1e-10, 1e-12):
                one, other = best(mine, target), best(peers, target)
                if one is None or other is None or (one.name, other.name) in done:
                    continue
                done.add((one.name, other.name))
                found = compared(one, other)
                every.append({"rad per unit": number, "coefficient": name, "error at most": target, **found})
                rows.append(described(every[-1]))
    headings = [
        "rad, a, error ≤",
        "kernop: error",
        "jaxhps: error",
        "learn, s",
        "build, s",
        "ratio",
        "each of 64, ms",
        "each of 64, ms",
        "ratio",
        "one, ms",
        "one, ms",
    ]
    table("kernop and jaxhps at equal error; compilation apart", headings, rows)
    save("parts_jaxhps", {"at equal error": every})


def compared(one: Run, other: Run) -> dict[str, Any]:
    """Both interleaved."""
    jobs = {f"{who} {what}": job for who, run in (("our", one), ("their", other)) for what, job in run.timed().items()}
    seconds = interleaved(jobs, rounds=5)
    return {
        "our size": one.name,
        "their size": other.name,
        "our error": one.error,
        "their error": other.error,
        **{f"{name}, s": value for name, value in seconds.items()},
        "our first set-up, s": one.first,
        "their first set-up, s": other.first,
        "set-up, ratio": seconds["our set-up"] / seconds["their set-up"],
        "block, ratio": seconds["our block"] / seconds["their block"],
        "block to one, ratio": seconds["our block"] / BLOCK / seconds["their single"],
    }


def described(found: dict[str, Any]) -> list[str]:
    each = 1e3 / BLOCK
    return [
        f"{found['rad per unit']:g}, {found['coefficient']}, {found['error at most']:g}",
        f"{found['our size']}: {found['our error']:.1e}",
        f"{found['their size']}: {found['their error']:.1e}",
        f"{found['our set-up, s']:.2f}",
        f"{found['their set-up, s']:.2f}",
        f"{found['set-up, ratio']:.2f}",
        f"{each * found['our block, s']:.2f}",
        f"{each * found['their block, s']:.2f}",
        f"{found['block, ratio']:.2f}",
        f"{1e3 * found['our single, s']:.1f}",
        f"{1e3 * found['their single, s']:.1f}",
    ]


TABLES = {"jaxhps": against_jaxhps}


def main() -> None:
    for name in sys.argv[1:] or TABLES:
        TABLES[name]()


if __name__ == "__main__":
    main()

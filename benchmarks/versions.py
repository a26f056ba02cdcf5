"""This version beside another checkout of kernop, in one run: the same tasks in turn, one process for each.

Usage: python benchmarks/versions.py PATH [rounds] [words]

PATH is a checkout (its src is imported). Each task is run once to compile, then in turns; medians, and the ratios of
medians and of minima, which a busy machine disturbs less. With words, only tasks that have them in their names.
"""

from __future__ import annotations

import functools
import importlib
import importlib.util
import os
import subprocess
import sys
import tempfile
import time
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import IO, Any, cast

import numpy as np

HERE = Path(__file__).resolve().parents[1]


def tasks() -> dict[str, Callable[[], Any]]:
    """What is timed, in the words of both versions."""
    import jax.numpy as jnp

    import kernop as ko

    paper = importlib.import_module(
        "kernop.paper" if importlib.util.find_spec("kernop.paper") else "kernop.experiments"
    )
    darcy, heat, helmholtz, schrodinger = paper.darcy, paper.heat, paper.helmholtz, paper.schrodinger
    flow = importlib.import_module(f"{paper.__name__}.darcy")
    darcy_problem, exponential = flow.darcy_problem, flow.exponential
    square_grid = importlib.import_module(f"{paper.__name__}.experiment").square_grid

    found: dict[str, Callable[[], Any]] = {}
    for experiment in (darcy("a1"), darcy("a2"), helmholtz(20), helmholtz(200), schrodinger(), heat()):
        found[f"learn, default: {experiment.name}"] = experiment.learn_by_default
    found["learn, the paper's: Darcy a2"] = darcy("a2").learn_as_paper
    problem = darcy_problem(exponential)
    # One space in both: by tol alone this version takes parts here, so that f = 1 meets the tolerance too.
    found["learn, tol=1e-8, one space: Darcy a2"] = lambda: ko.learn(problem, tol=1e-8, method=ko.Subspace())
    low = {"kernel": ko.Gaussian(1.0), "points": {"f": 2500, "g": 1500}, "regularization": 5e-5}
    found["learn, LowRank: Darcy a2"] = lambda: ko.learn(problem, method=ko.LowRank(), **low)
    for solver in ("qr", "normal"):
        batches = ko.Subspace(centers=500, batch=4000, solver=solver)
        found[f"learn, stream of 40 000 points, {solver}"] = lambda by=batches: ko.learn(
            problem, kernel=ko.Gaussian(0.2), points={"f": 30_000, "g": 10_000}, method=by
        )
        many = ko.Subspace(centers=1500, batch=2000, solver=solver)
        found[f"learn, stream of 64 000 points, {solver}, two workers"] = lambda by=many: ko.learn(
            problem, kernel=ko.Gaussian(0.1), points={"f": 48_000, "g": 16_000}, method=by, client=two_workers()
        )
    plain = ko.learn(problem)
    data = problem.manufacture(lambda x: jnp.sin(3.0 * x[..., 0] + x[..., 1]), plain.points)
    found["T(f, g), by default"] = lambda: plain(**data)
    square = ko.learn(problem, points=2007, method=ko.Subspace(centers=1000))
    values = problem.manufacture(lambda x: jnp.sin(3.0 * x[..., 0] + x[..., 1]), square.points)
    found["T(f, g), 1000 centres, 2007 points"] = lambda: square(**values)
    path = Path(tempfile.mkdtemp()) / "darcy.kernop"
    square.save(path)  # of one size in both; by default this version takes more functions and points
    found["save"] = lambda: square.save(path)
    found["load"] = lambda: ko.load(path)
    wave = np.random.default_rng(0).normal(scale=2.0, size=(2, 1000))
    for centers in (250, 1000):
        operator = ko.learn(problem, points=3 * centers, method=ko.Subspace(centers=centers))
        many = problem.manufacture(lambda x: jnp.sin(x @ wave), operator.points)
        one = {name: np.ascontiguousarray(values[:, 0]) for name, values in many.items()}
        fixed, u = operator.on(square_grid(61)), operator(**one)
        found |= {
            f"T(f, g), {centers} centres": lambda T=operator, one=one: T(**one),
            f"T(f, g), {centers} centres, 1000 inputs": lambda T=operator, many=many: T(**many),
            f"u(x), {centers} centres, one point": lambda u=u: u([[0.3, 0.4]]),
            f"u(x), {centers} centres, 3721 points": lambda u=u: u(square_grid(61)),
            f"T.on(x)(f, g), {centers} centres": lambda S=fixed, one=one: S(**one),
            f"T.on(x)(f, g), {centers} centres, 1000 inputs": lambda S=fixed, many=many: S(**many),
        }
    return found


@functools.cache
def two_workers() -> Any:
    """A Dask client of two processes with one thread each, started when it is first asked for."""
    from distributed import Client, LocalCluster

    return Client(LocalCluster(n_workers=2, threads_per_worker=1, processes=True, dashboard_address=":0"))


def work() -> None:
    """Answer names of tasks with seconds; short tasks are repeated."""
    warnings.simplefilter("ignore")
    known = tasks()
    print("\n".join(known), flush=True)
    print(flush=True)
    for line in sys.stdin:
        task = known[line.rstrip("\n")]
        started = time.perf_counter()
        task()
        first = time.perf_counter() - started
        repeats = int(min(50, max(1, 0.05 / first)))
        started = time.perf_counter()
        for _ in range(repeats):
            task()
        print((time.perf_counter() - started) / repeats, flush=True)


def start(tree: Path) -> subprocess.Popen[str]:
    environment = {**os.environ, "PYTHONPATH": str(tree / "src")}
    command = [sys.executable, __file__, "--work"]
    return subprocess.Popen(command, env=environment, text=True, stdin=subprocess.PIPE, stdout=subprocess.PIPE)


def ask(worker: subprocess.Popen[str], name: str) -> float:
    cast(IO[str], worker.stdin).write(f"{name}\n")
    cast(IO[str], worker.stdin).flush()
    return float(cast(IO[str], worker.stdout).readline())


def main(other: Path, rounds: int, words: str) -> None:
    from common import save, table

    workers = {"other": start(other), "this": start(HERE)}
    names: dict[str, list[str]] = {
        key: list(iter(lambda w=worker: cast(IO[str], w.stdout).readline().rstrip("\n"), ""))
        for key, worker in workers.items()
    }
    rows: list[list[str]] = []
    figures: dict[str, dict[str, float]] = {}
    for name in (name for name in names["this"] if words in name):
        seconds: dict[str, list[float]] = {key: [] for key in workers}
        for _ in range(rounds):
            for key, worker in workers.items():
                seconds[key].append(ask(worker, name))
        median = {key: float(np.median(values)) for key, values in seconds.items()}
        least = {key: min(values) for key, values in seconds.items()}
        figures[name] = median
        ratios = [f"{found['this'] / found['other']:.2f}" for found in (median, least)]
        rows.append([name, *(f"{1e3 * value:.3g}" for value in median.values()), *ratios])
    table("milliseconds", ["task", "other", "this", "this ÷ other", "of minima"], rows)
    save("versions", figures)


if __name__ == "__main__":
    if sys.argv[1:] == ["--work"]:
        work()
    elif len(sys.argv) < 2:
        print(__doc__)
    else:
        main(Path(sys.argv[1]).resolve(), int(sys.argv[2]) if len(sys.argv) > 2 else 7, " ".join(sys.argv[3:]))

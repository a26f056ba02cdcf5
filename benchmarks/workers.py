"""Learning on Dask workers: the same operator as in one process, and twice as fast on two workers as on one.

Workers are processes with one thread each. A pass is timed on one worker and on two, in turn and never with both
clusters alive (an idle worker takes 3 % of a core); then a worker is killed in the middle of a pass.
"""

from __future__ import annotations

import os
import signal
import threading
import time
from typing import Any

import dask
import jax.numpy as jnp
import numpy as np
from common import console, save, table
from distributed import Client, LocalCluster

import kernop as ko
from kernop.learning.streaming.cluster import _accumulated  # pyright: ignore[reportPrivateUsage]
from kernop.methods.regression import Regression
from kernop.paper.poisson3d import PROBLEM, envelope

CENTERS, BATCH = 3000, 2000
#: QR has four times the work for a point, so fewer of them.
POINTS = {"normal": 160_000, "qr": 64_000}
GRID = np.random.default_rng(0).random((2000, 3))


def solution(x: Any) -> Any:
    """A function that the space resolves."""
    return jnp.prod(jnp.sin(jnp.pi * x), axis=-1)


def source(x: Any) -> Any:
    """−Δ of it."""
    return 3.0 * jnp.pi**2 * solution(x)


def learn(solver: str, client: Client | None = None, points: int | None = None) -> ko.SolutionOperator:
    return ko.learn(
        PROBLEM,
        points={"f": points or POINTS[solver]},
        method=ko.Subspace(centers=CENTERS, batch=BATCH, envelope=envelope, solver=solver),  # type: ignore[arg-type]
        regularization=1e-2 if solver == "normal" else None,
        inputs=[(source,)],
        client=client,
    )


def difference(one: ko.SolutionOperator, other: ko.SolutionOperator) -> float:
    a, b = one.solutions[0](GRID), other.solutions[0](GRID)
    return float(np.linalg.norm(a - b) / np.linalg.norm(a))


def error(operator: ko.SolutionOperator) -> float:
    exact = ko.apply_operator(lambda u: u, solution, ko.Points(GRID))
    return float(np.linalg.norm(operator.solutions[0](GRID) - exact) / np.linalg.norm(exact))


def workers(number: int) -> LocalCluster:
    """Processes with one thread for BLAS, which kernop sees to, and one for JAX; see docs/scale.md for the settings."""
    keep = str(2**30)
    environment = {
        "XLA_FLAGS": "--xla_cpu_multi_thread_eigen=false intra_op_parallelism_threads=1",
        "JAX_CPU_ENABLE_ASYNC_DISPATCH": "false",
        "MALLOC_TRIM_THRESHOLD_": keep,
        "MALLOC_MMAP_THRESHOLD_": keep,
    }
    dask.config.set({f"distributed.nanny.pre-spawn-environ.{name}": value for name, value in environment.items()})
    return LocalCluster(n_workers=number, threads_per_worker=1, processes=True, dashboard_address=":0")


def timed(solver: str, number: int) -> tuple[float, ko.SolutionOperator]:
    """Seconds of a pass on so many workers, which have compiled before."""
    with workers(number) as cluster, Client(cluster) as client:
        learn(solver, client, points=16 * BATCH)
        started = time.perf_counter()
        operator = learn(solver, client)
        return time.perf_counter() - started, operator


def at_most(client: Client, regression: Regression) -> float:
    """How much two workers can gain here: a chunk on one of them alone, against one on each at the same time."""

    def seconds(*there: str) -> float:
        parts = [client.submit(_chunk, regression, workers=[address], pure=False) for address in there]
        return float(np.mean([part.result() for part in parts]))

    first, second = client.nthreads()
    seconds(first, second)
    return 2.0 * float(np.median([seconds(first) / seconds(first, second) for _ in range(5)]))


def _chunk(regression: Regression) -> float:
    started = time.perf_counter()
    _accumulated(regression, range(4))
    return time.perf_counter() - started


def killed(solver: str, reference: ko.SolutionOperator, after: float) -> dict[str, float]:
    """Kill a worker in the middle of a pass on two."""
    with workers(2) as cluster, Client(cluster) as client:
        victim = next(iter(client.run(os.getpid).values()))
        timer = threading.Timer(after, os.kill, (victim, signal.SIGKILL))
        timer.start()
        started = time.perf_counter()
        operator = learn(solver, client)
        return {"seconds": time.perf_counter() - started, "difference": difference(reference, operator)}


def measure(solver: str, rounds: int = 3) -> dict[str, float]:
    here, found, seconds = learn(solver), {}, {1: [], 2: []}
    for _ in range(rounds):
        for number, times in seconds.items():
            elapsed, found[number] = timed(solver, number)
            times.append(elapsed)
    console.print(solver, {number: [round(t, 1) for t in times] for number, times in seconds.items()})
    one, two = (float(np.median(times)) for times in seconds.values())
    with workers(2) as cluster, Client(cluster) as client:
        most = at_most(client, here.factorisation.regression)
    lost = killed(solver, here, after=3.0 + two / 2)
    return {
        "one worker, s": one,
        "two workers, s": two,
        "times faster": one / two,
        "times faster, at most (chunks alone and together)": most,
        "error of the solution": error(here),
        "difference from one process": difference(here, found[2]),
        "difference between one worker and two": difference(found[1], found[2]),
        "a worker killed, s (with start-up)": lost["seconds"],
        "a worker killed: difference": lost["difference"],
    }


def main() -> None:
    figures = {solver: measure(solver) for solver in ("normal", "qr")}
    rows = [[name, *(f"{found[name]:.3g}" for found in figures.values())] for name in figures["qr"]]
    table(f"Dask, L = {CENTERS}, N = {POINTS}", ["", *figures], rows)
    console.print("normal: λ = 1e-2; qr: by default")
    save("workers", figures)


if __name__ == "__main__":
    main()

"""A cost model of streaming: seconds and bytes against N, L, d, the number of workers and the network.

The constants are measured at small sizes on one thread; the model is then compared with learning at other sizes, in
one process and on two Dask workers, and used to extrapolate to 10⁹ points. docs/scale.md explains the terms.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import jax.numpy as jnp
import numpy as np
from common import console, once, save, table
from distributed import Client, LocalCluster
from threadpoolctl import threadpool_limits

import kernop as ko
from kernop.batches import stream
from kernop.frame import frame_of
from kernop.linalg import add_rows, add_square, add_triangle
from kernop.streaming import make_plan
from kernop.streaming.cluster import chunks

BATCH = 2000


def problem(d: int) -> ko.Problem:
    box = ko.Box([0.0] * d, [1.0] * d)
    return ko.Problem(ko.Equation(lambda u: -ko.laplacian(u), on=box, name="f"))


def envelope(x: Any) -> Any:
    return jnp.prod(x * (1.0 - x), axis=-1)


@dataclass(frozen=True)
class Cost:
    """Constants of one thread: seconds for a row, for an entry of the design matrix by d, and for a unit of work.

    Arguments:
        row: seconds to find the coefficients of a row.
        entry: seconds for P_i b_j, by the dimension.
        update: seconds for a row and L² (dsyrk or dtpqrt).
        merge: seconds for two accumulators and L² (normal equations) or L³ (QR).
        network: bytes per second between workers.
        start: seconds that a pass takes in any case, in one process and on workers.
    """

    row: float
    entry: dict[int, float]
    update: dict[str, float]
    merge: dict[str, float]
    network: float
    start: tuple[float, float]

    def learn(self, n: float, size: int, d: int, solver: str, workers: int = 1) -> float:
        """Seconds: rows and entries and updates spread over the workers, then a tree of merges."""
        one = n * (self.row + size * self.entry[d] + size**2 * self.update[solver])
        if workers == 1:
            return self.start[0] + one
        count = len(chunks(math.ceil(n / BATCH)))
        merge = size ** (3 if solver == "qr" else 2) * self.merge[solver] + 4.0 * size**2 / self.network
        rounds = count / workers + math.log2(max(2, min(workers, count)))
        busy = math.ceil(count / workers) / count  # the last round may leave workers idle
        return self.start[1] + one * max(1.0 / workers, busy) + rounds * merge

    @staticmethod
    def memory(size: int) -> float:
        """Bytes on a worker: the accumulator, its copy and its partner in a merge, and one batch of rows."""
        return 8.0 * (4 * size**2 + BATCH * size) + 0.35e9


def median(job: Callable[[], Any], rounds: int = 5) -> float:
    job()
    return float(np.median([once(job) for _ in range(rounds)]))


def constants(client: Client) -> Cost:
    size = 1500
    entry: dict[int, float] = {}
    row = 0.0
    for d in (1, 2, 3):
        p = problem(d)
        source = stream(p, {"f": BATCH}, "halton", 0, BATCH)
        method = ko.Subspace(centers=size, batch=BATCH, envelope=envelope)
        plan = make_plan(p, source, method, frame_of(p), weights=(1.0,))
        batch, out = source[0], np.empty((BATCH, size))
        row = median(lambda: (source[0], plan.rows.functionals(batch))) / BATCH  # noqa: B023
        entry[d] = (median(lambda: plan.rows.design(batch, out)) / BATCH - row) / size  # noqa: B023
    rows = np.random.default_rng(0).normal(size=(BATCH, size))
    square = np.zeros((size, size), order="F")
    triangle = np.asfortranarray(np.triu(np.random.default_rng(1).normal(size=(size, size))))
    update = {
        "normal": median(lambda: add_square(square, rows)) / BATCH / size**2,
        "qr": median(lambda: add_rows(triangle, np.asfortranarray(rows))) / BATCH / size**2,
    }
    merge = {
        "normal": median(lambda: np.add(square, square)) / size**2,
        "qr": median(lambda: add_triangle(triangle, triangle.copy(order="F"))) / size**3,
    }
    few = 2 * BATCH
    start = tuple(max(0.0, median(lambda: learn(few, 20, 2, "normal", c), 3) - few * row) for c in (None, client))  # noqa: B023
    return Cost(row, entry, update, merge, bandwidth(client), (start[0], start[1]))


def bandwidth(client: Client) -> float:
    """Bytes per second from one worker to another."""
    first, second = client.nthreads()
    data = client.submit(np.ones, 12_500_000, workers=[first], pure=False)
    client.submit(len, data, workers=[first], pure=False).result()
    started = time.perf_counter()
    client.submit(len, data, workers=[second], pure=False).result()
    return 1e8 / (time.perf_counter() - started)


def learn(n: int, size: int, d: int, solver: str, client: Client | None = None) -> Any:
    method = ko.Subspace(centers=size, batch=BATCH, envelope=envelope, solver=solver)  # type: ignore[arg-type]
    return ko.learn(problem(d), points={"f": n}, method=method, client=client)


CASES = [
    (40_000, 1000, 2, "normal"),
    (40_000, 1000, 2, "qr"),
    (40_000, 2500, 3, "normal"),
    (20_000, 2500, 3, "qr"),
    (20_000, 1000, 1, "qr"),
]


def check(cost: Cost, case: tuple[int, int, int, str], client: Client | None) -> dict[str, Any]:
    """Learn, warm, and compare with the model."""
    n, size, d, solver = case
    workers = 1 if client is None else len(client.nthreads())
    learn(BATCH, size, d, solver, client)  # compiles
    measured, predicted = once(lambda: learn(n, size, d, solver, client)), cost.learn(n, size, d, solver, workers)
    return {
        "N": n,
        "L": size,
        "d": d,
        "solver": solver,
        "workers": workers,
        "model, s": predicted,
        "measured, s": measured,
    }


def main() -> None:
    cluster = LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=":0")
    with cluster, Client(cluster) as client, threadpool_limits(1, user_api="blas"):
        cost = constants(client)
        checks = [check(cost, case, where) for case in CASES for where in (None, client)]
    rows = [[f"{v:.1f}" if isinstance(v, float) else str(v) for v in c.values()] for c in checks]
    rows = [[*row, f"{c['model, s'] / c['measured, s']:.2f}"] for row, c in zip(rows, checks, strict=True)]
    table("Model and measurement", [*checks[0], "ratio"], rows)
    far = [
        [
            f"{n:.0e}",
            str(size),
            solver,
            str(w),
            _time(cost.learn(n, size, 3, solver, w)),
            f"{cost.memory(size) / 1e9:.1f}",
        ]
        for n in (3e5, 1e7, 1e9)
        for size in (5000, 20_000)
        for solver in ("normal", "qr")
        for w in (1, 64, 1024)
    ]
    table(
        "Extrapolated, d = 3, workers of one thread like these", ["N", "L", "solver", "workers", "time", "GB each"], far
    )
    console.print(f"Constants: {cost}")
    save("cost", {"constants": cost.__dict__, "checks": checks, "extrapolated": far})


def _time(seconds: float) -> str:
    for unit, size in (("days", 86400.0), ("h", 3600.0), ("min", 60.0)):
        if seconds > 2 * size:
            return f"{seconds / size:.1f} {unit}"
    return f"{seconds:.0f} s"


if __name__ == "__main__":
    main()

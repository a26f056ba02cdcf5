"""A cost model of streaming: seconds and bytes against N, L, d, the number of workers and the network.

A worker measures its constants at L = 1500; the model is then compared with learning at other sizes, on one Dask
worker and on two, and used to extrapolate to 10⁹ points. docs/scale.md explains the terms.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import jax.numpy as jnp
import numpy as np
from common import console, once, save, table
from distributed import Client, wait
from threadpoolctl import threadpool_limits
from workers import at_most, workers

import kernop as ko
from kernop.basics.linalg import cholesky, one_thread
from kernop.collocation.ansatz import Ansatz
from kernop.collocation.batches import stream
from kernop.collocation.rows import StreamedRows
from kernop.collocation.units import frame_of
from kernop.learning.streaming.cluster import _accumulated  # pyright: ignore[reportPrivateUsage]
from kernop.learning.streaming.home import ROWS_PER_FUNCTION, chunks
from kernop.methods import Setting
from kernop.methods.regression import Regression

BATCH = 2000
#: Batches that the client looks at to choose weights.
PLANNED = 3


def problem(d: int) -> ko.Problem:
    box = ko.Box([0.0] * d, [1.0] * d)
    return ko.Problem(ko.Equation(lambda u: -ko.laplacian(u), on=box, name="f"))


def envelope(x: Any) -> Any:
    return jnp.prod(x * (1.0 - x), axis=-1)


@dataclass(frozen=True)
class Cost:
    """Constants of a worker with one thread.

    Arguments:
        row: seconds to find the coefficients of a row.
        entry: seconds for P_i b_j, by the dimension.
        update: seconds for a row and L² (dsyrk or dtpqrt), by the dimension.
        merge: seconds for two accumulators and L² (normal equations) or L³ (QR).
        solve: seconds for L³, at the end, on the client.
        send: seconds for L², from one worker to another or to the client.
        start: seconds that a pass takes in any case.
        crowd: how much slower a worker is when its neighbour on the machine is at work too.
    """

    row: float
    entry: dict[int, float]
    update: dict[str, dict[int, float]]
    merge: dict[str, float]
    solve: float
    send: float
    start: float
    crowd: float

    def learn(self, n: float, size: int, d: int, solver: str, workers: int = 1) -> float:
        """Seconds: the plan on the client; rows, entries and updates on the workers; a tree of merges; the solve."""
        row = self.row + size * self.entry[d]
        count = len(chunks(math.ceil(n / BATCH), 1 << int(math.log2(max(1.0, n / (ROWS_PER_FUNCTION * size))))))
        own = math.ceil(count / workers) / count  # the last round may leave workers idle
        work = n * own * (row + size**2 * self.update[solver][d]) * (self.crowd if workers > 1 else 1.0)
        merge = size ** (3 if solver == "qr" else 2) * self.merge[solver]
        rounds = math.ceil(math.log2(max(1, min(workers, count))))  # with partners on other workers
        merges = (math.ceil(count / workers) - 1) * merge + rounds * (merge + size**2 * self.send)
        plan = min(n, PLANNED * BATCH) * row
        return self.start + plan + work + merges + size**2 * self.send + size**3 * self.solve

    @staticmethod
    def memory(size: int) -> float:
        """Bytes on a worker: the accumulator, its copy and its partner in a merge, and one batch of rows."""
        return 8.0 * (4 * size**2 + BATCH * size) + 0.35e9


def median(job: Callable[[], Any], rounds: int = 5) -> float:
    job()
    return float(np.median([once(job) for _ in range(rounds)]))


def regression_of(d: int, size: int, solver: str = "normal") -> Regression:
    method = ko.Subspace(centers=size, batch=BATCH, envelope=envelope, solver=solver)  # type: ignore[arg-type]
    p = problem(d)
    rows = StreamedRows(stream(p, {"f": 20 * BATCH}, "halton", 0, BATCH), Ansatz(envelope=envelope))
    return method.regression(Setting(rows=rows, frame=frame_of(p), weights=(1.0,)), rows)


def rates(size: int = 1500) -> dict[str, Any]:
    """What a worker measures about itself."""
    entry: dict[int, float] = {}
    row = 0.0
    with one_thread():
        for d in (1, 2, 3):
            regression, out = regression_of(d, size), np.empty((BATCH, size))
            batch = regression.rows[0]
            row = median(lambda: regression.rows[0]) / BATCH  # noqa: B023
            entry[d] = median(lambda: regression.design(batch, out)) / BATCH / size  # noqa: B023
        update, merge = {}, {}
        for solver, power in (("normal", 2), ("qr", 3)):
            update[solver] = {}
            for d in (1, 2, 3):
                regression = regression_of(d, size, solver)
                accumulator, batch = regression.accumulator(), regression.rows[0]
                whole = median(lambda: regression.add(accumulator, batch))  # noqa: B023
                update[solver][d] = (whole / BATCH - size * entry[d]) / size**2
            merge[solver] = median(lambda: accumulator.merged(accumulator)) / size**power  # noqa: B023
        matrix = np.asfortranarray(np.eye(size) + 0.1 / size)
        solve = median(lambda: cholesky(matrix.copy(order="F"))) / size**3
    return {"row": row, "entry": entry, "update": update, "merge": merge, "solve": solve}


def constants(client: Client) -> Cost:
    first, second = client.nthreads()
    found = client.submit(rates, workers=[first], pure=False).result()
    crowd = max(1.0, 2.0 / at_most(client, regression_of(3, 1500)))
    few, tiny = 2 * BATCH, 20
    start = max(0.0, median(lambda: learn(few, tiny, 2, "normal", client), 3) - 2 * few * found["row"])
    return Cost(**found, send=sending(client, first, second), start=start, crowd=crowd)


def sending(client: Client, first: str, second: str, size: int = 2500) -> float:
    """Seconds for each L² of an accumulator that goes from one worker to another."""
    regression = regression_of(3, size)

    def moved() -> float:
        part = client.submit(_accumulated, regression, range(1), workers=[first], pure=False)
        wait(part)
        return once(lambda: client.submit(id, part, workers=[second], pure=False).result())

    moved()
    return float(np.median([moved() for _ in range(5)])) / size**2


def learn(n: int, size: int, d: int, solver: str, client: Client) -> Any:
    method = ko.Subspace(centers=size, batch=BATCH, envelope=envelope, solver=solver)  # type: ignore[arg-type]
    return ko.learn(problem(d), points={"f": n}, method=method, client=client)


CASES = [
    (200_000, 1000, 2, "normal"),
    (100_000, 1000, 2, "qr"),
    (100_000, 2500, 3, "normal"),
    (40_000, 2500, 3, "qr"),
    (100_000, 1000, 1, "qr"),
]


def check(cost: Cost, case: tuple[int, int, int, str], client: Client) -> dict[str, Any]:
    """Learn, warm, and compare with the model."""
    n, size, d, solver = case
    learn(16 * BATCH, size, d, solver, client)  # compiles
    count = len(client.nthreads())
    measured, predicted = once(lambda: learn(n, size, d, solver, client)), cost.learn(n, size, d, solver, count)
    about = {"N": n, "L": size, "d": d, "solver": solver, "workers": count}
    return {**about, "model, s": predicted, "measured, s": measured}


def main() -> None:
    checks: list[dict[str, Any]] = []
    with workers(2) as cluster, Client(cluster) as client, threadpool_limits(1, user_api="blas"):
        cost = constants(client)
        checks += [check(cost, case, client) for case in CASES]
    with workers(1) as cluster, Client(cluster) as client, threadpool_limits(1, user_api="blas"):
        checks += [check(cost, case, client) for case in CASES]
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
    title = "Extrapolated, d = 3, workers of one thread like these"
    table(title, ["N", "L", "solver", "workers", "time", "GB each"], far)
    console.print(f"Constants: {cost}")
    save("cost", {"constants": cost.__dict__, "checks": checks, "extrapolated": far})


def _time(seconds: float) -> str:
    for unit, size in (("days", 86400.0), ("h", 3600.0), ("min", 60.0)):
        if seconds > 2 * size:
            return f"{seconds / size:.1f} {unit}"
    return f"{seconds:.0f} s"


if __name__ == "__main__":
    main()

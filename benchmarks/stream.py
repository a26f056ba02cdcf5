"""Streaming at the size of the paper's 3-D study: rows per second against the bare BLAS and LAPACK calls, and memory.

L = 5000 functions with an envelope, 2000 rows at a time: −Δu on the cube. `stream` makes the rows and takes them in;
`bare` only takes in rows that are ready (`dsyrk` for normal equations, `dtpqrt` for QR), in the same run, batch by
batch in turn. Memory is the largest resident size of a process that learns from N points.

    python benchmarks/stream.py            # about ten minutes
    python benchmarks/stream.py --quick    # rates only
"""

from __future__ import annotations

import json
import resource
import subprocess
import sys
import time

import numpy as np
from common import console, save, table

import kernop as ko
from kernop.basics.linalg import add_rows, add_square
from kernop.collocation.ansatz import Ansatz
from kernop.collocation.batches import stream
from kernop.collocation.rows import StreamedRows
from kernop.collocation.units import frame_of
from kernop.methods import Setting
from kernop.paper.poisson3d import BATCH, CENTERS, PROBLEM, envelope

BATCHES = 12


def method(solver: str) -> ko.Subspace:
    return ko.Subspace(centers=CENTERS, batch=BATCH, envelope=envelope, solver=solver)  # type: ignore[arg-type]


def rates(solver: str) -> dict[str, float]:
    """Median seconds of a batch, with and without making its rows."""
    source = stream(PROBLEM, {"f": BATCHES * BATCH}, "uniform", 0, BATCH)
    rows = StreamedRows(source, Ansatz(envelope=envelope))
    setting = Setting(rows=rows, frame=frame_of(PROBLEM), kernel=ko.Gaussian(0.2), weights=(1.0,))
    regression = method(solver).regression(setting, rows)
    accumulator = regression.accumulator()
    ready = np.array(regression.design(rows[0]), order="C" if solver == "normal" else "F")
    matrix = np.zeros((CENTERS, CENTERS), order="F")
    seconds: dict[str, list[float]] = {"stream": [], "bare": []}
    for batch in source:
        started = time.perf_counter()
        regression.add(accumulator, rows.at(batch))
        seconds["stream"].append(time.perf_counter() - started)
        again = ready.copy(order="K")
        started = time.perf_counter()
        (add_square if solver == "normal" else add_rows)(matrix, again)
        seconds["bare"].append(time.perf_counter() - started)
    streamed, bare = (float(np.median(times[2:])) for times in seconds.values())
    return {"rows per second": BATCH / streamed, "bare": BATCH / bare, "part of bare": bare / streamed}


def learn(solver: str, n: int) -> None:
    """In a process of its own: learn from n points, print the seconds and the largest resident size."""
    started = time.perf_counter()
    ko.learn(PROBLEM, kernel=ko.Gaussian(0.2), points={"f": n}, sampling="uniform", method=method(solver))
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
    print(json.dumps({"seconds": time.perf_counter() - started, "peak": peak}))


def memory(solver: str, n: int) -> dict[str, float]:
    done = subprocess.run([sys.executable, __file__, "--learn", solver, str(n)], capture_output=True, text=True)
    if done.returncode:
        raise RuntimeError(done.stderr)
    return json.loads(done.stdout.splitlines()[-1])


def main() -> None:
    solvers = {"normal": "normal equations (dsyrk)", "qr": "QR (dtpqrt)"}
    found = {name: rates(solver) for solver, name in solvers.items()}
    table(
        f"Streaming, L = {CENTERS}, {BATCH} rows at a time, 3-D with an envelope",
        ["", "rows per second", "bare", "part of bare"],
        [
            [name, f"{r['rows per second']:.0f}", f"{r['bare']:.0f}", f"{r['part of bare']:.2f}"]
            for name, r in found.items()
        ],
    )
    peaks: dict[str, dict[str, float]] = {}
    if "--quick" not in sys.argv:
        for solver, name in solvers.items():
            for n in (30_000, 100_000, 300_000):
                peaks[f"{name}, N = {n}"] = memory(solver, n)
        rows = [[name, f"{p['seconds']:.0f}", f"{p['peak'] / 1e9:.2f}"] for name, p in peaks.items()]
        table("Learning in a process of its own", ["", "seconds", "peak memory, GB"], rows)
    console.print("Resident size includes Python, JAX and its compiler.")
    save("stream", {"rates": found, "memory": peaks})


if __name__ == "__main__":
    if "--learn" in sys.argv:
        learn(sys.argv[-2], int(sys.argv[-1]))
    else:
        main()

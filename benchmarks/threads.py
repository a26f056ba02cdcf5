"""What the threads of BLAS gain: calls with as many as are installed, and with one, each in a process of its own.

Wall time, medians, by turns: a task here, then there. Ratios above 1 say that threads lose. NumPy and SciPy have a BLAS
each, whose threads wait by spinning; see `kernop.basics.linalg.threads`.
"""

from __future__ import annotations

import os
import subprocess
import sys
import time
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
from common import console, save, table

#: Rounds, and the seconds that a task is repeated for in each of them.
ROUNDS, ENOUGH = 3, 0.5
PLACES = np.random.default_rng(0).random((3721, 2))


def tasks() -> dict[str, Callable[[], Any]]:
    """What is timed; operators are learned when a task of theirs is first called."""
    import jax.numpy as jnp

    import kernop as ko

    square, plate = ko.Box([0, 0], [1, 1]), ko.Polygon([(-1, -1), (1, -1), (1, 0), (0, 0), (0, 1), (-1, 1)])
    wavy = lambda x: 1.5 + jnp.sin(7.0 * x[..., 0] + 1.0) * jnp.cos(5.0 * x[..., 1])
    darcy = ko.Problem(
        ko.Equation(lambda u: -ko.div(wavy * ko.grad(u)), on=square, name="f"),
        ko.Dirichlet(on=square.boundary, name="g"),
    )
    corner = ko.Problem(ko.Equation(lambda u: -ko.laplacian(u), on=plate), ko.Dirichlet(on=plate.boundary))
    learns: dict[str, Callable[[], ko.SolutionOperator]] = {
        "learn(problem)": lambda: ko.learn(darcy),
        "Subspace(1500)": lambda: ko.learn(darcy, method=ko.Subspace(1500)),
        "Full(), 2000 points": lambda: ko.learn(
            darcy, method=ko.Full(), kernel=ko.Gaussian(1.0), points=2000, regularization=1e-5
        ),
        "Partition(cells=2, degree=17)": lambda: ko.learn(darcy, method=ko.Partition(cells=2, degree=17, levels=0)),
        "Partition(cells=6, degree=19)": lambda: ko.learn(darcy, method=ko.Partition(cells=6, degree=19, levels=0)),
        "the L-shape, learn(problem)": lambda: ko.learn(corner),
    }
    found: dict[str, Callable[[], Any]] = {}
    for name, learn in learns.items():
        found[name] = learn
        if name in ("learn(problem)", "Partition(cells=6, degree=19)"):
            found |= {f"  {what}  ({name})": job for what, job in uses(learn).items()}
    return found


def uses(learn: Callable[[], Any]) -> dict[str, Callable[[], Any]]:
    """What is done with an operator: it is learned once, for all of them."""
    kept: dict[str, Any] = {}

    def known() -> dict[str, Any]:
        if not kept:
            T, rng = learn(), np.random.default_rng(1)
            data = [rng.random((len(T.points[name].x), 64)) for name in T.points]
            kept.update(
                T=T, data=data, u=T(*data), one=T(lambda x: np.sin(3.0 * x[..., 0]), 0.0), on=T.on(PLACES[:400])
            )
        return kept

    return {
        "T(f, g)": lambda: known()["T"](*(own[:, 0] for own in known()["data"])),
        "T(f, g), 64 at once": lambda: known()["T"](*known()["data"]),
        "u(x) at 3721 places": lambda: known()["one"](PLACES),
        "u(x) at 3721 places, 64 at once": lambda: known()["u"](PLACES),
        "T.on(x), 400 places": lambda: known()["T"].on(PLACES[:400]),
        "T.on(x)(f, g), 64 at once": lambda: known()["on"](*known()["data"]),
    }


def serve() -> None:
    """In a child: run the task whose number is read, and say how long it took, in the median."""
    warnings.simplefilter("ignore")
    jobs = list(tasks().values())
    jobs[0]()
    print("ready", flush=True)
    for line in sys.stdin:
        job, seconds = jobs[int(line)], list[float]()
        job()
        while sum(seconds) < ENOUGH or len(seconds) < 3:
            started = time.perf_counter()
            job()
            seconds.append(time.perf_counter() - started)
        print(np.median(seconds), flush=True)


def main() -> None:
    installed = {k: v for k, v in os.environ.items() if not k.endswith("_NUM_THREADS")}
    children = [
        subprocess.Popen(
            [sys.executable, __file__, "serve"], env=env, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )
        for env in (installed, {**installed, "OPENBLAS_NUM_THREADS": "1"})
    ]
    for child in children:
        assert child.stdout is not None
        child.stdout.readline()
    rows, figures = list[list[str]](), dict[str, Any]()
    for number, name in enumerate(tasks()):
        found = np.median([[_asked(child, number) for child in children] for _ in range(ROUNDS)], axis=0)
        ratio = found[0] / found[1]
        rows.append([name, f"{1e3 * found[0]:.2f}", f"{1e3 * found[1]:.2f}", f"{ratio:.2f}"])
        figures[f"{number} {name.strip()}"] = {"as installed, s": found[0], "one thread, s": found[1], "ratio": ratio}
        console.print(" · ".join(rows[-1]))
    for child in children:
        child.communicate()
    table("Threads of BLAS as installed, and one", ["", "as installed, ms", "one thread, ms", "ratio"], rows)
    save("threads", figures)


def _asked(child: subprocess.Popen[str], number: int) -> float:
    assert child.stdin is not None
    assert child.stdout is not None
    child.stdin.write(f"{number}\n")
    child.stdin.flush()
    return float(child.stdout.readline())


if __name__ == "__main__":
    serve() if sys.argv[1:] == ["serve"] else main()

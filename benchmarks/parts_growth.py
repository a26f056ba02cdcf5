"""How operators made of parts grow, how their leaves are factorised best, and what workers bring: see parts.py."""

from __future__ import annotations

import resource
import time
from collections.abc import Callable, Mapping
from dataclasses import fields, is_dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from common import interleaved, once, resident, save, table
from parts_problems import CLOCK, PLACES, RNG, darcy, timed, wavy

import kernop as ko
from kernop.basics import shelf
from kernop.basics.errors import MemoryLimitError

#: Cells along a side, and the degree of their polynomials, for growth.
GROWTH, SMALL = (3, 10, 32, 56, 100), 9


def growth() -> None:
    """Time and memory against the number of parts, over three decades."""
    rows, figures = list[list[str]](), dict[str, Any]()
    for name, coefficient in (("all different", wavy), ("all alike", lambda x: 1.0)):
        problem = darcy(coefficient)
        ko.learn(problem, method=ko.Partition(cells=2, degree=SMALL, levels=0))
        found = [measured(problem, cells, SMALL) for cells in GROWTH]
        for own in found:
            rows.append([name, *(f"{value:.3g}" for value in own.values())])
        parts = np.log([own["parts"] for own in found])
        slopes = {key: float(np.polyfit(parts[1:], np.log([o[key] for o in found[1:]]), 1)[0]) for key in found[0]}
        rows.append([f"{name}: exponent", *(f"{value:.2f}" for value in slopes.values())])
        figures[name] = {"sizes": found, "exponents": slopes}
    table(f"Growth, degree {SMALL}; exponents from 10 × 10 cells on", ["", *figures["all alike"]["sizes"][0]], rows)
    save("parts_growth", figures)


def measured(problem: ko.Problem, cells: int, degree: int, places: np.ndarray = PLACES[:1000]) -> dict[str, float]:
    """What so many parts cost: to learn, to keep, to apply, and to evaluate at 1000 places."""
    learn, T = timed(lambda: ko.learn(problem, method=ko.Partition(cells=cells, degree=degree, levels=0)))
    kept: dict[int, np.ndarray] = {}
    collect((T.factorisation, T.functionals, T.points), kept)
    f, g = (np.ones(len(T.points[name].x)) for name in ("f", "g"))
    apply = min(once(lambda: T(f, g), CLOCK) for _ in range(3))
    u = T(f, g)
    evaluate = min(once(lambda: u(places), CLOCK) for _ in range(3))
    space = T.factorisation.expansion
    return {
        "parts": float(len(T.factorisation.locals)),
        "functions": float(len(space)),
        "learn, s": learn,
        "arrays, MB": sum(own.nbytes for own in kept.values()) / 1e6,
        "process, MB": resident() / 1e6,
        "at most, MB": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e3,
        "T(f, g), s": apply,
        "u at 1000 places, s": evaluate,
    }


def collect(value: Any, found: dict[int, np.ndarray]) -> None:
    """All arrays that a value holds, each once; of views the arrays that they keep alive."""
    if isinstance(value, np.ndarray):
        whole = value if value.base is None or not isinstance(value.base, np.ndarray) else value.base
        found[id(whole)] = whole
    elif isinstance(value, tuple | list):
        for own in value:
            collect(own, found)
    elif isinstance(value, Mapping):
        collect(list(value.values()), found)
    elif is_dataclass(value):
        collect([getattr(value, own.name) for own in fields(value)], found)


def million() -> None:
    """A million functions: 10 000 parts of degree 13 in the plane, no two of them alike."""
    many("a million functions in the plane", "parts_million", darcy(wavy), 100, 13, PLACES[:1000])


def million_space() -> None:
    """A million functions: 4096 parts of degree 10 in a cube, −Δu = f."""
    box = ko.Box([0, 0, 0], [1, 1, 1])
    problem = ko.Problem(
        ko.Equation(lambda u: -ko.laplacian(u), on=box, name="f"), ko.Dirichlet(on=box.boundary, name="g")
    )
    many("a million functions in a cube", "parts_million_space", problem, 16, 10, RNG.random((1000, 3)))


def many(title: str, name: str, problem: ko.Problem, cells: int, degree: int, places: np.ndarray) -> None:
    """What many parts cost, as a table."""
    found = measured(problem, cells, degree, places)
    table(title, list(found), [[f"{value:.3g}" for value in found.values()]])
    save(name, found)


def leaves() -> None:
    """Ways to factorise many leaves of one size: 548 rows, 210 functions."""
    import jax
    from scipy.linalg import blas, lapack

    from kernop.basics.linalg import orthonormal

    count, rows, m = 32, 548, 210
    stack = RNG.normal(size=(count, rows, m))
    columns = [np.asfortranarray(own) for own in stack]

    def compact(a: np.ndarray) -> None:
        packed, t, _ = lapack.dgeqrt(64, a)
        lapack.dgemqrt(packed, t, np.eye(rows, m, order="F"), overwrite_c=1)

    def cholesky_twice(a: np.ndarray) -> None:
        for _ in range(2):
            upper, _ = lapack.dpotrf(a.T @ a, lower=0, overwrite_a=1)
            a = blas.dtrsm(1.0, upper, a, side=1, lower=0)

    with jax.enable_x64(True):
        batch, batched = jax.numpy.asarray(stack), jax.jit(jax.numpy.linalg.qr)
        jobs = {
            "NumPy, one by one": lambda: [np.linalg.qr(own) for own in stack],
            "NumPy, stacked": lambda: np.linalg.qr(stack),
            "XLA, batched": lambda: jax.block_until_ready(batched(batch)),
            "dgeqrf and dorgqr in Fortran's order": lambda: [orthonormal(own.copy(order="F")) for own in columns],
            "dgeqrt and dgemqrt": lambda: [compact(own) for own in columns],
            "Cholesky QR, twice": lambda: [cholesky_twice(own) for own in columns],
        }
        seconds = interleaved(jobs, rounds=5, clock=CLOCK)
    found = {name: 1e3 * value / count for name, value in seconds.items()}
    table("Q and R of a leaf, processor time", ["", "ms"], [[name, f"{value:.2f}"] for name, value in found.items()])
    save("parts_leaves", found)


def stiff() -> ko.Problem:
    """Plane elasticity with a stiffness that is different on every part."""
    square = ko.Box([0, 0], [1, 1])
    stress = lambda u: wavy * (2.0 * ko.sym(ko.grad(u)) + ko.div(u) * ko.identity(2))
    return ko.Problem(
        ko.Equation(lambda u: -ko.div(stress(u)), on=square, name="f"),
        ko.Dirichlet(on=square.boundary, name="g"),
        unknowns={"u": 2},
    )


def workers() -> None:
    """One Dask worker and two, for parts that take little work each, and for some that take more and more."""
    cases = {
        "Darcy, 576 parts of degree 19": (darcy(wavy), ko.Partition(cells=24, degree=19, levels=0)),
        "elasticity, 144 parts of degree 17": (stiff(), ko.Partition(cells=12, degree=17, levels=0)),
        "elasticity, 144 parts of degree 21": (stiff(), ko.Partition(cells=12, degree=21, levels=0)),
    }
    found = {name: beside(*case) for name, case in cases.items()}
    rows = [[name, *(f"{value:.2f}" for value in own[:-1]), "yes" if own[-1] else "no"] for name, own in found.items()]
    headings = [
        "",
        "one worker, s",
        "two, s",
        "times faster",
        "by the quickest",
        "at home, s",
        "on two workers, s",
        "at most",
        "same bits",
    ]
    table("Parts on workers; processor time at home and on workers", headings, rows)
    save("parts_workers", {"headings": headings[1:], **found})


def beside(problem: ko.Problem, method: ko.Partition, rounds: int = 5) -> tuple[float, ...]:
    """One worker and two, of one thread each, in turn: wall time, its ratio, that of the quickest, processor time, the
    ratio by that; bits.

    What Dask takes when there is nothing to do is measured too, and taken off the processor time: on a busy machine,
    where all takes long, it would count for much. Two cores cannot be faster than (h + w) / (h + w/2) times one worker,
    with h the time at home and w that of workers, because home waits for workers when all is sent. A learn comes right
    after another, whose memory it takes: a virtual machine may give back what is free, and pages that are asked for
    again cost up to ten times what it takes to write them.
    """
    from distributed import Client
    from workers import workers as started

    for _ in range(SMALL_LEARNS):
        ko.learn(problem, method=ko.Partition(cells=1, degree=9, levels=0))
    here = ko.learn(problem, method=method)
    found: dict[int, list[Spent]] = {1: [], 2: []}
    same = True
    for _ in range(rounds):
        for number, spent in found.items():
            with started(number) as cluster, Client(cluster) as client:
                idle, _ = spending(client, partial(time.sleep, 1.0))
                for _ in range(WARM_LEARNS):
                    ko.learn(problem, method=method, client=client)
                own, there = spending(client, partial(ko.learn, problem, method=method, client=client), idle)
                spent.append(own)
                pairs = zip(here.factorisation.locals, there.factorisation.locals, strict=True)
                same &= all(np.array_equal(one.q, other.q) for one, other in pairs)
    one, two = (np.median(np.array(own), axis=0) for own in found.values())
    least = [min(wall for wall, _, _ in own) for own in found.values()]
    _, home, away = two
    most = (home + away) / (home + away / 2)
    return (*map(float, (one[0], two[0], one[0] / two[0], least[0] / least[1], home, away, most)), same)


#: Learns before the one that counts; and small ones before all, after which coefficients are compiled.
WARM_LEARNS, SMALL_LEARNS = 2, 20
#: Seconds of wall time, and of processor time at home and on workers.
Spent = tuple[float, float, float]


def spending(client: Any, job: Callable[[], Any], idle: Spent = (1.0, 0.0, 0.0)) -> tuple[Spent, Any]:
    """What a job takes, without what is spent in the same time when there is none; and what it gives."""
    before, begun, own = sum(client.run(CLOCK).values()), time.perf_counter(), CLOCK()
    found = job()
    wall, home = time.perf_counter() - begun, CLOCK() - own
    away = sum(client.run(CLOCK).values()) - before
    return (wall, home - wall / idle[0] * idle[1], away - wall / idle[0] * idle[2]), found


def disk() -> None:
    """The same parts in memory and on disk: seconds of the processor, and memory that only this process has."""
    problem, method = darcy(wavy), ko.Partition(cells=24, degree=19, levels=0)
    ko.learn(problem, method=ko.Partition(cells=2, degree=19, levels=0))
    enough, found, values = shelf.check_memory, dict[str, list[float]](), list[np.ndarray]()
    for name, check in (("on disk", _too_little), ("in memory", enough)):
        shelf.check_memory = check
        before = anonymous()
        learn, T = timed(lambda: ko.learn(problem, method=method))
        f, g = (np.ones(len(T.points[name].x)) for name in ("f", "g"))
        values.append(T(f, g)(PLACES[:1000]))
        apply = min(once(lambda T=T, f=f, g=g: T(f, g), CLOCK) for _ in range(3))
        found[name] = [learn, apply, (anonymous() - before) / 1e6]
        del T
    same = "yes" if np.array_equal(*values) else "no"
    rows = [[name, *(f"{value:.3g}" for value in own), same] for name, own in found.items()]
    table("576 parts of degree 19", ["", "learn, s", "T(f, g), s", "memory, MB", "the same bits"], rows)
    save("parts_disk", found)


def _too_little(name: str, doubles: int, what: str, remedy: str) -> None:
    if doubles > 10**6:
        raise MemoryLimitError(what)


def anonymous() -> float:
    """Bytes of this process that no file stands for."""
    lines = Path("/proc/self/status").read_text().splitlines()
    return 1024.0 * next(int(line.split()[1]) for line in lines if line.startswith("RssAnon"))


def leaves_like(number: int) -> list[np.ndarray]:
    """So much as the parts of a package have."""
    return [np.full((289, 210), float(number)) for _ in range(72)]


def sent() -> None:
    """Parts that come home from workers of other machines, asked themselves or through the scheduler."""
    from distributed import Client
    from workers import workers as started

    with started(1) as cluster, Client(cluster) as client:
        found = [min(fetching(client, direct) for _ in range(3)) for direct in (True, False)]
    row = [f"{value:.2f}" for value in found]
    table("420 MB home: processor time there, s", ["from the workers", "through the scheduler"], [row])
    save("parts_sent", {"from the workers, s": found[0], "through the scheduler, s": found[1]})


def fetching(client: Any, direct: bool) -> float:
    """Processor time at home while 420 MB come home."""
    from distributed import wait

    futures = [client.submit(leaves_like, k, pure=False) for k in range(12)]
    wait(futures)
    begun = CLOCK()
    for future in futures:
        client.gather(future, direct=direct)
    return CLOCK() - begun


TABLES = {
    "growth": growth,
    "million": million,
    "million_space": million_space,
    "leaves": leaves,
    "workers": workers,
    "sent": sent,
    "disk": disk,
}

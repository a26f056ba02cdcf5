"""Passes over a stream, evaluations, and many tasks of one kind, spread over the workers of a Dask client.

The chunks of a pass are computed on workers, and merged by the same tree as in this process (`home`). So the result
does not depend on how many workers there are, nor on which of them did what. A worker that dies takes its chunks with
it, and they are computed again elsewhere.
"""

from __future__ import annotations

import pickle
import warnings
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import CancelledError
from contextlib import contextmanager
from dataclasses import replace
from importlib import import_module
from itertools import cycle
from math import inf
from typing import Any

import numpy as np

from kernop.basics.errors import (
    ArgumentTypeError,
    ClusterError,
    FloatArray,
    KernopError,
    MissingExtraError,
    describe,
    fail,
)
from kernop.basics.linalg import one_thread
from kernop.basics.progress import Tick
from kernop.basics.shelf import Address, Parcel, Shelf, opened, put_there
from kernop.collocation.batches import batch_digest
from kernop.collocation.data import places
from kernop.geometry import Points
from kernop.language.ops import itself
from kernop.language.unknowns import Operator
from kernop.learning.streaming.checkpoint import CheckpointFile
from kernop.learning.streaming.home import Home, chunks, chunks_of, merged, seen
from kernop.learning.streaming.sending import check_workers, pickled, unpickled
from kernop.methods.accumulators import Accumulator
from kernop.methods.parts.crew import threads
from kernop.methods.regression import Regression
from kernop.operators.solution import Solution

#: Points that a worker evaluates at a time.
POINTS_AT_A_TIME = 20_000
#: How addresses of workers on this machine begin.
NEAR = ("tcp://127.0.0.1:", "tcp://localhost:", "inproc:")
#: After so many seconds without a result it is asked whether the workers do anything at all.
PATIENCE = 15.0


class Job:
    """A task on the workers: the future of its result, and how it is submitted again should the scheduler lose it.

    What works on a chunk tells which.
    """

    def __init__(self, submit: Callable[..., Any], *needed: Job, chunk: Any = None) -> None:
        self._submit, self._needed, self.chunk = submit, needed, chunk
        self.begin()

    def begin(self) -> None:
        """Submit it. What it needs has begun before."""
        self.future = self._submit(*(task.future for task in self._needed))

    def let_go(self) -> None:
        """It is done: what it needed can leave the memory of the workers."""
        self._needed = ()


class Workers:
    """Passes, and evaluations, on the workers of a Dask client."""

    def __init__(self, client: Any) -> None:
        self._client = check_client(client)

    def accumulate(
        self, regression: Regression, tick: Tick | None = None, file: CheckpointFile | None = None
    ) -> Accumulator:
        """What is kept of all rows. With a file for checkpoints it comes home chunk by chunk, and is merged here."""
        with self.connected():
            there = self.send(regression)
            if file is not None:
                return self._brought_home(there, Home(regression, file), tick)
            parts = self.parts(_accumulated, there, chunks_of(regression))
            mergers = self._merged(parts)
            tasks, root = [there, *parts, *mergers], [*parts, *mergers][-1]
            del there, parts, mergers  # each is let go of when it is completed
            for _ in self._completed(tasks, tick):
                pass
            return self._fetched(root)

    def _brought_home(self, there: Job, home: Home, tick: Tick | None) -> Accumulator:
        """The same, to the same bits. Of chunks that are at home already, the points are read and compared."""
        known = home.known()
        found = self.results(there, self.parts(_seen, there, known))
        home.check(sum(rows for rows, _ in found), sum(digest for _, digest in found))
        rest = [chunk for chunk in home.chunks if chunk not in known]
        for task in self._completed([there, *self.parts(_accumulated, there, rest)], tick, len(known)):
            if task.chunk is not None:
                home.put(task.chunk, self._fetched(task))
                home.offer()
        return home.root()

    def moments(self, regression: Regression, c: FloatArray | None) -> FloatArray:
        """`Regression.moments` over all batches."""
        with self.connected():
            there, cut = self.send((regression, c)), chunks(regression.rows.stream.number or 0)
            return np.sum(self.results(there, self.parts(_moments, there, cut)), axis=0)

    @contextmanager
    def connected(self) -> Generator[None]:
        """Within, the cluster is there, has our versions, and says in one error what became of it."""
        with _cluster_errors(check_client(self._client)):
            check_workers(self._client)
            yield

    def send(self, value: object) -> Job:
        """A value on the workers. As the result of a task it comes back when the worker that holds it is lost."""
        return Job(lambda: self.submit(unpickled, pickled(value)))

    def results(self, there: Job, parts: list[Job], kept: Callable[[Any], Any] = lambda value: value) -> list[Any]:
        """What is kept of what all parts of some work give, in their order.

        Each comes home, and is let go of, as it is completed.
        """
        numbers, found = {id(part): k for k, part in enumerate(parts)}, [None] * len(parts)
        for task in self._completed([there, *parts]):
            if task is not there:
                found[numbers[id(task)]] = kept(self._fetched(task))
                task.future = None
        return found

    def _fetched(self, task: Job) -> Any:
        """The result of a task that is done. Workers of this machine give it themselves.

        From others it comes through the scheduler, which they can reach for certain, but which sends every byte again.
        """
        near = all(address.startswith(NEAR) for address in self._client.nthreads())
        return self._client.gather(task.future, direct=True if near else None)

    def submit(self, function: Callable[..., object], *arguments: object, **where: object) -> Any:
        """A task on some worker, as the future of its result."""
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", "Sending large graph")
            return self._client.submit(function, *arguments, pure=False, **where)

    def parts(self, function: Callable[..., object], there: Job, cut: Sequence[Any]) -> list[Job]:
        """A function of every chunk. Neighbours prefer the same worker, so that most mergers need no transfer."""

        def part(chunk: Any, worker: str) -> Job:
            where = {"workers": [worker], "allow_other_workers": True}
            return Job(lambda there: self.submit(function, there, chunk, **where), there, chunk=chunk)

        return list(map(part, cut, preferred(self._client.nthreads(), len(cut))))

    def _merged(self, parts: list[Job]) -> list[Job]:
        """The mergers of a binary tree over the parts, the last of which is that of all."""

        def merger(one: Job, other: Job) -> Job:
            # Before any chunk that has not begun: what is merged can leave the memory.
            return Job(lambda *pair: self.submit(merged, *pair, priority=1), one, other)

        mergers: list[Job] = []
        while len(parts) > 1:
            pairs = [parts[i : i + 2] for i in range(0, len(parts), 2)]
            parts = [merger(*pair) if len(pair) == 2 else pair[0] for pair in pairs]
            mergers += [part for part, pair in zip(parts, pairs, strict=True) if len(pair) == 2]
        return mergers

    def _completed(self, tasks: list[Job], tick: Tick | None = None, done: int = 0) -> Iterator[Job]:
        """The tasks as they are completed, those first that others need. The list is emptied.

        If none is completed while no worker does anything, all that are missing are submitted again. (The scheduler of
        distributed 2026.8 loses a task now and then: all workers are idle, and it stays pending.)
        """
        wait, patience = import_module("distributed").wait, PATIENCE
        waiting, total = tasks.copy(), done + sum(task.chunk is not None for task in tasks)
        tasks.clear()
        while waiting:
            try:
                wait([task.future for task in waiting], timeout=patience, return_when="FIRST_COMPLETED")
            except TimeoutError:
                if not self._client.call_stack():
                    patience *= 2.0  # it may have been a transfer
                    for task in waiting:
                        task.begin()
                continue
            ready = [task for task in waiting if task.future.status in ("finished", "error", "cancelled")]
            waiting = [task for task in waiting if task not in ready]
            for task in ready:
                if task.future.status != "finished":
                    task.future.result()  # raises what went wrong there, without waiting for the others
                task.let_go()
                yield task
                if task.chunk is not None:
                    done += 1
                    if tick is not None:
                        tick(done / total, f"{done} of {total} chunks")
            ready = task = None  # their L × L numbers can leave the memory


def evaluate(client: Any, u: Solution, x: Any, op: Operator = itself) -> FloatArray:
    """(P u)(x) at very many points x (M, d), a part on each worker of a Dask client: (M,), or (M, B)."""
    workers, points = Workers(client), places(u.problem, x, "raise")
    rows = np.split(np.arange(len(points)), range(POINTS_AT_A_TIME, len(points), POINTS_AT_A_TIME))
    with workers.connected():
        # The function alone: workers have no use for the operator that it came from.
        there = workers.send((replace(u, learned=None, data=None, inputs=None), op))
        return np.concatenate(workers.results(there, workers.parts(_evaluated, there, [points[own] for own in rows])))


def check_client(client: Any) -> Any:
    """A Dask client that is connected and has workers."""
    try:
        distributed = import_module("distributed")
    except ImportError as error:
        raise fail(MissingExtraError, "client", describe(client), "install kernop[dask]") from error
    if not isinstance(client, distributed.Client):
        raise fail(ArgumentTypeError, "client", describe(client), "give a dask.distributed.Client")
    if client.status != "running":
        raise fail(ClusterError, "client", f"one that is {client.status}", "connect a new one")
    with _cluster_errors(client):
        if not client.nthreads():
            raise fail(ClusterError, "client", "one without workers", "start workers, or client.wait_for_workers(1)")
    return client


def preferred(threads: Mapping[str, int], count: int) -> list[str]:
    """A worker for each of ``count`` chunks: as many as it has threads, neighbours on the same one."""
    seats = [address for address, number in sorted(threads.items()) for _ in range(number)]
    return [seats[i * len(seats) // count] for i in range(count)]


@contextmanager
def _cluster_errors(client: Any) -> Generator[None]:
    """What Dask raises when it loses its workers, or the scheduler, as one clear error."""
    scheduler = import_module("distributed.scheduler")
    lost = (scheduler.CommClosedError, scheduler.KilledWorker, scheduler.NoValidWorkerError)
    try:
        yield
    except KernopError:
        raise
    except Exception as error:
        if client.status == "running" and not isinstance(error, (*lost, CancelledError, TimeoutError)):
            raise  # from a function of the user
        why = f"{type(error).__name__}: {error}".partition("\n")[0]
        remedy = "connect a new client and learn again; with a checkpoint it goes on where it was"
        raise fail(ClusterError, "client", f"one that lost its cluster ({why})", remedy) from error


def _accumulated(regression: Regression, batches: range) -> Accumulator:
    """What is kept of a chunk."""
    # A worker runs as many tasks at a time as it has threads: each of them has one.
    with one_thread:
        accumulator = regression.accumulator()
        for k in batches:
            batch = regression.rows.stream[k]
            regression.add(accumulator, regression.rows.at(batch, k), batch_digest(k, batch))
    accumulator.room(0)  # lets the last batch go
    return accumulator


def _seen(regression: Regression, batches: range) -> tuple[int, int]:
    return seen(regression, ((k, regression.rows.stream[k]) for k in batches))


def _moments(work: tuple[Regression, FloatArray | None], batches: range) -> FloatArray:
    regression, c = work
    with one_thread:
        return regression.moments(c, batches)


def _evaluated(work: tuple[Solution, Operator], points: Points) -> FloatArray:
    u, op = work
    with one_thread:
        return u.apply(op, points, outside="extrapolate")


#: Fewer items are not worth the way.
LEAST = 2
#: Shelves for workers: a process can have only so many files.
SHELVES = 32


class OnWorkers:
    """A job for each of many items, which hold no code, on workers.

    What an item gives depends on it alone, and is computed with one thread of BLAS: so it has the same bits on any
    worker, and here. A worker that dies takes its items with it, and they are computed again elsewhere. Workers of this
    machine put what they find on shelves of this process; from others it is sent.
    """

    def __init__(self, client: Any) -> None:
        self._client, self._workers = check_client(client), Workers(client)

    def __call__(
        self,
        job: Callable[[Any], Iterator[Any]],
        items: Sequence[Any],
        numbers: float = inf,
        shelf: Shelf | None = None,
        /,
    ) -> list[list[Any]]:
        """What it yields for each item, in their order."""
        if len(items) < LEAST:
            return threads(job, items, numbers, shelf)
        with self._workers.connected():
            theirs = _shelves(self._client.nthreads(), shelf)
            there = self._workers.send((job, {worker: own.address for worker, own in theirs.items()}))
            tasks = self._workers.parts(_done, there, [pickle.dumps(item, protocol=5) for item in items])
            # What was sent goes to the disk at once, if it does not fit into memory.
            put = (lambda own: own) if shelf is None else shelf.put
            found = self._workers.results(
                there, tasks, lambda values: [own if isinstance(own, Parcel) else put(own) for own in values]
            )
        return opened([*theirs.values()] if shelf is None else [*theirs.values(), shelf], found)


def _shelves(workers: Iterable[str], shelf: Shelf | None) -> dict[str, Shelf]:
    """One for each worker, up to so many, in memory, or on disk as the one at home: one process at a time can write to
    a file, and others wait.
    """
    names = sorted(workers)
    made = [Shelf.in_memory() if shelf is None else Shelf.on_disk() for _ in names[:SHELVES]]
    return {name: own for name, own in zip(names, cycle(made), strict=False) if own is not None}


def _done(work: tuple[Callable[[Any], Iterator[Any]], Mapping[str, Address]], item: bytes) -> list[Any]:
    job, shelves = work
    mine = shelves.get(import_module("distributed").get_worker().address)
    with one_thread:
        return [put_there(mine, own) for own in job(pickle.loads(item))]

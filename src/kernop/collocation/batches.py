"""Points that come in batches: for more of them than a design matrix can hold."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from kernop.basics.checks import called, check_integer, check_kind
from kernop.basics.errors import ArgumentError, ArgumentTypeError, FileError, IntArray, ShapeError, describe, fail
from kernop.basics.mapped import BRING_BACK, Held, Mapped
from kernop.collocation.sampling import sample
from kernop.collocation.stream import Batch, Stream, fingerprint
from kernop.geometry import Points
from kernop.language.problem import Problem

#: More batches than anyone waits for.
MOST_BATCHES = 10**9


@dataclass(frozen=True, eq=False)
class Batches:
    """Points that are made or read when they are needed, and again when they are needed again.

    Arguments:
        number: how many batches.
        take: maps k, 0 ≤ k < number, to the points of batch k by the name of their condition: `Points`, or arrays
            (n, d). Conditions may be left out. Asked twice for the same k, it gives the same points.
    """

    number: int
    take: Callable[[int], Mapping[str, Any]]

    def __post_init__(self) -> None:
        object.__setattr__(self, "number", check_integer("number", self.number, least=1))
        if self.number > MOST_BATCHES:
            raise fail(ArgumentError, "number", describe(self.number), f"give at most {MOST_BATCHES}: larger batches")
        check_kind("take", self.take, Callable, "give a function of the number of a batch")


def batch_digest(k: int, batch: Batch) -> int:
    """A number of 128 bits by which the points of batch k can be recognised."""
    named = f"{k} {list(batch)}".encode() + fingerprint(batch.values())
    return int.from_bytes(hashlib.blake2b(named, digest_size=16).digest(), "little")


class _Made(Stream):
    """A stream that a user's function makes."""

    def __init__(self, problem: Problem, batches: Batches) -> None:
        super().__init__(problem)
        self.number, self._take = batches.number, batches.take
        self._starts: list[dict[str, int]] = []

    def __getitem__(self, k: int) -> Batch:
        batch = self._adopted(called("take", self._take, k, remedy="give a function of the number of a batch"))
        if not self._unchanged(k, batch.values()):
            got = f"a function that gives other points for batch {k} than it gave before"
            raise fail(ArgumentError, "take", got, "let it give the same points for the same k; seed what is random")
        return batch

    def start(self, k: int) -> dict[str, int]:
        """The points are made once more to be counted, if they have not been yet."""
        starts = self._starts or [dict.fromkeys(self.problem.names, 0)]
        while len(starts) <= k:
            batch = self[len(starts) - 1]
            starts.append({name: count + len(batch.get(name, ())) for name, count in starts[-1].items()})
        self._starts = starts
        return starts[k]


class _Sliced(Stream):
    """Slices of arrays, in memory or on disk; each batch has its part of every condition.

    Arguments:
        size: the number of rows of a batch.
        starts: how many points of each condition come before batch k, (K + 1, conditions), if ``size`` does not tell.
    """

    sliced = True

    def __init__(self, problem: Problem, arrays: dict[str, Any], size: int, starts: IntArray | None = None) -> None:
        super().__init__(problem)
        self._arrays, self._starts = arrays, starts
        #: What is read when its turn comes, and may change in the meantime.
        self._lazy = [name for name, a in arrays.items() if not isinstance(a, Points)]
        self._counts = {name: len(a) if isinstance(a, Points) else a.shape[0] for name, a in arrays.items()}
        # No more parts than points of the largest condition: so none of them is empty.
        parts = min(-(-sum(self._counts.values()) // size), max(self._counts.values()))
        self.number = self._parts = parts if starts is None else len(starts) - 1
        if self._parts > MOST_BATCHES:
            got = f"{sum(self._counts.values())} points, which are {self._parts} batches"
            raise fail(ArgumentError, "points", got, f"give larger batches, at most {MOST_BATCHES} of them")

    def __getitem__(self, k: int) -> Batch:
        first, last = self.start(k), self.start(k + 1)
        if k not in self._seen:
            for name in self._lazy:
                self._arrays[name].check_date()
        batch = {name: self._part(name, slice(first[name], last[name])) for name in first if last[name] > first[name]}
        if self._lazy and not self._unchanged(k, (batch[name] for name in self._lazy if name in batch)):
            sources = " or ".join(self._arrays[name].described for name in self._lazy)
            got = f"{sources}, where batch {k} is not what it was when it was read first"
            raise fail(FileError, "points", got, BRING_BACK)
        return batch

    def _part(self, name: str, rows: slice) -> Points:
        part = self._arrays[name][rows]
        if isinstance(part, Points):
            return part
        return self.problem[name].on.adopt(np.asarray(part), f"points[{name!r}]")

    def start(self, k: int) -> dict[str, int]:
        if self._starts is not None:
            return dict(zip(self._counts, self._starts[k].tolist(), strict=True))
        # The points of an integral are one rule: they come together, in the first batch.
        return {
            name: (count if k > 0 else 0) if self.problem[name].integral else k * count // self._parts
            for name, count in self._counts.items()
        }

    def sizes(self) -> dict[str, int]:
        return self._counts


class _Chain(Stream):
    """The batches of one stream after those of another."""

    def __init__(self, first: Stream, second: Stream) -> None:
        super().__init__(first.problem)
        self._first, self._second, self._middle = first, second, first.number or 0
        self.number = self._middle + (second.number or 0)

    def __getitem__(self, k: int) -> Batch:
        return self._first[k] if k < self._middle else self._second[k - self._middle]

    def start(self, k: int) -> dict[str, int] | None:
        if k < self._middle:
            return self._first.start(k)
        before, own = self._first.start(self._middle), self._second.start(k - self._middle)
        return None if before is None or own is None else {name: n + own.get(name, 0) for name, n in before.items()}


class _Once(Stream):
    """An iterator of batches: it passes once."""

    number = None
    again = False

    def __init__(self, problem: Problem, batches: Iterable[Any]) -> None:
        super().__init__(problem)
        self._rest = iter(batches)
        try:
            first = next(self._rest)
        except StopIteration:
            raise fail(ArgumentError, "points", "an iterator without batches", "give one that yields points") from None
        self._first = self._adopted(first)
        self._used = False

    def __iter__(self) -> Iterator[Batch]:
        if self._used:
            remedy = "give arrays or ko.Batches, which can be read again, or all inputs to learn(inputs=[…])"
            raise fail(ArgumentError, "points", "an iterator that has been used up", remedy)
        self._used = True
        yield self._first
        for given in self._rest:
            yield self._adopted(given)

    def sampled(self) -> list[Batch]:
        return [self._first]

    def start(self, k: int) -> dict[str, int] | None:
        return None


class StreamPoints(Mapping[str, Points]):
    """The points of each condition, by name, brought together when they are asked for."""

    def __init__(self, stream: Stream) -> None:
        self.stream = stream

    def __getitem__(self, name: str) -> Points:
        if name not in self.stream.problem.names:
            raise KeyError(name)
        return self.stream.points(name)

    def __iter__(self) -> Iterator[str]:
        return iter(self.stream.problem.names)

    def __len__(self) -> int:
        return len(self.stream.problem.names)


def stream(problem: Problem, points: Any, scheme: str, seed: int, size: int) -> Stream:
    """Points in batches of ``size`` rows.

    Arguments:
        points: what `sample` takes, also arrays on disk (memory-mapped, zarr: anything with a shape and slices);
            `Batches`; or an iterator of dictionaries from names to points.
    """
    if isinstance(points, Batches):
        return _Made(problem, points)
    if _passes_once(points):
        return _Once(problem, points)
    if not isinstance(points, Mapping):
        return _Sliced(problem, dict(sample(problem, points, scheme, seed)), size)
    arrays = {n: a for n, a in points.items() if getattr(a, "shape", ()) and not isinstance(a, Points)}
    lazy = {name: _lazy(f"points[{name!r}]", a, problem.dim) for name, a in arrays.items()}
    # Stand-ins of one point, so that names and the other values are checked as ever.
    rest = sample(problem, {**points, **{name: a[:1] for name, a in lazy.items()}}, scheme, seed)
    return _Sliced(problem, {**rest, **lazy}, size)


def check_whole(points: object, method: object) -> None:
    """Refuse points that come in batches, for a method that needs all rows at once."""
    if isinstance(points, Batches) or _passes_once(points):
        remedy = "use method=ko.Subspace(batch=2000), or give numbers or arrays"
        raise fail(
            ArgumentTypeError, "points", f"{describe(points)} for {method!r}, which needs all rows at once", remedy
        )


def _passes_once(points: object) -> bool:
    return isinstance(points, Iterator) or hasattr(points, "__next__")


def recorded(problem: Problem, points: Mapping[str, Points], starts: IntArray) -> Stream:
    """A stream as a file holds it: all points, and how many of each condition come before batch k, (K + 1, k)."""
    return _Sliced(problem, dict(points), 1, starts)


def chain(first: Stream, points: Mapping[str, Points], size: int) -> Stream:
    """A stream that can be read again, and goes on with more points, of some or all conditions."""
    return _Chain(first, _Sliced(first.problem, dict(points), size))


def _lazy(name: str, a: Any, dim: int) -> Any:
    """An array whose rows are read, and checked, when their turn comes."""
    flat = len(a.shape) == 1 and dim == 1
    if not flat and (len(a.shape) != 2 or a.shape[1] != dim):
        raise fail(ShapeError, name, describe(a), f"give points as an array of shape (n, {dim})")
    if a.shape[0] == 0:
        raise fail(ShapeError, name, f"an empty array of shape {a.shape}", "give at least one point")
    # What was changed in a copy on write is not in the file.
    on_disk = isinstance(a, np.memmap) and a.filename is not None and a.mode != "c"
    return Mapped(name, a) if on_disk else Held(name, a)

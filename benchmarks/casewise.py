"""Many cases one after the other, each with a limit of time and memory, and a record that a later run goes on from.

A case is worked on in a process of its own, which goes on to the next one, so that what is compiled is shared; it is
ended where a case takes too long or too much memory. What exceeded its limit is told so.
"""

from __future__ import annotations

import argparse
import json
import multiprocessing
import os
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

from rich.console import Console

#: What is found of a case: what JSON can say.
Found = dict[str, Any]
#: The key under which it is told that a case exceeded its limit.
EXCEEDED = "exceeded"
#: How often the memory is looked at, in seconds.
WATCH = 0.2


@dataclass(frozen=True)
class Limits:
    """Of one case: seconds of a processor, gigabytes that are resident, and the file in which findings are kept."""

    seconds: float
    gigabytes: float
    record: Path | None

    def exceeded(self, pid: int, before: float) -> str | None:
        """Which limit a process exceeds that had used so many seconds before, in words."""
        if _processor_seconds(pid) - before > self.seconds:
            return f"{self.seconds:g} s"
        return f"{self.gigabytes:g} GB" if _resident(pid) > 1e9 * self.gigabytes else None


def _processor_seconds(pid: int) -> float:
    """Of all threads of a process; they do not depend on what else the machine does."""
    try:
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return 0.0
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def _resident(pid: int) -> int:
    """The resident size of a process, in bytes."""
    try:
        return int(Path(f"/proc/{pid}/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")
    except OSError:
        return 0


def add_limits(parser: argparse.ArgumentParser, seconds: float = 600.0, gigabytes: float = 5.0) -> None:
    """The options of the limits."""
    parser.add_argument(
        "--seconds", type=float, default=seconds, help=f"of a processor, at most, for a case ({seconds:g})"
    )
    parser.add_argument("--gigabytes", type=float, default=gigabytes, help=f"at most so many for it ({gigabytes:g})")
    parser.add_argument("--record", type=Path, help="a file to keep findings in; cases in it are not run again")


def limits_of(options: argparse.Namespace) -> Limits:
    """What the options say."""
    return Limits(options.seconds, options.gigabytes, options.record)


def casewise(function: Callable[[str], Found], names: Sequence[str], limits: Limits) -> Iterator[tuple[str, Found]]:
    """What a function of a module finds of each name, or {"exceeded": which limit}, in the order of the names."""
    known, progress = _read(limits.record), Console(stderr=True, soft_wrap=True)
    worker = _Worker(function)
    try:
        for name in names:
            if name not in known:
                started = time.perf_counter()
                known[name] = worker.ask(name, limits)
                _write(limits.record, name, known[name])
                progress.print(f"{name}, {time.perf_counter() - started:.1f} s: {known[name]}", highlight=False)
            yield name, known[name]
    finally:
        worker.end()


class _Worker:
    """A process that answers one name after the other, and is started again after it was ended."""

    def __init__(self, function: Callable[[str], Found]) -> None:
        self._function = function
        self._process: Any = None
        self._pipe: Connection | None = None

    def ask(self, name: str, limits: Limits) -> Found:
        if self._process is None:
            context = multiprocessing.get_context("spawn")
            self._pipe, theirs = context.Pipe()
            self._process = context.Process(target=_serve, args=(theirs, self._function), daemon=True)
            self._process.start()
            theirs.close()
            self._pipe.recv()  # it has imported what it needs
        pipe = self._pipe
        assert pipe is not None
        before = _processor_seconds(self._process.pid)
        pipe.send(name)
        try:
            while not pipe.poll(WATCH):
                if (limit := limits.exceeded(self._process.pid, before)) is not None:
                    self.end()
                    return {EXCEEDED: limit}
            return pipe.recv()
        except (EOFError, ConnectionError):
            self.end()
            return {EXCEEDED: "what the process survived"}

    def end(self) -> None:
        if self._process is not None:
            self._process.kill()
            self._process.join()
        self._process = self._pipe = None


def _serve(pipe: Connection, function: Callable[[str], Found]) -> None:
    pipe.send(None)
    while True:
        try:
            name = pipe.recv()
        except EOFError:
            return
        pipe.send(function(name))


def _read(record: Path | None) -> dict[str, Found]:
    if record is None or not record.exists():
        return {}
    return dict(json.loads(line) for line in record.read_text().splitlines())


def _write(record: Path | None, name: str, found: Found) -> None:
    if record is not None:
        record.parent.mkdir(parents=True, exist_ok=True)
        with record.open("a") as file:
            file.write(json.dumps([name, found]) + "\n")

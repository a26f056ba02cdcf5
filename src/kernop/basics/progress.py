"""Stages of long work: timed always, shown as a progress bar when asked for."""

from __future__ import annotations

import time
from collections.abc import Generator
from contextlib import contextmanager
from types import TracebackType
from typing import Protocol

from rich.progress import BarColumn, Progress, TaskID, TextColumn, TimeElapsedColumn, TimeRemainingColumn

from kernop.basics.errors import check_flag


class Tick(Protocol):
    """Is told the part of a stage that is done, and perhaps a word about it, such as a rate."""

    def __call__(self, done: float, note: str = "") -> None: ...


class Stages:
    """Named stages. ``with stages("assemble") as tick: tick(0.5)`` reports that half of the stage is done."""

    def __init__(self, show: bool) -> None:
        columns = (
            TextColumn("{task.description:>10}"),
            BarColumn(),
            TimeElapsedColumn(),
            TimeRemainingColumn(),
            TextColumn("{task.fields[note]}"),
        )
        self._bar = Progress(*columns) if check_flag("progress", show) else None
        self._tasks: dict[str, TaskID] = {}
        self.seconds: dict[str, float] = {}

    def __enter__(self) -> Stages:
        if self._bar is not None:
            self._bar.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._bar is not None:
            self._bar.stop()

    def say(self, text: str) -> None:
        """Print a line above the bar, if it is shown."""
        if self._bar is not None:
            self._bar.console.print(text)

    @contextmanager
    def __call__(self, name: str) -> Generator[Tick]:
        bar = self._bar
        if bar is not None and name not in self._tasks:
            self._tasks[name] = bar.add_task(name, total=1.0, note="")
        task = self._tasks.get(name)
        started = time.perf_counter()

        def tick(done: float, note: str = "") -> None:
            if bar is not None and task is not None:
                bar.update(task, completed=done)
                if note:
                    bar.update(task, note=note)

        yield tick
        tick(1.0)
        self.seconds[name] = self.seconds.get(name, 0.0) + time.perf_counter() - started

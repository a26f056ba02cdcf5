"""Stages of long work: timed always, and shown as a progress bar if they take long, or if that is asked for."""

from __future__ import annotations

import time
from collections.abc import Generator
from contextlib import contextmanager, suppress
from threading import Lock, Timer
from types import TracebackType
from typing import Protocol

from rich.console import Console
from rich.errors import LiveError
from rich.progress import BarColumn, Progress, ProgressColumn, Task, TaskID, TextColumn, TimeElapsedColumn
from rich.text import Text

from kernop.basics.checks import check_flag

#: Seconds after which a bar appears by itself.
PATIENCE = 2.0
#: Below this part of a stage nothing is said of the rest.
BEGUN = 0.02


class Tick(Protocol):
    """Takes the part of a stage that is done, and perhaps a word about it, such as a rate."""

    def __call__(self, done: float, note: str = "") -> None: ...


class Remaining(ProgressColumn):
    """How long the rest of a stage takes, if it goes on as until now."""

    def render(self, task: Task) -> Text:
        """The words of one stage."""
        elapsed, done = task.elapsed or 0.0, task.percentage / 100.0
        if task.finished or done < BEGUN:
            return Text("")
        left = round(elapsed * (1.0 - done) / done)
        return Text(f"{left // 60}:{left % 60:02d} left", style="progress.remaining")


class Stages:
    """Named stages. ``with stages("assemble") as tick: tick(0.5)`` reports that half of the stage is done.

    Arguments:
        show: a bar from the beginning (True), never (False), or after two seconds where somebody looks on (None): on a
            terminal and in a notebook. One bar is shown at a time; stages within others say nothing of their own.
    """

    def __init__(self, show: bool | None) -> None:
        self._wanted = None if show is None else check_flag("progress", show)
        self._bar: Progress | None = None
        self._timer: Timer | None = None
        self._tasks: dict[str, TaskID] = {}
        self.seconds: dict[str, float] = {}

    def __enter__(self) -> Stages:
        if self._wanted is False:
            return self
        console = Console(stderr=self._wanted is None)  # what comes by itself leaves the output of programs alone
        if self._wanted is None and not (console.is_terminal or console.is_jupyter):
            return self
        if not _shown.acquire(blocking=False):
            return self
        self._bar = Progress(
            TextColumn("{task.description:>10}"),
            BarColumn(),
            TimeElapsedColumn(),
            Remaining(),
            TextColumn("{task.fields[note]}"),
            console=console,
            transient=self._wanted is None,
        )
        if self._wanted:
            self._begin()
        else:
            self._timer = Timer(PATIENCE, self._begin)
            self._timer.daemon = True
            self._timer.start()
        return self

    def _begin(self) -> None:
        """Show the bar, unless another program draws on the console."""
        with suppress(LiveError):
            if (bar := self._bar) is not None:
                bar.start()

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._bar is None:
            return
        if self._timer is not None:
            self._timer.cancel()
            self._timer.join()
        self._bar.stop()
        self._bar = None
        _shown.release()

    def say(self, text: str) -> None:
        """Print a line above the bar, if that was asked for; else beside the stage that it is about."""
        if self._bar is not None and self._wanted:
            self._bar.console.print(text)
        elif self._bar is not None and self._tasks:
            self._bar.update(list(self._tasks.values())[-1], note=text)

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


#: Held by the stages that may be shown: two bars would write over each other.
_shown = Lock()

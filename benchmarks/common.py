"""What the benchmarks share: warm, interleaved timing in one process, tables, and JSON."""

from __future__ import annotations

import gc
import json
import os
import threading
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from rich.console import Console
from rich.table import Table

from kernop.environment import environment

console = Console(width=120)
OUT = Path("out/benchmarks")


def interleaved(
    jobs: dict[str, Callable[[], Any]], rounds: int = 5, warm: int = 1, clock: Callable[[], float] = time.perf_counter
) -> dict[str, float]:
    """Median seconds of each job; in every round each job runs once, so that noise hits all alike."""
    for _ in range(warm):
        for job in jobs.values():
            job()
    seconds: dict[str, list[float]] = {name: [] for name in jobs}
    for _ in range(rounds):
        for name, job in jobs.items():
            started = clock()
            job()
            seconds[name].append(clock() - started)
    return {name: float(np.median(times)) for name, times in seconds.items()}


def once(job: Callable[[], Any], clock: Callable[[], float] = time.perf_counter) -> float:
    """Seconds of one call."""
    started = clock()
    job()
    return clock() - started


def resident() -> int:
    """The resident size of this process now, in bytes (Linux)."""
    return int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")


def peak_during(job: Callable[[], Any]) -> int:
    """By how many bytes the resident size rises at most while ``job`` runs; sampled every millisecond."""
    gc.collect()
    before = peak = resident()
    done = threading.Event()

    def watch() -> None:
        nonlocal peak
        while not done.wait(1e-3):
            peak = max(peak, resident())

    watcher = threading.Thread(target=watch)
    watcher.start()
    try:
        result = job()
        peak = max(peak, resident())
        del result
    finally:
        done.set()
        watcher.join()
    return peak - before


def table(title: str, headings: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    """Print a table; all columns but the first are figures."""
    shown = Table(title=title)
    for k, heading in enumerate(headings):
        shown.add_column(heading, justify="right" if k else "left")
    for row in rows:
        shown.add_row(*row)
    console.print(shown)


def save(name: str, figures: dict[str, Any]) -> None:
    """Write the figures with the versions and the machine they were measured on."""
    OUT.mkdir(parents=True, exist_ok=True)
    path = OUT / f"{name}.json"
    path.write_text(json.dumps({"about": environment(), **figures}, indent=2))
    console.print(f"Figures: {path}")

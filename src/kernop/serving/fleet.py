"""Several processes at one address: each has an interpreter of its own, so HTTP and JSON use several cores too."""

from __future__ import annotations

import os
import signal
import socket
import threading
from collections.abc import Callable
from multiprocessing import get_context, parent_process
from multiprocessing.process import BaseProcess

from kernop.basics.checks import check_integer
from kernop.basics.errors import ArgumentError, fail

#: Connections that wait to be taken; seconds between looks at the processes.
WAITING, LOOK = 1024, 0.2


def fleet(job: Callable[[socket.socket], None], workers: int, host: str, port: int) -> None:
    """Run a job in several processes that take connections from one socket, until SIGTERM or SIGINT.

    They are then ended by SIGTERM, and waited for. One that is killed is replaced; one that ends by itself would
    do so again, and ends all.

    Arguments:
        job: what each process does with the socket that listens; a function that can be pickled.
        workers: the number of processes.
    """
    check_integer("workers", workers, least=1)
    try:
        family = socket.AF_INET6 if ":" in host else socket.AF_INET
        listening = socket.create_server((host, port), family=family, backlog=WAITING)
    except OSError as error:
        got = f"{host}:{port}, where nothing can listen ({error})"
        raise fail(ArgumentError, "port", got, "take another") from error
    stop = threading.Event()
    before = {name: signal.signal(name, lambda *_: stop.set()) for name in (signal.SIGTERM, signal.SIGINT)}
    running = [_begun(job, listening) for _ in range(workers)]
    try:
        while not stop.wait(LOOK):
            for k, process in enumerate(running):
                if process.exitcode is not None and process.exitcode >= 0:
                    got = f"a process that ended by itself, with {process.exitcode}"
                    raise fail(ArgumentError, "workers", got, "see its message above, or serve with one")
                if process.exitcode is not None:
                    running[k] = _begun(job, listening)
    finally:
        for process in running:
            process.terminate()
        for process in running:
            process.join()
        listening.close()
        for name, handler in before.items():
            signal.signal(name, handler)


def _begun(job: Callable[[socket.socket], None], listening: socket.socket) -> BaseProcess:
    process = get_context("spawn").Process(target=_work, args=(job, listening))
    process.start()
    return process


def _work(job: Callable[[socket.socket], None], listening: socket.socket) -> None:
    """The job, which ends when the first process does, even if that is killed."""
    first = parent_process()
    assert first is not None

    def watch() -> None:
        first.join()
        os.kill(os.getpid(), signal.SIGTERM)

    threading.Thread(target=watch, daemon=True).start()
    job(listening)

"""Where the numbers are computed: a thread for each core, a queue that is not endless, and a clock."""

from __future__ import annotations

import asyncio
import os
from collections import Counter
from collections.abc import Callable, Generator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from typing import TypeVar

from kernop.serving.refusal import Limits, RefusalError

Result = TypeVar("Result")


def cores() -> int:
    """The number of processors that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


class Threads:
    """Threads that work for the event loop, which stays free to answer others.

    A thread cannot be stopped: work that takes too long is given up by the request, and still counts as busy until it
    ends. So limits on the size of requests are what bounds the time.
    """

    def __init__(self, limits: Limits, threads: int | None = None) -> None:
        self.limits, self.busy, self.clients = limits, 0, Counter[str]()
        self._pool = ThreadPoolExecutor(threads or cores(), thread_name_prefix="kernop")

    async def run(self, job: Callable[..., Result], *arguments: object) -> Result:
        """What a function returns, computed in a thread; refused if there is too much to do, or no time left."""
        if self.busy >= self.limits.queue:
            got = f"a request while {self.busy} others are worked on or wait"
            raise RefusalError(503, "server", got, "come again in a second", {"Retry-After": "1"})
        loop, future = asyncio.get_running_loop(), self._pool.submit(job, *arguments)
        self.busy += 1
        future.add_done_callback(lambda _: None if loop.is_closed() else loop.call_soon_threadsafe(self._done))
        try:
            return await asyncio.wait_for(asyncio.wrap_future(future), self.limits.seconds)
        except TimeoutError as error:
            got = f"a request that was not done after {self.limits.seconds:g} s"
            remedy = "ask for fewer points or inputs, or come again when the server is less busy"
            raise RefusalError(503, "server", got, remedy, {"Retry-After": "5"}) from error

    def _done(self) -> None:
        self.busy -= 1

    @contextmanager
    def client(self, address: str) -> Generator[None]:
        """Count the requests of one client while they last."""
        if self.clients[address] >= self.limits.per_client:
            got = f"a request beside {self.clients[address]} others of the same client"
            raise RefusalError(429, "client", got, "wait for the answers to some of them", {"Retry-After": "1"})
        self.clients[address] += 1
        try:
            yield
        finally:
            self.clients[address] -= 1
            if not self.clients[address]:
                del self.clients[address]

    def close(self) -> None:
        """Finish what is under way, and take no more."""
        self._pool.shutdown(wait=True, cancel_futures=True)

"""Questions that wait are answered together: one product of matrices instead of one for each.

A right-hand side alone reads all of T from memory; sixty-four at once read it once. Nobody waits for company: a
question that finds a free thread goes alone, and those that come while all threads are busy share the next one.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Hashable, Sequence
from threading import Lock
from typing import Generic, TypeVar

from kernop.serving.refusal import RefusalError
from kernop.serving.work import Threads

Question = TypeVar("Question")
Answer = TypeVar("Answer")

#: The most questions that are answered together.
MOST = 64


class Together(Generic[Question, Answer]):
    """Answers questions of the same key in one go, in the threads of the workers.

    Arguments:
        workers: where it is done.
        answers: takes questions of one key to answers, an exception for each that has none.
    """

    def __init__(self, workers: Threads, answers: Callable[[Sequence[Question]], Sequence[Answer | Exception]]) -> None:
        self.workers, self.answers = workers, answers
        self._waiting: dict[Hashable, list[tuple[Question, asyncio.Future[Answer]]]] = {}
        self._lock, self._tasks = Lock(), set[asyncio.Task[None]]()

    async def ask(self, key: Hashable, question: Question) -> Answer:
        """The answer to one question, which may be found beside those to others of the same key."""
        future: asyncio.Future[Answer] = asyncio.get_running_loop().create_future()
        with self._lock:
            count = sum(map(len, self._waiting.values()))
            if count >= self.workers.limits.queue:
                got = f"a request while {count} others wait"
                raise RefusalError(503, "server", got, "come again in a second", {"Retry-After": "1"})
            called = key in self._waiting
            self._waiting.setdefault(key, []).append((question, future))
        if not called:
            self._call(key)
        return await future

    def _call(self, key: Hashable) -> None:
        task = asyncio.get_running_loop().create_task(self._answered(key))
        self._tasks.add(task)  # a task that nobody holds may be forgotten
        task.add_done_callback(self._tasks.discard)

    async def _answered(self, key: Hashable) -> None:
        """Have a thread answer what waits when it begins, and tell those who asked."""
        taken = list[tuple[Question, asyncio.Future[Answer]]]()

        def work() -> Sequence[Answer | Exception]:
            self._take(key, taken)
            return self.answers([question for question, _ in taken])

        try:
            found = await self.workers.run(work)
        except Exception as error:
            self._take(key, taken)
            found = [error] * len(taken)
        for (_, future), own in zip(taken, found, strict=True):
            if future.done():  # whoever asked is gone
                continue
            if isinstance(own, Exception):
                future.set_exception(own)
            else:
                future.set_result(own)
        if key in self._waiting:
            self._call(key)

    def _take(self, key: Hashable, taken: list[tuple[Question, asyncio.Future[Answer]]]) -> None:
        """Move what waits into a list, if that is empty."""
        with self._lock:
            if taken or key not in self._waiting:
                return
            waiting = self._waiting.pop(key)
            taken += waiting[:MOST]
            if waiting[MOST:]:
                self._waiting[key] = waiting[MOST:]

"""Double precision without touching JAX's global configuration.

JAX computes in float32 unless ``jax_enable_x64`` is set. kernop needs float64 and must not change a global setting of
its user, so every piece of JAX code in it runs inside ``with float64():``.

That makes it the one place that all numerical work passes, and so the one where a process is stopped in which JAX would
hang: a child of fork, in which the threads of JAX are gone, and one without room for them.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Generator
from contextlib import AbstractContextManager, contextmanager
from typing import Literal

import jax

from kernop.basics.errors import ArgumentError, ForkError, MemoryLimitError, fail
from kernop.basics.memory import address_space

#: Bytes of address space that JAX takes for its threads when it starts. With less it aborts, or waits for ever.
ROOM_OF_JAX = 1_250_000_000

#: Has JAX begun to work, as far as kernop knows: not yet, in this process, or in one from which this was forked?
_begun: Literal["no", "here", "before a fork"] = "no"


def float64() -> AbstractContextManager[object]:
    """A context in which JAX computes in float64, whatever the global setting is."""
    if _begun != "here":
        _begin()
    return jax.enable_x64(True)


@contextmanager
def eagerly() -> Generator[None]:
    """The same, and what is known is computed now, not when the jit ends in which a user may have called us."""
    with float64(), jax.ensure_compile_time_eval():
        try:
            yield
        except StopIteration as error:  # of a user's operator; a loop around us would take it for its end
            got = "a function that raised StopIteration"
            raise fail(ArgumentError, "op", got, "let it return a value, or catch what next(…) raises in it") from error


def _begin() -> None:
    """Raise where JAX would hang or could not start: after a fork, or with too little memory."""
    global _begun
    if _begun == "before a fork":
        got = "a call in a process that was forked from one in which JAX had begun to work, where it would hang"
        remedy = "start processes by multiprocessing.get_context('spawn'), or fork before kernop or JAX computes"
        raise fail(ForkError, "kernop", got, remedy)
    left = address_space()
    if left is not None and left < ROOM_OF_JAX and not _jax_runs():
        got = f"a limit of the address space that leaves {left / 2**30:.1f} GiB, too little for JAX to start"
        raise fail(MemoryLimitError, "kernop", got, f"leave {ROOM_OF_JAX / 2**30:.1f} GiB (ulimit -v)")
    _begun = "here"


def _jax_runs() -> bool:
    """Has JAX been used in this process, by kernop or by anyone? False where this JAX does not tell."""
    asked = getattr(sys.modules.get("jax._src.xla_bridge"), "backends_are_initialized", None)
    return callable(asked) and bool(asked())


def _after_fork() -> None:
    global _begun
    if _begun == "here" or _jax_runs():
        _begun = "before a fork"


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_after_fork)

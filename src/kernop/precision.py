"""Double precision without touching JAX's global configuration.

JAX computes in float32 unless ``jax_enable_x64`` is set. kernop needs float64 and must not change a global setting of
its user, so every piece of JAX code in it runs inside ``with float64():``.
"""

from __future__ import annotations

from collections.abc import Generator
from contextlib import AbstractContextManager, contextmanager
from typing import Any

import jax


def float64() -> AbstractContextManager[Any]:
    """A context in which JAX computes in float64, whatever the global setting is."""
    return jax.enable_x64(True)


@contextmanager
def eagerly() -> Generator[None]:
    """The same, and what is known is computed now, not when the jit ends in which a user may have called us."""
    with float64(), jax.ensure_compile_time_eval():
        yield

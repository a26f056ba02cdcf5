"""The versions of what matters to the numbers, and the time of day: what a file records of how it was made."""

from __future__ import annotations

import platform
import time

import jax
import numpy as np
import scipy

VERSION = "0.1.0"


def now() -> str:
    """The date and the time of day, in UTC."""
    return time.strftime("%Y-%m-%d %H:%M:%S UTC", time.gmtime())


def versions() -> dict[str, str]:
    """The versions of kernop, Python and the packages that compute, by name."""
    packages = {"numpy": np.__version__, "scipy": scipy.__version__, "jax": jax.__version__}
    return {"kernop": VERSION, "python": platform.python_version(), **packages}

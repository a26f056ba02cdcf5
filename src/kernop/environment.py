"""What a figure was measured with: versions, processors, memory, BLAS, devices."""

from __future__ import annotations

import os
import platform
from importlib.metadata import PackageNotFoundError, version

import jax
from threadpoolctl import threadpool_info

from kernop.basics.memory import available_memory
from kernop.basics.versions import VERSION

PACKAGES = ("jax", "jaxlib", "numpy", "scipy", "safetensors", "matplotlib", "distributed")


def environment() -> dict[str, object]:
    """Versions and machine, for tables and JSON files."""
    count = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    free, libraries = available_memory(), [found for found in threadpool_info() if found["user_api"] == "blas"]
    return {
        "python": platform.python_version(),
        "kernop": VERSION,
        **{name: _version(name) for name in PACKAGES},
        "system": f"{platform.system()} {platform.machine()}",
        "processors": count,
        "free memory, GiB": None if free is None else round(free / 2**30, 1),
        "BLAS": sorted({f"{b['internal_api']} {b['version']}, threads: {b['num_threads']}" for b in libraries}),
        "JAX devices": [f"{device.platform}:{device.id}" for device in jax.devices()],
        "JAX in float64 by default": bool(jax.config.jax_enable_x64),  # pyright: ignore[reportAttributeAccessIssue]
    }


def _version(name: str) -> str:
    try:
        return version(name)
    except PackageNotFoundError:
        return "not installed"

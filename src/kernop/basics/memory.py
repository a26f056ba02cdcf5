"""How much memory is free."""

from __future__ import annotations

import os
from pathlib import Path

try:
    import resource
except ImportError:  # there is none on Windows
    resource = None


def available_memory() -> int | None:
    """Bytes that can be allocated without swapping, within the limits of container and process; None if unknown."""
    found: list[int] = []
    try:
        lines = Path("/proc/meminfo").read_text().splitlines()
        found += [int(line.split()[1]) * 1024 for line in lines if line.startswith("MemAvailable:")]
        group = Path("/sys/fs/cgroup")
        limit = (group / "memory.max").read_text().strip()
        if limit != "max":
            found.append(int(limit) - int((group / "memory.current").read_text()))
    except (OSError, ValueError):
        pass
    if not found:
        try:
            found.append(os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE"))
        except (AttributeError, OSError, ValueError):
            return None
    left = address_space()
    return max(0, min(found if left is None else [*found, left]))


def address_space() -> int | None:
    """Bytes that the limit of the address space (ulimit -v) leaves to this process; None if there is no limit."""
    if resource is None:
        return None
    limit = resource.getrlimit(resource.RLIMIT_AS)[0]
    if limit == resource.RLIM_INFINITY:
        return None
    try:
        used = int(Path("/proc/self/statm").read_text().split()[0]) * os.sysconf("SC_PAGE_SIZE")
    except (OSError, ValueError):
        used = 0
    return max(0, limit - used)

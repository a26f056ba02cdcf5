"""What all tests share: compiled functions that are kept, Hypothesis without a clock, no garbage of collection.

A third of the work of the tests is to compile. Functions that JAX compiled are shared by the workers of a run and the
processes that tests start, and kept for the next; ``pytest --cache-clear`` forgets them.
"""

import ctypes
import gc
import os
import sys
from pathlib import Path

import jax
import pytest
from hypothesis import HealthCheck, settings

# How fast a machine is, and what else runs on it, is not what is tested.
settings.register_profile("any machine", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("any machine")

# Python keeps its bytecode, whatever the environment says: else each worker would translate all tests, and each of some
# fifty processes all of kernop.
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
sys.dont_write_bytecode = False

#: XLA writes machine code by its older, simpler means, improves it less, and does not cut small functions into pieces
#: for its threads: almost half less work, and code that is as fast within 15 %. The arithmetic is IEEE's as before; the
#: last bit may be another than in the code that users run.
QUICKLY = (
    "--xla_cpu_use_fusion_emitters=false --xla_backend_optimization_level=1 --xla_cpu_parallel_codegen_split_count=1"
)
# They are read when JAX starts to work, also by processes that tests start: some compare bits. A JAX that does not know
# a flag ends the process, so only those that were tried get them.
if (0, 8) <= jax.__version_info__[:2] < (0, 11) and QUICKLY not in os.environ.get("XLA_FLAGS", ""):
    os.environ["XLA_FLAGS"] = f"{os.environ.get('XLA_FLAGS', '')} {QUICKLY}".strip()

#: Gigabytes of a worker above which compiled functions are forgotten: a quarter of the memory.
LARGE = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") / 4e9 if sys.platform == "linux" else 4.0


def pytest_configure(config):
    cache = getattr(config, "cache", None)  # None with -p no:cacheprovider
    if cache is not None:
        _keep("jax_compilation_cache_dir", str(cache.mkdir("jax")))
        _keep("jax_persistent_cache_min_compile_time_secs", 0.0)
        _keep("jax_persistent_cache_min_entry_size_bytes", -1)


def _keep(name, value):
    """A setting of JAX, here and in processes that tests start."""
    jax.config.update(name, value)
    os.environ[name.upper()] = str(value)


@pytest.hookimpl(wrapper=True)
def pytest_collection():
    """What is imported and collected stays to the end: none of it is garbage, and to look for some takes long."""
    gc.disable()
    try:
        return (yield)
    finally:
        gc.freeze()
        gc.set_threshold(50_000, 20, 20)  # JAX makes many objects while it compiles, few of which are garbage
        gc.enable()


def pytest_runtest_teardown(item, nextitem):
    """Compiled functions of files that are done are forgotten when there are many: some thousand take gigabytes."""
    if nextitem is not None and nextitem.path != item.path and _gigabytes() > LARGE:
        _give_back()
        if _gigabytes() > LARGE:
            jax.clear_caches()
            gc.collect()  # takes seconds: once
            _give_back()


def _give_back() -> None:
    """Memory that is free goes back to the system; glibc keeps it, in pieces between what is in use."""
    trim = getattr(ctypes.CDLL(None), "malloc_trim", None) if sys.platform == "linux" else None
    if trim is not None:
        trim(0)


def _gigabytes() -> float:
    """The resident size of this process; 0 where it cannot be seen."""
    try:
        return int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE") / 1e9
    except (OSError, ValueError):
        return 0.0


def pytest_collection_modifyitems(items):
    """What takes longest begins first, so that all workers end together."""
    first = ("test_examples.py", "test_documents.py", "test_march.py", "test_cluster.py")
    items.sort(key=lambda item: item.path.name not in first)


def pytest_terminal_summary(terminalreporter):
    """A browser that is missing shall not go unnoticed among dots."""
    skipped = [r for r in terminalreporter.stats.get("skipped", ()) if "BROWSER TEST SKIPPED" in str(r.longrepr)]
    if skipped:
        terminalreporter.section("BROWSER TEST SKIPPED", sep="!", yellow=True, bold=True)
        terminalreporter.write_line(f"No Chromium was found: {len(skipped)} tests of the live page did not run.")

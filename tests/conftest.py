"""Functions that JAX compiled are shared by the workers of a run and kept for the next: half of the work is to compile.

``pytest --cache-clear`` forgets them. Processes that tests start, some of them to be killed, compile for themselves.
"""

import jax


def pytest_configure(config):
    cache = getattr(config, "cache", None)  # None with -p no:cacheprovider
    if cache is not None:
        jax.config.update("jax_compilation_cache_dir", str(cache.mkdir("jax")))
        jax.config.update("jax_persistent_cache_min_compile_time_secs", 0.0)
        jax.config.update("jax_persistent_cache_min_entry_size_bytes", -1)

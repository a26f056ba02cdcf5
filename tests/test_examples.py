"""Every example is run as a user runs it; each asserts its own accuracy."""

import os
import subprocess
import sys
from pathlib import Path

import jax
import pytest

EXAMPLES = sorted((Path(__file__).parents[1] / "examples").glob("*.py"))


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_example_runs_and_meets_its_accuracy(path):
    kept = {"JAX_COMPILATION_CACHE_DIR": str(jax.config.jax_compilation_cache_dir or "")}  # as in conftest.py
    kept |= {"JAX_PERSISTENT_CACHE_MIN_COMPILE_TIME_SECS": "0", "JAX_PERSISTENT_CACHE_MIN_ENTRY_SIZE_BYTES": "-1"}
    run = subprocess.run(
        [sys.executable, str(path)], capture_output=True, text=True, timeout=300, env=os.environ | kept
    )
    assert run.returncode == 0, run.stderr[-2000:]
    assert "error" in run.stdout


def test_there_are_examples():
    known = {"darcy", "heat", "helmholtz", "noisy_sensors", "own_kernel", "poisson_disk"}
    systems = {"stokes", "cavity", "elasticity", "reaction_diffusion", "impedance", "damped_wave", "maxwell", "march"}
    world = {"groundwater", "unknown_boundary", "find_the_source", "periodic_flow"}
    shapes = {"annulus", "holes", "gear", "solid", "torus", "l_shape", "layers", "wall", "inclusion"}
    assert known | systems | world | shapes <= {path.stem for path in EXAMPLES}

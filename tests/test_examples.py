"""Every example is run, in a working directory of its own; each asserts its own accuracy."""

import runpy
import warnings
from pathlib import Path

import jax
import pytest

from kernop.errors import AccuracyWarning, IllPosedWarning

EXAMPLES = sorted((Path(__file__).parents[1] / "examples").glob("*.py"))
#: Examples of data with singular corners, and of conditions that the kernel alone completes. No other warns.
WARN = {"gear": {AccuracyWarning}, "poisson_disk": {AccuracyWarning}, "own_kernel": {IllPosedWarning}}


@pytest.fixture
def as_at_the_start(monkeypatch, tmp_path):
    """JAX as a new process has it, in single precision; figures go to a directory that is thrown away."""
    before = jax.config.jax_enable_x64
    jax.config.update("jax_enable_x64", False)
    monkeypatch.chdir(tmp_path)
    yield
    jax.config.update("jax_enable_x64", before)


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_example_runs_and_meets_its_accuracy(path, as_at_the_start, capsys):
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        runpy.run_path(str(path), run_name="__main__")
    found = {warning.category for warning in told if issubclass(warning.category, (AccuracyWarning, IllPosedWarning))}
    assert found == WARN.get(path.stem, set())
    assert "error" in capsys.readouterr().out


def test_there_are_examples():
    known = {"darcy", "heat", "helmholtz", "noisy_sensors", "own_kernel", "poisson_disk"}
    systems = {"stokes", "cavity", "elasticity", "reaction_diffusion", "impedance", "damped_wave", "maxwell", "march"}
    world = {"groundwater", "unknown_boundary", "find_the_source", "periodic_flow"}
    shapes = {"annulus", "holes", "gear", "solid", "torus", "l_shape", "layers", "wall", "inclusion"}
    assert known | systems | world | shapes <= {path.stem for path in EXAMPLES}

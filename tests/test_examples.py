"""Every example is run as a user runs it; each asserts its own accuracy."""

import subprocess
import sys
from pathlib import Path

import pytest

EXAMPLES = sorted((Path(__file__).parents[1] / "examples").glob("*.py"))


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_example_runs_and_meets_its_accuracy(path):
    run = subprocess.run([sys.executable, str(path)], capture_output=True, text=True, timeout=300)
    assert run.returncode == 0, run.stderr[-2000:]
    assert "error" in run.stdout


def test_there_are_examples():
    known = {"darcy", "heat", "helmholtz", "noisy_sensors", "own_kernel", "poisson_disk"}
    systems = {"stokes", "cavity", "elasticity", "reaction_diffusion", "impedance", "damped_wave", "maxwell", "march"}
    assert known | systems <= {path.stem for path in EXAMPLES}

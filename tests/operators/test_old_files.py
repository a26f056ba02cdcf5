"""Files of format 1 still load, and give the answers that they gave when they were written."""

from pathlib import Path

import jax.numpy as jnp
import numpy as np
import pytest

import kernop as ko

FOLDER = Path(__file__).parent / "old_files"
NAMES = sorted(path.stem for path in FOLDER.glob("*.kernop"))


def wavy(x):
    return jnp.sin(3.0 * x[..., 0])


def rho(x):
    return x[..., 0] * (1.0 - x[..., 0]) * x[..., 1]


INPUTS = {
    "cloud": {"f": wavy, "q": 0.1, "g": 0.0},
    "full": {"f": wavy, "s": 0.2},
    "lowrank": {"f": wavy, "u0": 1.0},
    "subspace": {"f": wavy, "q": 0.3},
    "updated": {"f": wavy, "q": 0.3},
}


def close(found, known):
    """To the last bit on the processor that wrote the files; elsewhere to rounding, which conditioning magnifies."""
    np.testing.assert_allclose(found, known, rtol=0, atol=1e-12 * max(1.0, np.max(np.abs(known))))


def test_all_kinds_are_there():
    assert len(NAMES) == 12


@pytest.mark.filterwarnings("ignore::kernop.errors.AccuracyWarning")
@pytest.mark.parametrize("name", NAMES)
def test_a_file_of_format_1_gives_its_answers(name):
    T = ko.load(FOLDER / f"{name}.kernop", envelope=rho if name == "envelope" else None)
    known = np.load(FOLDER / f"{name}.npz")
    u, x = T(**INPUTS.get(name, {"f": wavy, "g": 0.1})), known["x"]
    close(u.coefficients, known["coefficients"])
    close(u(x), known["values"])
    close(u.grad(x), known["gradient"])
    for condition in T.problem.names:
        close(u.residual(condition, T.points[condition]), known[f"residual {condition}"])


def test_solutions_of_a_stream():
    T, known = ko.load(FOLDER / "stream.kernop"), np.load(FOLDER / "stream.npz")
    for k, u in enumerate(T.solutions):
        close(u(known["x"]), known[f"solution {k}"])


def test_the_report():
    report = ko.load(FOLDER / "tolerance.kernop").report
    assert (report.status, report.tol) == ("met", 1e-3)
    assert report.levels[-1].error < 1e-3

"""Files of format 1 still load, and give the answers that they gave when they were written."""

from pathlib import Path

import jax.numpy as jnp
import numpy as np
import pytest

import kernop as ko
from kernop.basics.errors import FileError
from kernop.basics.storage import read, write
from kernop.collocation.ansatz import collocate

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


def close(found, known, size=1.0):
    """To rounding: u is a sum of terms as large as its coefficients, which are so many times larger than it is."""
    np.testing.assert_allclose(found, known, rtol=0, atol=1e-12 * max(1.0, size, np.max(np.abs(known))))


def test_all_kinds_are_there():
    assert len(NAMES) == 12


@pytest.mark.filterwarnings("ignore::kernop.errors.AccuracyWarning")
@pytest.mark.parametrize("name", NAMES)
def test_a_file_of_format_1_gives_its_answers(name):
    T = ko.load(FOLDER / f"{name}.kernop", envelope=rho if name == "envelope" else None)
    known = np.load(FOLDER / f"{name}.npz")
    u, x = T(**INPUTS.get(name, {"f": wavy, "g": 0.1})), known["x"]
    size = np.max(np.abs(known["coefficients"]))
    # Qᵀh of a stream is R⁻ᵀAᵀh: the condition number of R, here 6e7, magnifies the rounding of A; that of "centres" and
    # "tolerance", 2e10, the rounding of Qᵀh; and normal equations have the square of it.
    magnified = name.startswith(("stream", "centres", "tolerance", "normal"))
    close(u.coefficients, known["coefficients"], 1e3 * size if magnified else size)
    close(u(x), known["values"], size)
    close(u.grad(x), known["gradient"], size)
    for condition in T.problem.names:
        close(u.residual(condition, T.points[condition]), known[f"residual {condition}"], terms(u, T, condition))


def terms(u, T, condition):
    """The largest Σ_j |c_j P b_j(x)| over the points of a condition, P its operator: rounding is relative to it."""
    rows = collocate(T.problem, {condition: T.points[condition]}, u.ansatz)
    return np.max(np.abs(u.expansion.matrix(rows)) @ np.abs(u.coefficients))


def test_solutions_of_a_stream():
    T, known = ko.load(FOLDER / "stream.kernop"), np.load(FOLDER / "stream.npz")
    for k, u in enumerate(T.solutions):
        close(u(known["x"]), known[f"solution {k}"])


def test_the_report():
    report = ko.load(FOLDER / "tolerance.kernop").report
    assert (report.status, report.tol) == ("met", 1e-3)
    assert report.levels[-1].error < 1e-3


class TestOlderYet:
    """The first files of format 1 lacked some parts."""

    def rewritten(self, name, path, change):
        header, arrays = read(FOLDER / f"{name}.kernop", "operator")
        change(header, arrays)
        write(path, "operator", header, arrays)
        return ko.load(path)

    @pytest.mark.parametrize("timed", [None, False])
    def test_clouds_without_times(self, tmp_path, timed):
        def change(header, arrays):
            for k in range(3):
                region = header[f"condition {k}"]["region"]
                if timed is None:
                    del region["timed"]
                else:
                    region["timed"] = timed

        T = self.rewritten("cloud", tmp_path / "file", change)
        assert not T.problem.timed

    def test_reflectors_by_their_scalars(self, tmp_path):
        def change(header, arrays):
            t = arrays.pop("factorisation/t.T").T
            arrays["factorisation/tau"] = np.diagonal(t).copy()

        T = self.rewritten("centres", tmp_path / "file", change)
        known = np.load(FOLDER / "centres.npz")
        np.testing.assert_allclose(T(f=wavy, g=0.1)(known["x"]), known["values"], atol=1e-10)

    def test_reports_of_residuals(self, tmp_path):
        def change(header, arrays):
            levels = header["report"]["levels"]
            header["report"] = {
                "levels": [{"residual": 0.5, **{k: v for k, v in one.items() if k != "error"}} for one in levels],
                **{key: header["report"][key] for key in ("status", "tol", "returned")},
            }

        assert self.rewritten("tolerance", tmp_path / "file", change).report.error == 0.5

    def test_solutions_by_their_coefficients(self, tmp_path):
        def change(header, arrays):
            for k in range(2):
                arrays[f"solution {k}/coefficients"] = np.ones((10, 1))
                del arrays[f"solution {k}/misfit"]
                arrays.pop(f"solution {k}/y", None)
                arrays.pop(f"solution {k}/y.T", None)

        T = self.rewritten("stream", tmp_path / "file", change)
        np.testing.assert_array_equal(T.solutions[1].coefficients, 1.0)

    @pytest.mark.parametrize("part", ["conditions", "learned", "factorisation", "method"])
    def test_what_is_missing_is_refused(self, tmp_path, part):
        with pytest.raises(FileError, match="do not fit each other"):
            self.rewritten("full", tmp_path / "file", lambda header, arrays: header.pop(part))

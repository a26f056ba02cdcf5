"""Operators in files: the same answers to the last bit, also in another process, and how they were learned."""

import re
import subprocess
import sys

import numpy as np
import pytest

import kernop as ko
from kernop.basics.errors import ArgumentError, FileError
from kernop.basics.storage import read, write
from kernop.operators.operator import FORMAT


def same(a, b):
    """Equal to the last bit."""
    a, b = np.asarray(a), np.asarray(b)
    assert a.shape == b.shape
    assert a.tobytes() == b.tobytes()


@pytest.mark.filterwarnings("ignore::kernop.errors.AccuracyWarning")
def test_a_loaded_operator_gives_the_same_bits(case, path):
    T = case.operator
    T.save(path)
    S = ko.load(path, **case.extra)
    assert type(S) is type(T)
    u, v = T(**case.inputs), S(**case.inputs)
    same(u.coefficients, v.coefficients)
    same(u(case.x), v(case.x))
    same(u.grad(case.x), v.grad(case.x))
    for name in T.problem.names:
        same(T.points[name].x, S.points[name].x)
        same(u.residual(name, T.points[name]), v.residual(name, S.points[name]))
    assert (S.regularization, S.weights, S.n_points) == (T.regularization, T.weights, T.n_points)
    assert (S.stats, S.report, S.noise) == (T.stats, T.report, T.noise)
    assert S.kernel == T.kernel
    assert S.diagnosis == T.diagnosis


ABILITIES = {
    "on": lambda T, case: T.on(case.x)(**case.inputs),
    "basis": lambda T, case: T.basis(case.x),
    "remove": lambda T, case: T.remove({"f": [0, 3]})(**case.inputs).coefficients,
    "std": lambda T, case: T.std(case.x),
}


@pytest.mark.filterwarnings("ignore::kernop.errors.AccuracyWarning")
def test_a_loaded_operator_can_do_and_refuses_the_same(case, path):
    T = case.operator
    T.save(path)
    S = ko.load(path, **case.extra)
    for name in case.able:
        same(ABILITIES[name](S, case), ABILITIES[name](T, case))
    for name in ABILITIES.keys() - set(case.able):
        with pytest.raises(ArgumentError) as expected:
            ABILITIES[name](T, case)
        with pytest.raises(ArgumentError, match=re.escape(str(expected.value))):
            ABILITIES[name](S, case)


def test_points_leave_without_the_functions_of_the_user(made, path):
    case = made("envelope")
    case.operator.save(path)
    fewer = [T.remove({"f": [0, 3]})(**case.inputs) for T in (case.operator, ko.load(path))]
    same(fewer[0].coefficients, fewer[1].coefficients)


@pytest.mark.filterwarnings("ignore::kernop.errors.AccuracyWarning")
def test_an_operator_that_was_loaded_can_be_saved(case, path):
    case.operator.save(path)
    ko.load(path).save(path)
    T = ko.load(path, **case.extra)
    same(T(**case.inputs)(case.x), case.operator(**case.inputs)(case.x))


@pytest.mark.filterwarnings("ignore::kernop.errors.AccuracyWarning")
@pytest.mark.parametrize("name", ["heat", "disk, parts, sum of kernels"])
def test_constant_coefficients_need_no_function(made, path, name):
    case = made(name)
    case.operator.save(path)
    S, fresh = ko.load(path), case.operator.problem["f"].on.sample(7, seed=5)
    same(S(**case.inputs).residual("f", fresh), case.operator(**case.inputs).residual("f", fresh))
    more = {"f": fresh}
    same(S.update(more)(**case.inputs).coefficients, case.operator.update(more)(**case.inputs).coefficients)


def test_solutions_of_a_stream_come_along(made, path):
    case = made("stream")
    case.operator.save(path)
    S = ko.load(path)
    assert len(S.solutions) == 2
    for u, v in zip(case.operator.solutions, S.solutions, strict=True):
        same(u(case.x), v(case.x))


ELSEWHERE = """
import sys
from pathlib import Path
import numpy as np
import kernop as ko
for path in map(Path, sys.argv[1:]):
    T = ko.load(path)
    n, x = len(T.points["f"]), np.linspace(0.1, 0.9, 7)[:, None]
    u = T(f=np.linspace(-1.0, 1.0, n))
    np.savez(path.with_suffix(".npz"), c=u.coefficients, u=u(x), grad=u.grad(x))
"""


@pytest.mark.filterwarnings("ignore::kernop.errors.AccuracyWarning")
def test_another_process_gives_the_same_bits(made, tmp_path):
    cases = [made(name) for name in ("Full", "LowRank", "QR, updated twice", "stream, materialised")]
    paths = [tmp_path / f"{k}.kernop" for k in range(len(cases))]
    for case, path in zip(cases, paths, strict=True):
        case.operator.save(path)
    subprocess.run([sys.executable, "-c", ELSEWHERE, *map(str, paths)], check=True)
    for case, path in zip(cases, paths, strict=True):
        n, x = len(case.operator.points["f"]), np.linspace(0.1, 0.9, 7)[:, None]
        u, answers = case.operator(f=np.linspace(-1.0, 1.0, n)), np.load(path.with_suffix(".npz"))
        same(answers["c"], u.coefficients)
        same(answers["u"], u(x))
        same(answers["grad"], u.grad(x))


class TestStory:
    def test_the_header_is_for_a_person(self, made, path):
        made("Full").operator.save(path)
        header, _ = read(path, "operator")
        assert header["format"] == FORMAT
        assert header["about"]["seed"] == 0
        assert header["about"]["sampling"] == "halton"
        assert header["about"]["written"]["kernop"] == ko.__version__
        assert header["about"]["written"]["numpy"] == np.__version__
        conditions, factorisation = header["problem"]["conditions"], header["factorisation"]
        assert factorisation["expansion"]["kernel"] == {"class": "Gaussian", "lengthscale": 0.5}
        assert conditions[0]["on"] == {"class": "interval", "a": 0.0, "b": 1.0}
        assert conditions[1]["op"] == {"class": "identity"}
        assert factorisation["regularization"] == made("Full").operator.regularization

    def test_about_tells_when_and_with_what(self, made, path):
        T = ko.learn(made("QR").operator.problem, points=20, method=ko.Subspace(4), seed=3, sampling="uniform")
        T.save(path)
        about = ko.load(path).about
        assert (about["seed"], about["sampling"], about["when"]) == (3, "uniform", T.about["when"])
        assert about["written"]["kernop"] == ko.__version__

    @pytest.mark.parametrize(
        ("found", "match"), [(FORMAT + 1, "a newer kernop wrote.*update kernop"), (0, "of version 0")]
    )
    def test_another_format(self, made, path, found, match):
        made("QR").operator.save(path)
        header, arrays = read(path, "operator")
        write(path, "operator", {**header, "format": found}, arrays)
        with pytest.raises(FileError, match=match):
            ko.load(path)

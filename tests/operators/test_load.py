"""load: arguments, refusals, and files rewritten with a valid digest, whose contents are still checked."""

import dataclasses
import json
import os
import subprocess
import sys

import numpy as np
import pytest

import kernop as ko
from kernop.basics import checks, shelf
from kernop.basics.codec import ARRAY
from kernop.basics.errors import ArgumentError, ArgumentTypeError, FileError, MemoryLimitError, MissingFunctionError
from kernop.basics.storage import read, write
from kernop.operators.load import file_summary
from kernop.operators.report import Level, Report

LINE = ko.Interval(0.0, 1.0)


def rho(x):
    return x[..., 0] * (1.0 - x[..., 0])


def problem():
    return ko.Problem(
        ko.Equation(lambda u: -ko.laplacian(u) + (lambda x: 1.0 + x[..., 0]) * u, on=LINE, name="f"),
        ko.Dirichlet(on=LINE.boundary, name="g"),
    )


@pytest.fixture(scope="module")
def operator():
    return ko.learn(problem(), points=60, method=ko.Subspace(24))  # 21 translates, 3 polynomials


@pytest.fixture
def path(tmp_path, operator):
    path = tmp_path / "file.kernop"
    operator.save(path)
    return path


class TestArguments:
    @pytest.mark.parametrize("wrong", [None, 3, b"file", ["a"], "a\0b"])
    def test_a_path_that_is_none(self, operator, wrong):
        for call in (ko.load, operator.save):
            with pytest.raises(ArgumentTypeError, match=r"path: got .*; give the path of a file"):
                call(wrong)

    def test_no_such_file(self, tmp_path):
        with pytest.raises(FileError, match="which is not a file"):
            ko.load(tmp_path / "missing")

    @pytest.mark.skipif(os.name != "posix", reason="POSIX")
    def test_what_can_be_no_file(self, tmp_path):
        os.mkfifo(tmp_path / "fifo")  # to open it would wait for someone to write
        (tmp_path / "circle").symlink_to(tmp_path / "circle")
        (tmp_path / "file").write_text("")
        for path in (tmp_path / "fifo", "/dev/zero", tmp_path, tmp_path / "file" / "below"):
            with pytest.raises(FileError, match=r"path: got '.*', which is not a file"):
                ko.load(path)
        for path in (tmp_path / ("n" * 300), "/".join(["n" * 200] * 30), tmp_path / "circle"):
            with pytest.raises(FileError, match=r"path: got '.*', which cannot be read"):
                ko.load(path)
        with pytest.raises(ArgumentTypeError, match=r"path: got '\\udcff'"):
            ko.load("\udcff")

    @pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() != 0, reason="root alone can become another user")
    def test_no_permission(self, tmp_path, operator):
        folder = tmp_path / "secret"
        operator.save(folder / "file")
        operator.save(tmp_path / "file")
        (tmp_path / "file").chmod(0)
        folder.chmod(0)
        # Other users must be able to come to the folder at all.
        for parent in (tmp_path, *tmp_path.parents):
            if parent.stat().st_mode & 0o055 != 0o055:  # never a folder that all may enter, such as that of the system
                parent.chmod(0o755)
        os.seteuid(65534)
        try:
            for path in (tmp_path / "file", folder / "file"):
                with pytest.raises(FileError, match=r"which cannot be read.*Permission denied"):
                    ko.load(path)
                ko.Checkpoint(path)  # is read when a pass begins
        finally:
            os.seteuid(0)

    def test_a_file_larger_than_the_memory_and_the_disk(self, path, monkeypatch):
        monkeypatch.setattr(checks, "SMALL", 0)
        monkeypatch.setattr(checks, "available_memory", lambda: 1000)
        with pytest.raises(MemoryLimitError, match=r"path: got an array of .* in it, which needs .*more memory"):
            ko.load(path)  # the disk has room for the file, but memory not even for one of its arrays
        monkeypatch.setattr(shelf, "address_space", lambda: 1000)
        with pytest.raises(MemoryLimitError, match=r"path: got '.*file\.kernop', which needs .*more memory"):
            ko.load(path)

    @pytest.mark.parametrize("step", ["basics.storage._arrays", "operators.load.Decoder.decode"])
    def test_memory_that_ends_while_it_is_read(self, path, monkeypatch, step):
        def ended(*_):
            raise MemoryError("Unable to allocate")

        monkeypatch.setattr(f"kernop.{step}", ended)
        with pytest.raises(MemoryLimitError, match=r"path: got .*for which there is no memory \(Unable to allocate\)"):
            ko.load(path)

    @pytest.mark.skipif(not sys.platform.startswith("linux"), reason="limits of the address space are Linux's")
    def test_a_limit_of_the_address_space(self, tmp_path):
        """Of a file of 16 MB, which is read where there is room, and then refused because it is no operator."""
        matrix = {"a": np.ones((1000, 2000))}
        write(tmp_path / "large", "operator", {"format": 2}, matrix)
        text = (
            "import resource, sys, kernop as ko\n"
            "for room in (10**5, 10**7, 3 * 10**8):\n"
            "    used = int(open('/proc/self/statm').read().split()[0]) * resource.getpagesize()\n"
            "    resource.setrlimit(resource.RLIMIT_AS, (used + room, -1))\n"
            "    try:\n        ko.load(sys.argv[1])\n"
            "    except ko.errors.KernopError as error:\n        print(type(error).__name__)\n"
        )
        command = [sys.executable, "-c", text, tmp_path / "large"]
        found = subprocess.run(command, capture_output=True, text=True, timeout=60, check=True).stdout.split()
        assert found == ["MemoryLimitError", "MemoryLimitError", "FileError"]

    def test_a_folder_cannot_be_written(self, operator, tmp_path):
        with pytest.raises(FileError, match="cannot be written"):
            operator.save(tmp_path)

    def test_what_is_no_problem_and_no_envelope(self, path):
        with pytest.raises(ArgumentTypeError, match="problem: got 3"):
            ko.load(path, problem=3)
        with pytest.raises(ArgumentTypeError, match=r"envelope: got 3\.0"):
            ko.load(path, envelope=3.0)
        with pytest.raises(ArgumentError, match="envelope: got one for an operator without envelope"):
            ko.load(path, envelope=rho)

    def test_a_kernel_of_the_user_is_refused(self, tmp_path):
        kernel = ko.CustomKernel(lambda x, y: 1.0 / (1.0 + (x[0] - y[0]) ** 2))
        T = ko.learn(problem(), points=12, method=ko.Full(), kernel=kernel, regularization=1e-6)
        with pytest.raises(
            ArgumentTypeError, match=r"kernel: got .*cannot be stored: a file holds numbers and words, and no code"
        ):
            T.save(tmp_path / "file")
        assert list(tmp_path.iterdir()) == []

    def test_points_that_have_passed_are_refused(self, tmp_path):
        batches = iter([{"f": LINE.sample(20), "g": LINE.boundary.sample(2)}])
        T = ko.learn(problem(), points=batches, method=ko.Subspace(5, batch=20))
        with pytest.raises(ArgumentError, match=r"whose points have passed.*give arrays or ko\.Batches to learn"):
            T.save(tmp_path / "file")


class TestMissingFunctions:
    def test_away_from_the_stored_points(self, operator, path):
        u, fresh = ko.load(path)(1.0, 0.0), LINE.sample(5, seed=9)
        with pytest.raises(
            MissingFunctionError, match=r"the operator of condition 'f' \(at x = .*load\(path, problem=…\)"
        ):
            u.residual("f", fresh)
        with pytest.raises(MissingFunctionError, match="the operator of condition 'f'"):
            ko.load(path).update({"f": fresh})
        found = ko.load(path, problem=problem())(1.0, 0.0).residual("f", fresh)
        np.testing.assert_array_equal(found, operator(1.0, 0.0).residual("f", fresh))

    def test_stored_points_in_any_order(self, operator, path):
        u, some = ko.load(path)(1.0, 0.0), operator.points["f"][[7, 2, 2, 30]]
        np.testing.assert_allclose(u.residual("f", some), operator(1.0, 0.0).residual("f", some), rtol=0, atol=1e-13)

    def test_known_functions_need_the_operator(self, path):
        with pytest.raises(MissingFunctionError, match=r"as a function"):
            ko.load(path).problem.manufacture(lambda x: x[..., 0], {"f": LINE.sample(3), "g": LINE.boundary.sample(2)})

    def test_envelope(self, tmp_path):
        held = ko.Problem(ko.Equation(lambda u: -ko.laplacian(u), on=LINE, name="f"))
        T, path = ko.learn(held, points=40, method=ko.Subspace(12, envelope=rho)), tmp_path / "file"
        T.save(path)
        x, u = LINE.sample(5, seed=3).x, T(1.0)
        v = ko.load(path)(1.0)
        np.testing.assert_array_equal(v.coefficients, u.coefficients)
        np.testing.assert_array_equal(v(T.points["f"]), u(T.points["f"]))
        for asked in (
            lambda: v(x),
            lambda: v.grad(T.points["f"]),
            lambda: v.residual("f", x),
            lambda: ko.load(path).on(x),
        ):
            with pytest.raises(MissingFunctionError, match=r"does not hold the envelope .*load\(path, envelope=…\)"):
                asked()
        w = ko.load(path, envelope=rho)(1.0)
        np.testing.assert_array_equal(w(x), u(x))
        np.testing.assert_array_equal(w.residual("f", x), u.residual("f", x))
        with pytest.raises(ArgumentError, match="another function than the one that was learned"):
            ko.load(path, envelope=lambda x: 2.0 * rho(x))

    def test_predicate(self, tmp_path):
        box = ko.Box([0.0, 0.0], [1.0, 1.0])

        def corner(x):
            return ~((x[..., 0] > 0.5) & (x[..., 1] > 0.5))

        T = ko.learn(ko.Problem(ko.Equation(lambda u: u, on=box.where(corner), name="f")), points=60)
        T.save(tmp_path / "file")
        u, x = ko.load(tmp_path / "file")(1.0), [[0.2, 0.3]]
        with pytest.raises(ko.errors.OutsideDomainError, match=r"function that tells where: load\(path, problem=…\)"):
            u(x)
        np.testing.assert_array_equal(u(x, outside="extrapolate"), T(1.0)(x))
        np.testing.assert_array_equal(u(T.points["f"]), T(1.0)(T.points["f"]))
        np.testing.assert_array_equal(ko.load(tmp_path / "file", problem=T.problem)(1.0)(x), T(1.0)(x))


def renamed(header, arrays):
    arrays["expansion/other"] = arrays.pop(f"{BLOCK}/x")


def dropped(header, arrays):
    header["problem"]["conditions"].pop()


def edit(*path):
    """Sets the last of the keys in a header to the value that follows them."""

    def change(header, arrays):
        *keys, last, value = path
        for key in keys:
            header = header[key]
        header[last] = value

    return change


def shape(name, change):
    def apply(header, arrays):
        arrays[name] = change(arrays[name])

    return apply


def with_another_axis(header, arrays):
    arrays[CENTRE], arrays[HALF] = np.repeat(arrays[CENTRE], 2), np.repeat(arrays[HALF], 2)
    arrays[DEGREES] = np.hstack([arrays[DEGREES], arrays[DEGREES]])


FACTOR = "factorisation"
QR = f"{FACTOR}/factor"
SPACES = (FACTOR, "expansion", "summands")
TRANSLATES, LOW = (*SPACES, 0), (*SPACES, 1)
BLOCK = "/".join(map(str, TRANSLATES)) + "/functionals/blocks/0"
DEGREES, CENTRE, HALF = ("/".join(map(str, LOW)) + f"/{name}" for name in ("degrees", "centre", "half"))
FIRST = ("problem", "conditions", 0)
PLAIN = (*FIRST, "op", "plain", "blocks", 0)
KERNEL = (*TRANSLATES, "kernel")
MATERN = {"class": "Matern", "nu": 0.5, "lengthscale": 1.0}
X = "problem/conditions/0/op/points/x"
MISFITS = {
    "a condition is missing": (dropped, "other names than the conditions have"),
    "an unknown region": (edit(*FIRST, "on", "class", "klein bottle"), "'klein bottle', which this kernop does"),
    "a region in other dimensions": (edit(*FIRST, "on", {"class": "box", "lo": [0, 0], "hi": [1, 1]}), "dimensions"),
    "a region without inside": (edit(*FIRST, "on", "b", -1.0), "conditions/0/on has parts that do not .*lo < hi"),
    "points outside": (edit(*FIRST, "on", "b", 0.5), "'f' outside its region"),
    "a name that is none": (edit(*FIRST, "name", "no name"), "do not fit each other .*keyword argument"),
    "names twice": (edit(*FIRST, "name", "g"), "more than once"),
    "points of others": (lambda h, a: h["points"].update(h=h["points"].pop("g")), "other names than the conditions"),
    "noise of others": (edit("noise", {"h": 1.0}), "other names than the conditions"),
    "an unknown kernel": (edit(*KERNEL, "class", "Cauchy"), "summands/0/kernel/class is 'Cauchy'"),
    "a negative length": (edit(*KERNEL, "lengthscale", [-1.0]), "positive"),
    "lengths for other axes": (edit(*KERNEL, "lengthscale", [1.0, 2.0]), "2 numbers for a problem in 1"),
    "a kernel too rough": (edit(*KERNEL, MATERN), "derivatives"),
    "a kernel that takes for ever": (edit(*KERNEL, {**MATERN, "nu": 1e9 + 0.5}), r"nu: got 1e\+09"),
    "a method of another factor": (edit("method", {"class": "Full"}), "another one than that of the factorisation"),
    "another method": (edit("method", "centers", 13), "another one than that of the factorisation"),
    "another solver": (edit(FACTOR, "method", "solver", "normal"), "one with solver='normal'"),
    "a method that is none": (edit(FACTOR, "method", {"class": "Full"}), "one with solver=None"),
    "an order without end": (edit(*PLAIN, "terms", [[0, [0]], [0, [10**6]]]), "multi-indices"),
    "orders in disorder": (edit(*PLAIN, "terms", [[0, [2]], [0, [0]]]), "multi-indices"),
    "weights that are not": (edit(FACTOR, "weights", [1.0, 0.0]), "not positive"),
    "a weight too many": (edit(FACTOR, "weights", [1.0, 1.0, 1.0]), "3 conditions and .* not 2"),
    "λ below 0": (edit(FACTOR, "regularization", -1.0), "regularization: got -1.0, below 0"),
    "λ a word": (edit(FACTOR, "regularization", "none"), "no number"),
    "λ true": (edit(FACTOR, "regularization", True), "no number"),
    "λ infinite": (edit(FACTOR, "regularization", 10**400), "no number"),
    "no blocks": (edit(*TRANSLATES, "functionals", "blocks", []), "layouts: got some of other blocks"),
    "functionals elsewhere": (edit("functionals", "blocks", 0, "x", {ARRAY: "points/g/x"}), "shape"),
    "functionals of fewer": (lambda h, a: h["functionals"]["blocks"].pop(), "layouts: got some of other blocks"),
    "functionals of fewer conditions": (
        lambda h, a: (h["functionals"]["blocks"].pop(), h["functionals"]["layouts"].pop()),
        "some of other conditions",
    ),
    "functionals of another unknown": (edit("functionals", "blocks", 0, "terms", [[0, [1]], [1, [2]]]), "unknowns"),
    "a component without end": (edit(*PLAIN, "terms", [[0, [1]], [10**6, [2]]]), "multi-indices"),
    "no components": (edit("functionals", "layouts", 0, "components", 0), "components: got 0"),
    "other unknowns": (edit("problem", "unknowns", "sizes", [["v", 1]]), "other unknowns|unknowns"),
    "a scale too many": (edit(*TRANSLATES, "ansatz", "scales", [1.0, 2.0]), "scales"),
    "another scale": (edit(*LOW, "ansatz", "scales", [2.0]), "summands: got none, or some with another ansatz"),
    "no summands": (edit(*SPACES, []), "summands: got none"),
    "one summand": (lambda h, a: h[FACTOR]["expansion"]["summands"].pop(), "packed: got an array of shape"),
    "a summand that is none": (edit(*LOW, MATERN), r"summands is \(.*, which it cannot be"),
    "a component too many": (edit(*LOW, "component", 1), "component: got 1"),
    "a component below 0": (edit(*LOW, "component", -1), "component: got -1"),
    "a component that is a word": (edit(*LOW, "component", "u"), "component is 'u' and no whole number"),
    "a degree without end": (shape(DEGREES, lambda a: np.where(a == a.max(), 2**40, a)), "degrees: got"),
    "a degree below 0": (shape(DEGREES, lambda a: a - 1), "degrees: got none, negative ones"),
    "a degree twice": (shape(DEGREES, lambda a: 0 * a), "degrees: got none, negative ones, or some that occur twice"),
    "a degree that is no whole number": (shape(DEGREES, lambda a: a + 0.5), "float64"),
    "degrees along other axes": (shape(DEGREES, lambda a: np.hstack([a, a])), "degrees: got an array of shape"),
    "a box without inside": (shape(HALF, lambda a: -a), "half: got numbers that are not positive"),
    "a box with other axes": (shape(HALF, lambda a: np.repeat(a, 2)), "half: got an array of shape"),
    "polynomials in other dimensions": (with_another_axis, "summands: got some in other dimensions"),
    "an integral without weights": (edit(*FIRST, "integral", True), "without weights"),
    "an object that is a list": (edit(*KERNEL, []), "kernel is .*, which it cannot be"),
    "nothing": (edit(*KERNEL, None), "kernel is missing"),
    "an unknown factor": (edit(FACTOR, "class", "magic"), "'magic'"),
    "a kernel for a factor": (edit(FACTOR, MATERN), r"factorisation is Matern\(.*, which it cannot be"),
    "noise below 0": (edit(FACTOR, "noise", -1.0), "noise: got -1.0, below 0"),
    "an array renamed": (renamed, f"{BLOCK}/x is missing"),
    "an array too many": (lambda header, arrays: arrays.update(more=np.zeros(3)), "'more' that does not belong"),
    "rows missing": (shape(f"{QR}/packed.T", lambda a: np.ascontiguousarray(a[:, 1:])), "rows"),
    "columns missing": (shape(f"{QR}/packed.T", lambda a: a[1:]), "shape"),
    "a zero pivot": (shape(f"{QR}/packed.T", lambda a: a * (1.0 - np.eye(*a.shape))), "zero on its diagonal"),
    "roots that are not": (shape(f"{FACTOR}/roots", lambda a: -a), "not positive"),
    "NaN": (shape(f"{QR}/t.T", lambda a: a * np.nan), f"{QR}/t is an array with numbers that are not finite"),
    "infinity": (shape(X, lambda a: a + np.inf), f"{X} is an array with numbers that are not"),
    **{
        f"squares that overflow in {name}": (
            shape(name, lambda a: np.full_like(a, 1e308)),
            rf"{name.removesuffix('.T')} is an array with sq",
        )
        for name in (f"{QR}/packed.T", f"{QR}/t.T", f"{FACTOR}/roots", X, f"{BLOCK}/x", f"{BLOCK}/coefficients", CENTRE)
    },
    "whole numbers": (shape(f"{QR}/t.T", lambda a: a.astype(np.int64)), "int64"),
    "points of another shape": (shape("points/g/x", lambda a: a[:, 0]), "shape"),
    "normals of another length": (shape("points/g/normal", lambda a: 2.0 * a), "length"),
    "a time where there is none": (edit("points", "f", "timed", True), "True for one coordinate"),
    "a report that is none": (edit("report", 1.5), "which it cannot be"),
}


class TestReports:
    LEVELS = (
        Level(centers=8, points=24, error=np.inf, seconds=0.1),
        Level(centers=13, points=39, error=1e-3, seconds=0.1, changes=(0.25, 0.5), misfit=1e-4),
    )

    def test_come_back_even_if_a_residual_was_infinite(self, operator, path):
        report = Report(status="budget", tol=1e-6, levels=self.LEVELS, returned=1)
        dataclasses.replace(operator, report=report).save(path)
        assert ko.load(path).report == report

    def test_of_a_level_that_is_not_there(self, operator, path):
        with pytest.raises(ArgumentError, match="returned: got 2 where there are 2 levels"):
            Report(status="budget", tol=1e-6, levels=self.LEVELS, returned=2)
        dataclasses.replace(operator, report=Report(status="budget", tol=1e-6, levels=self.LEVELS, returned=1)).save(
            path
        )
        header, arrays = read(path, "operator")
        header["report"]["returned"] = 2
        write(path, "operator", header, arrays)
        with pytest.raises(FileError, match=r"report has parts that do not fit each other \(returned: got 2"):
            ko.load(path)


class TestRewritten:
    @pytest.mark.parametrize("name", MISFITS)
    def test_parts_that_do_not_fit_are_refused(self, path, name):
        change, match = MISFITS[name]
        header, arrays = read(path, "operator")
        change(header, arrays)
        write(path, "operator", header, arrays)
        with pytest.raises(FileError, match=match) as caught:
            ko.load(path)
        assert str(caught.value).startswith(f"path: got {str(path)!r}, ")

    def test_deep_kernels(self, path):
        header, arrays = read(path, "operator")
        for _ in range(200):
            inner = header["factorisation"]["expansion"]["summands"][0]
            inner["kernel"] = {"class": "multiple", "factor": 1.0, "kernel": inner["kernel"]}
        write(path, "operator", header, arrays)
        with pytest.raises(FileError, match="nested too deeply"):
            ko.load(path)

    def test_comments_are_free(self, operator, path):
        header, arrays = read(path, "operator")
        write(path, "operator", {**header, "note": "for Ada", "stats": {}}, arrays)
        np.testing.assert_array_equal(ko.load(path)(1.0, 0.0)([[0.3]]), operator(1.0, 0.0)([[0.3]]))


def test_summary_tells_what_is_in_a_file(path):
    told = file_summary(path)
    assert told["operator"] == "(f, g) ↦ u"
    assert "order 2, coefficients at the stored points on Interval(0, 1), " in told["condition f"]
    assert told["condition g"] == "u on Interval(0, 1).boundary, 2 points"
    assert told["kernel"].startswith("Gaussian(lengthscale=")
    assert "seed 0" in told["learned"]
    assert ko.__version__ in told["written"]
    json.dumps(told)

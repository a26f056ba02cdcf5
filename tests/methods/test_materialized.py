"""A streamed operator whose rows are held again, in memory or in a file: the same answers, and all others do."""

import dataclasses
import os
import subprocess
import sys

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import kernop as ko
from kernop.basics import checks
from kernop.basics.errors import ArgumentError, ArgumentTypeError, FileError, MemoryLimitError, SingularGramError

LINE = ko.Interval(0, 1)
PROBLEM = ko.Problem(ko.Equation(lambda u: -ko.laplacian(u) + 2.0 * u, on=LINE), ko.Dirichlet(on=LINE.boundary))
KERNEL, CENTRES = ko.Gaussian([0.3]), np.linspace(-0.2, 1.2, 12)[:, None]
POINTS = {"f": LINE.sample(60), "g": LINE.boundary.sample(2)}
X = np.linspace(0, 1, 30)[:, None]
#: Options of Subspace, λ, and how far two computations of the same u may be apart.
CASES = {
    "qr": ({}, 1e-4, 1e-11),
    "no λ": ({}, None, 1e-9),
    "normal": ({"solver": "normal"}, 1e-4, 1e-9),
    "rkhs": ({"penalty": "rkhs"}, 1e-5, 1e-10),
}


def learn(name, batch=None, **more):
    options, ridge, _ = CASES[name]
    method = ko.Subspace(CENTRES, batch=batch, **options)
    return ko.learn(PROBLEM, **{"points": POINTS, "kernel": KERNEL, "regularization": ridge, "method": method, **more})


def apart(one, other):
    return np.linalg.norm(one - other) / np.linalg.norm(other)


def noise(columns=(), seed=0):
    rng = np.random.default_rng(seed)
    return [rng.normal(size=(len(points), *columns)) for points in POINTS.values()]


@pytest.fixture(scope="module", params=list(CASES))
def name(request):
    return request.param


@pytest.fixture(scope="module")
def streamed(name):
    return learn(name, batch=9)


@pytest.fixture(scope="module", params=["memory", "file"])
def operator(request, streamed, tmp_path_factory):
    path = None if request.param == "memory" else tmp_path_factory.mktemp("held") / "q.npy"
    return streamed.materialize(path)


@pytest.fixture(scope="module")
def held(name, streamed):
    return learn(name, weights=streamed.weights)


class TestAnswers:
    @pytest.mark.filterwarnings("ignore::kernop.errors.AccuracyWarning")
    def test_the_same_as_streamed_and_as_held(self, name, operator, streamed, held):
        for data in (noise(), noise((3,)), (lambda x: jnp.sin(5 * x[..., 0]), 1.0)):
            expected = held(*data)(X)
            assert apart(operator(*data)(X), expected) < CASES[name][-1]
            assert apart(streamed(*data)(X), expected) < CASES[name][-1]

    @pytest.mark.filterwarnings("ignore::kernop.errors.AccuracyWarning")
    def test_fixed_points_and_basis(self, name, operator, held):
        data = noise((2,))
        expected = held(*data)(X)
        assert apart(operator.on(X)(*data), expected) < CASES[name][-1]
        assert apart(operator.basis(X) @ np.concatenate(data), expected) < CASES[name][-1]
        slope = held.on(X, lambda u: ko.partial(u, 0))(*data)
        assert apart(operator.on(X, lambda u: ko.partial(u, 0))(*data), slope) < 10 * CASES[name][-1]
        with jax.enable_x64(True):
            assert apart(np.asarray(jax.jit(operator.on(X))(*map(jnp.asarray, data))), expected) < CASES[name][-1]

    def test_std(self, name, operator, held):
        if CASES[name][1] is None:
            with pytest.raises(ArgumentError, match=r"std: got .*without regularisation"):
                operator.std(X)
        else:
            np.testing.assert_allclose(operator.std(X), held.std(X), rtol=1e-6)

    def test_what_it_says_of_itself(self, operator, streamed):
        assert type(operator) is ko.SolutionOperator
        assert operator.n_points == 62
        assert operator.weights == streamed.weights
        assert operator.regularization == streamed.regularization
        for key, points in POINTS.items():
            np.testing.assert_array_equal(operator.points[key].x, points.x)


class TestFile:
    def test_holds_the_rows(self, tmp_path):
        t = learn("qr", batch=9).materialize(str(tmp_path / "q.npy"))
        assert isinstance(t.factorisation.q, np.memmap)
        q = np.load(tmp_path / "q.npy")
        assert q.shape == (62, 12)
        # Qᵀ Q = I − λ R⁻ᵀ R⁻¹: a contraction.
        assert np.linalg.norm(q, 2) < 1.0 + 1e-12

    @pytest.mark.filterwarnings("ignore::kernop.errors.AccuracyWarning")
    def test_after_an_update(self, tmp_path):
        t = learn("qr", batch=9).update({"f": LINE.sample(7, seed=5)})
        data = [np.arange(67.0), np.array([1.0, -1.0])]
        assert apart(t.materialize(tmp_path / "q.npy")(*data)(X), t(*data)(X)) < 1e-11

    def test_batches_in_another_order_of_conditions(self):
        """Batches without some of the conditions: rows go to where the conditions say, not where they came."""

        def take(k):
            return {"g": POINTS["g"]} if k == 1 else {"f": POINTS["f"][:20] if k == 0 else POINTS["f"][20:]}

        t = learn("qr", batch=9, points=ko.Batches(3, take))
        data = noise()
        expected = learn("qr", weights=t.weights)(*data)(X)
        assert apart(t.materialize()(*data)(X), expected) < 1e-11
        assert apart(t(*data)(X), expected) < 1e-11

    def test_a_second_one_at_the_same_path(self, tmp_path):
        """The first goes on with the file that it had."""
        path, data = tmp_path / "q.npy", noise()
        one = learn("qr", batch=9).materialize(path)
        before = one(*data)(X)
        other = learn("qr", batch=9, points={"f": LINE.sample(20), "g": POINTS["g"]}).materialize(path)
        assert np.load(path).shape == (22, 12)
        assert other.factorisation.q.filename == str(path)
        np.testing.assert_array_equal(one(*data)(X), before)
        assert [entry.name for entry in tmp_path.iterdir()] == ["q.npy"]

    def test_a_pass_that_fails_leaves_the_old_file(self, tmp_path):
        path, fails = tmp_path / "q.npy", []

        def take(k):
            if fails and k == 1:
                raise FileNotFoundError("of the user")
            return {"f": POINTS["f"][20 * k : 20 * k + 20], "g": POINTS["g"]}

        t = learn("qr", batch=9, points=ko.Batches(3, take))
        path.write_text("old")
        fails.append(True)
        with pytest.raises(FileNotFoundError, match="of the user"):
            t.materialize(path)
        assert path.read_text() == "old"
        assert [entry.name for entry in tmp_path.iterdir()] == ["q.npy"]

    def test_a_link_is_followed(self, tmp_path):
        (tmp_path / "link").symlink_to(tmp_path / "q.npy")
        learn("qr", batch=9).materialize(tmp_path / "link")
        assert (tmp_path / "link").is_symlink()
        assert np.load(tmp_path / "q.npy").shape == (62, 12)

    def test_what_is_no_file(self, tmp_path):
        os.mkfifo(tmp_path / "fifo")
        for place in ("/dev/null", "/dev/full", tmp_path / "fifo", tmp_path):
            with pytest.raises(FileError, match=r"path: got .*which cannot be written \(not a file but a "):
                learn("qr", batch=9).materialize(place)


FULL = """
import os, resource, sys
import numpy as np, kernop as ko

folder, limit = sys.argv[1], int(sys.argv[2])
line = ko.Interval(0, 1)
problem = ko.Problem(ko.Equation(lambda u: -ko.laplacian(u), on=line), ko.Dirichlet(on=line.boundary))
t = ko.learn(problem, points=4000, kernel=ko.Gaussian([0.3]), method=ko.Subspace(60, batch=500))
if limit:
    resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))
try:
    t.materialize(os.path.join(folder, "q.npy"))
except ko.errors.FileError as error:
    print(error)
print(os.listdir(folder))
"""


class TestFullDisk:
    """Q has 1.9 MB, where there is 1 MB."""

    def check(self, command, why):
        found = subprocess.run(command, capture_output=True, text=True, timeout=100, check=False)
        assert found.returncode == 0, found.stderr[-500:]  # to write to a map of a full disk would kill the process
        error, left = found.stdout.splitlines()
        assert error.startswith("path: got '")
        assert error.endswith(f"{why}); give a path in a folder with room.")
        assert left == "[]"

    def test_a_small_disk(self, tmp_path):
        mount = ["unshare", "-rm", "sh", "-c", 'mount -t tmpfs -o size=1m none "$1" && shift && exec "$@"', "sh"]
        try:
            subprocess.run([*mount, tmp_path, "true"], capture_output=True, check=True)
        except (OSError, subprocess.CalledProcessError):
            pytest.skip("no disk can be mounted here")
        self.check([*mount, tmp_path, sys.executable, "-c", FULL, tmp_path, "0"], "No space left on device")

    @pytest.mark.skipif(os.name != "posix", reason="POSIX")
    def test_a_limit_of_the_size_of_files(self, tmp_path):
        self.check([sys.executable, "-c", FULL, tmp_path, "1000000"], "File too large")


class TestErrors:
    @pytest.fixture
    def plain(self):
        return learn("qr", batch=9)

    def test_a_path_that_cannot_be_written(self, plain, tmp_path):
        with pytest.raises(FileError, match=r"path: got '.*missing/q\.npy', which cannot be written"):
            plain.materialize(tmp_path / "missing" / "q.npy")
        with pytest.raises(FileError, match=r"path: got .*which cannot be written"):
            plain.materialize(tmp_path)

    def test_what_is_no_path(self, plain):
        with pytest.raises(ArgumentTypeError, match="path: got 3; give the path of a file"):
            plain.materialize(3)

    def test_rows_that_do_not_fit(self, plain, monkeypatch):
        monkeypatch.setattr(checks, "SMALL", 0)
        monkeypatch.setattr(checks, "available_memory", lambda: 5000)
        with pytest.raises(MemoryLimitError, match=r"T: got 62 rows of 12.*materialize\(path\)"):
            plain.materialize()

    def test_points_cannot_come_or_leave(self, plain):
        t = plain.materialize()
        for act in (lambda: t.update({"f": [[0.5]]}), lambda: t.remove({"f": [0]})):
            with pytest.raises(ArgumentError, match="T: got an operator that cannot be"):
                act()

    def test_a_triangle_that_is_singular(self, plain, tmp_path):
        upper = plain.factorisation.upper.copy(order="F")
        upper[-1, -1] = 0.0
        singular = dataclasses.replace(plain.factorisation, upper=upper, penalty=0.0)
        for path in (None, tmp_path / "q.npy"):
            with pytest.raises(SingularGramError, match="T: got an operator whose triangle is singular"):
                singular.materialized(path)
        assert not any(tmp_path.iterdir())

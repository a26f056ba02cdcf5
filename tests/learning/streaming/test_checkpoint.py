"""Passes that are interrupted: they go on from their checkpoint, to the same bits; other checkpoints are refused."""

import os
import signal
import subprocess
import sys
import time

import jax.numpy as jnp
import numpy as np
import pytest

import kernop as ko
from kernop.basics import storage
from kernop.basics.errors import ArgumentError, ArgumentTypeError, FileError, NonFiniteError
from kernop.learning.streaming.checkpoint import CheckpointFile
from kernop.learning.streaming.passes import in_order
from kernop.methods.regression import Regression

LINE = ko.Interval(0, 1)
CENTRES = np.linspace(-0.2, 1.2, 9)[:, None]
X = np.linspace(0, 1, 30)[:, None]
F, G = LINE.sample(60), LINE.boundary.sample(2)
NUMBER = 6


def problem(op=lambda u: -ko.laplacian(u) + 2.0 * u, name="g"):
    return ko.Problem(ko.Equation(op, on=LINE), ko.Dirichlet(on=LINE.boundary, name=name))


PROBLEM = problem()


def take(k):
    return {"f": F[10 * k : 10 * k + 10], **({"g": G} if k in (0, 3) else {})}


def wave(x):
    return jnp.sin(3 * x[..., 0])


def learn(checkpoint=None, solver="qr", **more):
    given = {
        "problem": PROBLEM,
        "points": ko.Batches(NUMBER, take),
        "kernel": ko.Gaussian([0.3]),
        "method": ko.Subspace(CENTRES, solver=solver, batch=10),
        "inputs": [(wave, 1.0), (2.0, wave)],
        "weights": {"f": 0.01},
        "regularization": 1e-6,
    }
    return ko.learn(checkpoint=checkpoint, **{**given, **more})


class PowerCutError(Exception):
    """No more electricity."""


class Cut:
    """Batches; from the look at the first three on, batch ``at`` fails, once."""

    def __init__(self, at):
        self.at, self.taken, self.powered = at, [], False

    def __call__(self, k):
        self.taken.append(k)
        if k == self.at and len(self.taken) > 3 and not self.powered:
            self.powered = True
            raise PowerCutError
        return take(k)


@pytest.fixture
def path(tmp_path):
    return tmp_path / "pass.ckpt"


@pytest.fixture
def added(monkeypatch):
    """The batches of which rows are made, in a pass."""
    batches, add = [], Regression.add

    def noted(regression, accumulator, rows, digest):
        batches.append(rows)
        add(regression, accumulator, rows, digest)

    monkeypatch.setattr(Regression, "add", noted)
    return batches


def interrupt(path, at=4, **more):
    """A checkpoint after ``at`` batches; what was asked for, to be continued."""
    cut = Cut(at)
    points = ko.Batches(NUMBER, cut)
    with pytest.raises(PowerCutError):
        learn(ko.Checkpoint(path, every=0), points=points, **more)
    cut.taken.clear()
    return points, cut.taken


def same_bits(one, other):
    np.testing.assert_array_equal(np.triu(one.factorisation.upper), np.triu(other.factorisation.upper))
    for u, v in zip(one.solutions, other.solutions, strict=True):
        np.testing.assert_array_equal(u.coefficients, v.coefficients)


class TestGoingOn:
    @pytest.mark.parametrize("solver", ["qr", "normal"])
    @pytest.mark.parametrize("at", [1, 3, 5])
    def test_to_the_same_bits_without_doing_work_again(self, path, solver, at, added):
        points, taken = interrupt(path, at, solver=solver)
        assert path.is_file()
        added.clear()
        t = learn(ko.Checkpoint(path, every=0), points=points, solver=solver)
        # A look at three batches, for the choices and for the identity of the pass; then all points once.
        assert taken == [0, 2, 5, *range(NUMBER)]
        assert len(added) == NUMBER - at  # rows of what is left only
        same_bits(t, learn(solver=solver))
        assert t.n_points == 64
        assert not path.exists()
        assert list(path.parent.iterdir()) == []

    def test_a_path_is_enough(self, path):
        points, _ = interrupt(path)
        same_bits(learn(str(path), points=points), learn())
        assert not path.exists()

    @pytest.mark.filterwarnings("ignore::kernop.errors.AccuracyWarning")
    def test_without_inputs(self, path):
        points, _ = interrupt(path, inputs=None)
        t = learn(path, points=points, inputs=None)
        same_bits(t, learn(inputs=None))
        np.testing.assert_array_equal(t(wave, 1.0)(X), learn(inputs=None)(wave, 1.0)(X))

    def test_iterators(self, path):
        def batches(end):
            for k in range(NUMBER):
                if k == end:
                    raise PowerCutError
                yield take(k)

        with pytest.raises(PowerCutError):
            learn(ko.Checkpoint(path, every=0), points=batches(4))
        same_bits(learn(path, points=batches(None)), learn(points=batches(None)))

    def test_arrays(self, path, monkeypatch):
        points, done = {"f": F, "g": G}, []
        write = storage.write

        def cut(*given):
            write(*given)
            done.append(given)
            if len(done) == 3:
                raise PowerCutError

        monkeypatch.setattr(storage, "write", cut)
        with pytest.raises(PowerCutError):
            learn(ko.Checkpoint(path, every=0), points=points)
        monkeypatch.undo()
        same_bits(learn(path, points=points), learn(points=points))

    def test_interrupted_again_and_again(self, path):
        for at in (2, 3, 5):
            interrupt(path, at)
        same_bits(learn(path), learn())

    def test_lambda_may_differ(self, path):
        points, _ = interrupt(path)
        same_bits(learn(path, points=points, regularization=1e-2), learn(regularization=1e-2))

    def test_a_kernel_that_is_a_function(self, path):
        """Of another address, as in another process."""

        def kernel():
            return lambda x, y: jnp.exp(-jnp.sum((x - y) ** 2) / 0.09)

        points, taken = interrupt(path, kernel=kernel())
        same_bits(learn(path, points=points, kernel=kernel()), learn(kernel=kernel()))
        assert taken[-2:] == [4, 5]

    def test_nothing_is_written_before_its_time(self, path):
        with pytest.raises(PowerCutError):
            learn(ko.Checkpoint(path, every=1000), points=ko.Batches(NUMBER, Cut(4)))
        assert list(path.parent.iterdir()) == []

    def test_a_pass_that_cannot_be_solved_leaves_its_checkpoint(self, path, added):
        """All rows are in: another λ is found without passing again."""
        twice = {"method": ko.Subspace(np.concatenate([CENTRES, CENTRES + 1e-12]), solver="normal", batch=10)}
        with pytest.raises(ko.errors.SingularGramError):
            learn(ko.Checkpoint(path, every=0), regularization=0.0, **twice)
        added.clear()
        learn(path, **twice)
        assert added == []

    def test_a_link_is_followed_and_stays(self, path, tmp_path):
        (tmp_path / "there").mkdir()
        link, target = tmp_path / "link", tmp_path / "there" / "pass.ckpt"
        link.symlink_to(target)
        points, _ = interrupt(link)
        assert link.is_symlink()
        assert target.is_file()
        same_bits(learn(link, points=points), learn())
        assert link.is_symlink()
        assert list(target.parent.iterdir()) == []

    def test_a_checkpoint_that_cannot_be_removed_costs_nothing(self, path, monkeypatch):
        def refused(*_, **__):
            raise PermissionError(13, "Permission denied")

        monkeypatch.setattr("pathlib.Path.unlink", refused)
        with pytest.warns(UserWarning, match=r"checkpoint: .*pass\.ckpt' cannot be removed"):
            t = learn(ko.Checkpoint(path, every=0))
        same_bits(t, learn())

    def test_a_folder_that_does_not_exist_is_made(self, tmp_path):
        path = tmp_path / "new" / "folder" / "pass.ckpt"
        points, _ = interrupt(path)
        same_bits(learn(path, points=points), learn())


def shifted(k):
    return {name: ko.Points(0.999 * p.x) if name == "f" else p for name, p in take(k).items()}


def last_shifted(k):
    return shifted(k) if k == NUMBER - 1 else take(k)


def turned(k):
    return {**take(k), "g": ko.Points(G.x, -G.normal)}


def swapped(k):
    return {**take(k), "f": take(k)["f"][::-1]}


def without(k):
    return {"f": take(k)["f"]}


def changed_batch(at, change):
    return lambda k: change(k) if k == at else take(k)


CHANGES = {
    "equation": {"problem": problem(lambda u: -ko.laplacian(u) + 2.001 * u)},
    "name": {"problem": problem(name="h"), "points": ko.Batches(NUMBER, lambda k: {"f": take(k)["f"], "h": G})},
    "points": {"points": ko.Batches(NUMBER, shifted)},
    "points of the last batch": {"points": ko.Batches(NUMBER, last_shifted)},
    "points of a batch that none looks at twice": {"points": ko.Batches(NUMBER, changed_batch(1, shifted))},
    "normals of a batch": {"points": ko.Batches(NUMBER, changed_batch(3, turned))},
    "order of two points": {"points": ko.Batches(NUMBER, changed_batch(1, swapped))},
    "a batch without a condition": {"points": ko.Batches(NUMBER, changed_batch(3, without))},
    "an iterator of other points": {"points": map(changed_batch(1, shifted), range(NUMBER))},
    "an iterator that ends too early": {"points": map(take, range(2))},
    "number of batches": {"points": ko.Batches(NUMBER + 1, lambda k: take(min(k, 5)))},
    "centres": {"method": ko.Subspace(CENTRES + 1e-3, batch=10)},
    "number of centres": {"method": ko.Subspace(CENTRES[1:], batch=10)},
    "envelope": {"method": ko.Subspace(CENTRES, envelope=lambda x: 1.0 + x[..., 0], batch=10)},
    "solver": {"solver": "normal"},
    "lengthscale": {"kernel": ko.Gaussian([0.31])},
    "kernel": {"kernel": ko.InverseMultiquadric([0.3])},
    "weights": {"weights": {"f": 0.011}},
    "input": {"inputs": [(wave, 1.0), (2.001, wave)]},
    "order of inputs": {"inputs": [(2.0, wave), (wave, 1.0)]},
    "fewer inputs": {"inputs": [(wave, 1.0)]},
    "no inputs": {"inputs": None},
}


def kept_with(**changes):
    return lambda header, arrays: header["kept"][0].update(changes)


def array_with(name, change):
    def apply(header, arrays):
        arrays[name] = change(arrays[name])

    return apply


def spoilt(value):
    def change(array):
        array = array.copy()
        array.flat[0] = value
        return array

    return change


TRIANGLE = "kept/0/packed"
CRAFTED = {
    **{f"no {key}": (lambda header, arrays, key=key: header.pop(key)) for key in ("signature", "kept", "identity")},
    **{
        f"no {key}": (lambda header, arrays, key=key: header["kept"][0].pop(key))
        for key in ("first", "batches", "rows", "digest", "packed")
    },
    **{f"no array {key}": (lambda header, arrays, key=key: arrays.pop(key)) for key in ("identity", TRIANGLE)},
    **{f"batches {value}": kept_with(batches=value) for value in (0, -1, 10**30, 7, 3, "four", 4.0, None, [4], True)},
    **{f"rows {value}": kept_with(rows=value) for value in (0, -42, 10**30, 41, "many", 42.5, {}, False)},
    **{f"digest {value}": kept_with(digest=value) for value in ("", "0" * 64, 3, ["a"], "\n", 1 << 128)},
    **{f"first {value}": kept_with(first=value) for value in (1, -1, "0", None, 10**30)},
    "signature a number": lambda header, arrays: header.update(signature=3),
    "twice": lambda header, arrays: header["kept"].append(header["kept"][0]),
    "a longer triangle": array_with(TRIANGLE, lambda a: np.append(a, 1.0)),
    "a shorter triangle": array_with(TRIANGLE, lambda a: a[1:]),
    "a triangle by rows": array_with(TRIANGLE, lambda a: a[None]),
    "a triangle of whole numbers": array_with(TRIANGLE, lambda a: a.astype(np.int64)),
    **{
        f"{value} in {key}": array_with(key, spoilt(value))
        for value in (np.nan, np.inf, 1e308)
        for key in (TRIANGLE, "identity")
    },
    "a longer identity": array_with("identity", lambda a: np.append(a, 1.0)),
    "a square identity": array_with("identity", lambda a: a[:, None]),
    "an array too many": lambda header, arrays: arrays.update(more=np.ones(2)),
    "nothing": lambda header, arrays: (header.clear(), arrays.clear()),
}


class TestRefusals:
    @pytest.mark.parametrize("changes", CHANGES.values(), ids=CHANGES.keys())
    def test_of_another_pass(self, path, changes):
        interrupt(path)
        before = path.read_bytes()
        message = (
            r"checkpoint: got '.*pass\.ckpt', a checkpoint of another pass; delete it to start anew, or give the same"
        )
        with pytest.raises(FileError, match=message):
            learn(path, **changes)
        assert path.read_bytes() == before

    def test_a_kernel_of_the_same_name(self, path):
        interrupt(path, kernel=lambda x, y: jnp.exp(-jnp.sum((x - y) ** 2) / 0.09))
        with pytest.raises(FileError, match="a checkpoint of another pass"):
            learn(path, kernel=lambda x, y: jnp.exp(-jnp.sum((x - y) ** 2) / 0.1))

    def test_cut_short_at_every_byte(self, path):
        given = {"inputs": None, "method": ko.Subspace(CENTRES[:3], batch=2), "points": {"f": F[:8], "g": G}}
        regression = learn(**given).factorisation.regression
        file = CheckpointFile(ko.Checkpoint(path, every=0), regression)
        in_order(regression, file=file)
        whole = path.read_bytes()
        for size in range(len(whole)):
            path.write_bytes(whole[:size])
            with pytest.raises(FileError, match=r"checkpoint: got .*damaged"):
                file.read()
        path.write_bytes(whole[: len(whole) // 2])
        with pytest.raises(FileError, match=r"checkpoint: got .*damaged"):
            learn(path, **given)
        path.write_bytes(whole)
        assert [kept.batches for kept in file.read()] == [5]

    def test_damaged_or_foreign(self, path):
        interrupt(path)
        whole = bytearray(path.read_bytes())
        whole[-100] ^= 1
        path.write_bytes(whole)
        with pytest.raises(FileError, match=r"checkpoint: got .*digest does not match; write it again"):
            learn(path)
        path.write_text("a letter")
        with pytest.raises(FileError, match=r"checkpoint: got .*not of kernop"):
            learn(path)
        assert path.read_text() == "a letter"
        storage.write(path, "operator", {}, {})
        with pytest.raises(FileError, match=r"checkpoint: got .*which holds 'operator', not 'checkpoint'"):
            learn(path)

    @pytest.mark.parametrize("name", CRAFTED)
    def test_contents_that_kernop_does_not_write(self, path, name):
        """Behind a right digest."""
        interrupt(path)
        header, arrays = storage.read(path, "checkpoint")
        CRAFTED[name](header, arrays)
        storage.write(path, "checkpoint", header, arrays)
        with pytest.raises(FileError, match=r"checkpoint: got '.*pass\.ckpt', .*; delete it to start anew"):
            learn(path)

    def test_what_is_no_file(self, tmp_path):
        os.mkfifo(tmp_path / "fifo")
        for place in (tmp_path / "fifo", "/dev/null", tmp_path):
            with pytest.raises(FileError, match=r"checkpoint: got .*which cannot be written \(not a file but a "):
                learn(place)

    def test_places(self, tmp_path):
        cut = Cut(None)
        with pytest.raises(
            FileError, match=r"checkpoint: got .*which cannot be written \(not a file but a directory\)"
        ):
            learn(tmp_path, points=ko.Batches(NUMBER, cut))
        (tmp_path / "file").write_text("in the way")
        with pytest.raises(FileError, match=r"checkpoint: got .*below', which cannot be written"):
            learn(tmp_path / "file" / "below", points=ko.Batches(NUMBER, cut))
        assert 1 not in cut.taken  # before the pass

    @pytest.mark.parametrize(
        ("given", "error", "message"),
        [
            ({"path": 3}, ArgumentTypeError, "checkpoint: got 3; give the path of a file"),
            ({"path": "x", "every": -1.0}, ArgumentError, "every: got -1; give a number that is at least 0"),
            ({"path": "x", "every": np.nan}, NonFiniteError, "every: got nan"),
            ({"path": "x", "every": "hour"}, ArgumentTypeError, "every: got 'hour'"),
        ],
    )
    def test_arguments(self, given, error, message):
        with pytest.raises(error, match=message):
            ko.Checkpoint(**given)


SCRIPT = """
import sys, time
import jax.numpy as jnp, numpy as np, kernop as ko
from kernop.methods.regression import Regression

def run(path, pause=0.0):
    line = ko.Interval(0, 1)
    problem = ko.Problem(ko.Equation(lambda u: -ko.laplacian(u) + 2.0 * u, on=line), ko.Dirichlet(on=line.boundary))
    f, g = line.sample(600), line.boundary.sample(2)

    def take(k):
        time.sleep(pause)
        return {"f": f[10 * k : 10 * k + 10], "g": g}

    rows, add = [], Regression.add
    Regression.add = lambda *given: (rows.append(print("row", flush=True)), add(*given))
    try:
        t = ko.learn(
            problem, points=ko.Batches(60, take), kernel=ko.Gaussian([0.3]),
            inputs=[(lambda x: jnp.sin(x[..., 0]), 1.0)], checkpoint=ko.Checkpoint(path, every=0),
            method=ko.Subspace(np.linspace(-0.2, 1.2, 9)[:, None], batch=10),
        )
    finally:
        Regression.add = add
    return t.solutions[0].coefficients, len(rows)

if __name__ == "__main__":
    run(sys.argv[1], 0.05)
"""


def test_a_process_that_is_killed(tmp_path):
    """SIGKILL in the middle of a pass; another process goes on, and ends where one without interruption ends."""
    path, other = tmp_path / "pass.ckpt", tmp_path / "other.ckpt"
    killed = subprocess.Popen([sys.executable, "-c", SCRIPT, path], stdout=subprocess.PIPE, text=True)
    try:
        waited = time.monotonic()
        while not path.exists():
            assert killed.poll() is None
            assert time.monotonic() - waited < 60
            time.sleep(0.01)
        time.sleep(0.5)
        killed.send_signal(signal.SIGKILL)
        begun = killed.communicate()[0].count("row")
    finally:
        killed.kill()
    assert killed.returncode == -signal.SIGKILL
    assert path.exists()
    here = {"__name__": "here"}
    exec(SCRIPT, here)
    found, rows = here["run"](path)
    expected, _ = here["run"](other)
    np.testing.assert_array_equal(found, expected)
    assert found.size == 9
    # What the killed one did is not done again, but for the batch in which it was killed.
    assert rows in (60 - begun, 61 - begun)
    assert not any(tmp_path.glob("*.ckpt"))

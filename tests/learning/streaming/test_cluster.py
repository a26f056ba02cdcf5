"""Passes on real worker processes: the same operator, however many there are and whatever becomes of them."""

import importlib
import os
import signal
import subprocess
import sys
import threading
import time
from dataclasses import astuple
from functools import partial

import cloudpickle
import jax.numpy as jnp
import numpy as np
import pytest
from distributed import Client, LocalCluster

import kernop as ko
from kernop.basics import storage
from kernop.basics.errors import (
    ArgumentError,
    ArgumentTypeError,
    ClusterError,
    FileError,
    NonFiniteError,
    OutsideDomainError,
)
from kernop.basics.versions import versions
from kernop.learning.streaming import cluster
from kernop.learning.streaming.cluster import Workers, preferred
from kernop.learning.streaming.home import chunks_of, merged
from kernop.learning.streaming.sending import check_workers
from kernop.methods.accumulators import NormalSums, Triangle
from kernop.methods.regression import Regression

# The workers have no such module: what is in it travels as code.
cloudpickle.register_pickle_by_value(sys.modules[__name__])

LINE = ko.Interval(0, 1)
PROBLEM = ko.Problem(
    ko.Equation(lambda u: -ko.div((lambda x: 1.0 + x[..., 0]) * ko.grad(u)), on=LINE), ko.Dirichlet(on=LINE.boundary)
)
CENTRES = np.linspace(-0.2, 1.2, 12)[:, None]
POINTS = {"f": LINE.sample(600), "g": LINE.boundary.sample(2)}
NUMBER = 20
X = np.linspace(0, 1, 40)[:, None]
HERE = os.getpid()


def wave(x):
    return jnp.sin(5.0 * x[..., 0])


INPUTS = [(wave, 1.0), (2.0, wave)]


def take(k):
    return {"f": POINTS["f"][30 * k : 30 * k + 30], "g": POINTS["g"]}


def learn(client=None, solver="qr", **more):
    given = {
        "points": POINTS,
        "kernel": ko.Gaussian([0.3]),
        "method": ko.Subspace(CENTRES, solver=solver, batch=31),
        "inputs": INPUTS,
        "regularization": 1e-8,
    }
    return ko.learn(PROBLEM, client=client, **{**given, **more})


def local(**more):
    return LocalCluster(threads_per_worker=1, dashboard_address=":0", **more)


@pytest.fixture(scope="module")
def client():
    with local(n_workers=2, processes=True) as workers, Client(workers) as connected:
        yield connected


@pytest.fixture(scope="module")
def alone():
    """A cluster of one worker."""
    with local(n_workers=1, processes=False) as worker, Client(worker) as connected:
        yield connected


@pytest.fixture(scope="module")
def spread(client):
    return learn(client)


@pytest.fixture(scope="module")
def single():
    return learn()


def apart(one, other):
    return np.linalg.norm(one - other) / np.linalg.norm(other)


def same_bits(one, other):
    np.testing.assert_array_equal(np.triu(one.factorisation.upper), np.triu(other.factorisation.upper))
    for u, v in zip(one.solutions, other.solutions, strict=True):
        np.testing.assert_array_equal(u.coefficients, v.coefficients)


@pytest.mark.filterwarnings("ignore::kernop.AccuracyWarning")
class TestTheSameOperator:
    def test_inputs_in_advance(self, spread, single):
        assert spread.n_points == single.n_points == 602
        assert spread.weights == single.weights
        assert spread.regularization == single.regularization
        same_bits(spread, single)

    def test_later_inputs(self, spread, single):
        rng = np.random.default_rng(0)
        values = rng.normal(size=(600, 3)), rng.normal(size=(2, 3))
        for u, v in zip(spread.solve([*INPUTS, values]), single.solve([*INPUTS, values]), strict=True):
            np.testing.assert_array_equal(u(X), v(X))
        np.testing.assert_array_equal(spread(wave, 1.0)(X), single(wave, 1.0)(X))

    def test_a_system(self, client):
        """Two unknowns that are coupled, at enough points for several chunks."""
        problem = ko.Problem(
            ko.Equation(lambda u, v: -ko.laplacian(u) + v, on=LINE, name="f"),
            ko.Equation(lambda u, v: -ko.laplacian(v) + 2.0 * v - u, on=LINE, name="g"),
            ko.Dirichlet(on=LINE.boundary, of="u", name="a"),
            ko.Dirichlet(on=LINE.boundary, of="v", name="b"),
            unknowns={"u": 1, "v": 1},
        )
        given = {"points": 1200, "method": ko.Subspace(10, batch=40), "inputs": [(wave, 1.0, 0.0, wave)]}
        one, two = ko.learn(problem, **given), ko.learn(problem, client=client, **given)
        assert len(chunks_of(two.factorisation.regression)) > 2
        same_bits(one, two)
        for found, expected in zip(two(2.0, wave, wave, 1.0)(X), one(2.0, wave, wave, 1.0)(X), strict=True):
            np.testing.assert_array_equal(found, expected)

    def test_one_worker_or_two(self, alone, spread):
        one = learn(alone)
        same_bits(one, spread)
        np.testing.assert_array_equal(one(wave, 3.0)(X), spread(wave, 3.0)(X))

    def test_normal_equations(self, client, alone):
        two = learn(client, "normal")
        same_bits(two, learn(alone, "normal"))
        for u, v in zip(two.solutions, learn(solver="normal").solutions, strict=True):
            assert apart(u(X), v(X)) < 1e-8
        assert apart(two(wave, 1.0)(X), two.solutions[0](X)) < 1e-8

    def test_the_default_regularization(self, alone):
        """None is given: then corrections of later inputs need several passes."""
        found, expected = learn(alone, regularization=None), learn(regularization=None)
        assert found.regularization == pytest.approx(expected.regularization, rel=1e-12)
        assert apart(found.solutions[0](X), expected.solutions[0](X)) < 1e-10
        assert apart(found(wave, 1.0)(X), expected.solutions[0](X)) < 1e-10

    def test_home_and_away(self, client, spread, single):
        home = spread.with_client(None)
        np.testing.assert_array_equal(home.factorisation.upper, spread.factorisation.upper)
        assert apart(home(wave, 3.0)(X), single(wave, 3.0)(X)) < 1e-10
        assert apart(single.with_client(client)(wave, 3.0)(X), single(wave, 3.0)(X)) < 1e-10

    def test_update_and_materialize(self, spread, single):
        more = {"f": LINE.sample(30, seed=4)}
        one, expected = spread.update(more), single.update(more)(wave, 3.0)(X)
        assert apart(one(wave, 3.0)(X), expected) < 1e-10
        assert apart(one.materialize()(wave, 3.0)(X), expected) < 1e-10

    def test_batches_and_arrays_on_disk(self, client, spread, tmp_path):
        np.save(tmp_path / "f.npy", POINTS["f"].x)
        on_disk = {"f": np.load(tmp_path / "f.npy", mmap_mode="r"), "g": POINTS["g"]}
        same_bits(learn(client, points=on_disk), spread)
        made = ko.Batches(NUMBER, take)
        for u, v in zip(learn(client, points=made).solutions, learn(points=made).solutions, strict=True):
            assert apart(u(X), v(X)) < 1e-10

    @pytest.mark.parametrize("number", [1, 2, 5])
    def test_few_batches(self, alone, number):
        """Fewer than chunks, and an odd number of them to be merged."""
        found, expected = (learn(c, points=ko.Batches(number, take)) for c in (alone, None))
        assert found.n_points == expected.n_points == 32 * number
        assert apart(found.solutions[0](X), expected.solutions[0](X)) < 1e-8

    def test_nothing_stays_on_the_cluster(self, client):
        scheduler = client.cluster.scheduler
        before = set(scheduler.tasks)  # of tests that failed there on purpose: their tracebacks hold them
        learn(client)(wave, 1.0)
        waited = time.monotonic()
        while set(scheduler.tasks) - before and time.monotonic() - waited < 10.0:
            time.sleep(0.05)
        assert not set(scheduler.tasks) - before

    def test_progress(self, alone, capsys):
        learn(alone, progress=True)
        assert "chunks" in capsys.readouterr().out


@pytest.fixture(scope="module")
def alike(alone):
    """An operator on one worker. A pass has eight tasks: the regression is sent, four chunks, three mergers."""
    return learn(alone)


@pytest.mark.filterwarnings("ignore::kernop.AccuracyWarning")
class TestALostTask:
    """The scheduler has lost a task: nobody works on it, and it stays pending."""

    @pytest.fixture
    def losing(self, alone, monkeypatch):
        """The task of this number is one that no worker may do, until it is submitted again."""
        submit, asked = alone.submit, []

        def lose(number):
            def submitted(function, *given, **how):
                asked.append(function.__name__)
                lost = {"workers": ["nobody"], "allow_other_workers": False} if len(asked) == number else {}
                return submit(function, *given, **how | lost)

            asked.clear()
            monkeypatch.setattr(alone, "submit", submitted)
            return asked

        monkeypatch.setattr(cluster, "PATIENCE", 0.3)
        return lose

    @pytest.mark.parametrize("number", [1, 3, 6, 8], ids=["what is sent", "a chunk", "a merger", "the last merger"])
    def test_in_a_pass(self, alone, alike, losing, number):
        regression = alike.factorisation.regression
        expected, asked = Workers(alone).accumulate(regression), losing(number)
        found = Workers(alone).accumulate(regression)
        assert asked[:8] == ["unpickled", *["_accumulated"] * 4, *["merged"] * 3]
        assert asked[number - 1] in asked[8:]
        assert asked[-1] == "merged"
        np.testing.assert_array_equal(found.matrix, expected.matrix)

    @pytest.mark.parametrize("number", [1, 2])
    def test_in_moments_and_evaluations(self, alone, alike, losing, number):
        u = alike.solutions[0]
        asked = losing(number)
        np.testing.assert_allclose(cluster.evaluate(alone, u, X), u(X), rtol=1e-12)
        assert len(asked) > 2
        expected = alike(wave, 3.0)(X)
        losing(number)
        np.testing.assert_array_equal(alike(wave, 3.0)(X), expected)

    def test_in_a_pass_with_checkpoints(self, alone, alike, losing, tmp_path):
        asked = losing(4)
        again = learn(alone, checkpoint=ko.Checkpoint(tmp_path / "pass.ckpt", every=0))
        assert asked[3] == "_accumulated"
        same_bits(again, alike)

    def test_nothing_is_submitted_again_while_somebody_works(self, alone, alike, losing, monkeypatch):
        busy = [True, True, True]
        monkeypatch.setattr(alone, "call_stack", lambda: busy and busy.pop())
        asked = losing(3)
        Workers(alone).accumulate(alike.factorisation.regression)
        assert busy == []
        assert len(asked) > 8


class TestEvaluate:
    def test_parts_make_the_whole(self, client, single, monkeypatch):
        monkeypatch.setattr(cluster, "POINTS_AT_A_TIME", 16)
        u = single.solutions[0]
        np.testing.assert_allclose(cluster.evaluate(client, u, X), u(X), rtol=1e-12)
        slope = cluster.evaluate(client, u, X, lambda u: ko.partial(u, 0))
        np.testing.assert_allclose(slope, u.grad(X)[:, 0], rtol=1e-10, atol=1e-12)
        both = single(lambda x: jnp.stack([wave(x), 2.0 * wave(x)], axis=-1), 0.0)
        assert cluster.evaluate(client, both, X).shape == (40, 2)
        np.testing.assert_allclose(cluster.evaluate(client, both, X), both(X), rtol=1e-12)

    def test_points_outside(self, client, single):
        with pytest.raises(OutsideDomainError, match="x: got 1 of 1 points outside"):
            cluster.evaluate(client, single.solutions[0], [[2.0]])


@pytest.mark.parametrize("count", [1, 2, 7, 16])
def test_neighbours_prefer_the_same_worker(count):
    found = preferred({"b": 1, "a": 3}, count)
    assert found == sorted(found)
    assert len(found) == count
    assert abs(found.count("a") - 0.75 * count) <= 1


@pytest.mark.parametrize("kind", [Triangle, NormalSums])
def test_merging_leaves_both_as_they_were(kind):
    """Dask may need them again, when the worker that holds their merger is lost."""
    rng, parts = np.random.default_rng(0), [kind(4, 2), kind(4, 2)]
    for part in parts:
        for room in part.room(9):
            room[:] = rng.normal(size=room.shape)
        part.add()
    before = [part.solve(0.1) for part in parts]
    once, again = merged(*parts), merged(*parts)
    for one, other in zip([*before, once.solve(0.1)], [*(p.solve(0.1) for p in parts), again.solve(0.1)], strict=True):
        assert all(np.array_equal(a, b) for a, b in zip(astuple(one), astuple(other), strict=True))
    assert [part.rows for part in (*parts, once)] == [9, 9, 18]


def fails(k, error):
    """A batch that none looks at before the pass."""
    if k == 7:
        raise error
    return take(k)


class TestErrors:
    def test_of_kernop(self, client):
        x = POINTS["f"].x.copy()
        x[200] = np.nan
        with pytest.raises(NonFiniteError, match=r"points\['f'\]: got 1 of \d+ values"):
            learn(client, points={**POINTS, "f": x})
        with pytest.raises(NonFiniteError, match=r"f: got .*make it finite at all points"):
            learn(client)(lambda x: jnp.where(x[..., 0] == POINTS["f"].x[200, 0], jnp.nan, 1.0), 0.0)

    @pytest.mark.parametrize("error", [ZeroDivisionError("by zero"), FileNotFoundError(2, "not on this worker")])
    def test_of_the_users_function(self, client, error):
        with pytest.raises(type(error), match=r"by zero|not on this worker"):
            learn(client, points=ko.Batches(NUMBER, lambda k: fails(k, error)))

    def test_what_cannot_be_spread(self, client):
        with pytest.raises(ArgumentError, match=r"points: got an iterator together with a client; .*ko\.Batches"):
            learn(client, points=map(take, range(NUMBER)))

    @pytest.mark.parametrize("value", ["tcp://127.0.0.1:8786", 3, object()])
    def test_what_is_no_client(self, value, single):
        for act in (lambda: learn(value), lambda: single.with_client(value), lambda: cluster.evaluate(value, None, X)):
            with pytest.raises(ArgumentTypeError, match=r"client: got .*; give a dask\.distributed\.Client"):
                act()

    def test_without_workers(self):
        with (
            local(n_workers=0, processes=False) as nobody,
            Client(nobody) as connected,
            pytest.raises(ClusterError, match=r"client: got one without workers; start workers"),
        ):
            learn(connected)


#: Where a package tells its version.
TELLS = {"kernop": ("kernop.basics.versions", "VERSION")}


def strange(module, attribute, version):
    """A package of another version, on a worker."""
    setattr(importlib.import_module(module), attribute, version)


def without(module):
    """As if it were not installed; the modules, to be installed again."""
    names = [module, *(name for name in sys.modules if name.startswith(f"{module}."))]
    sys.hidden = {name: sys.modules[name] for name in names if name in sys.modules}
    sys.modules.update(dict.fromkeys(names))


def installed_again():
    sys.modules.update(sys.hidden)


class TestOtherWorkers:
    """They are refused within seconds, before they get work."""

    @pytest.fixture
    def fresh(self, client):
        """A client that has not asked the workers yet."""
        with Client(client.scheduler.address) as connected:
            yield connected

    def refused(self, act, match, error=ClusterError):
        started = time.monotonic()
        with pytest.raises(error, match=match):
            act()
        assert time.monotonic() - started < 20.0

    def test_versions(self, fresh, single):
        fresh.run(versions)  # imports kernop, which is to be missed
        fresh.run(without, "kernop")
        try:
            match = r"client: got the worker tcp.* without this version of kernop \(.*kernop"
            self.refused(lambda: learn(fresh), match)
        finally:
            fresh.run(installed_again)
        for name in ("kernop", "jax", "scipy"):
            place = TELLS.get(name, (name, "__version__"))
            fresh.run(strange, *place, "0.0.1")
            try:
                match = rf"client: got the worker tcp.* with {name} 0\.0\.1, where .* runs here; start the workers with"
                self.refused(lambda: learn(fresh), match)
                self.refused(lambda: single.with_client(fresh)(wave, 1.0), match)
                self.refused(lambda: cluster.evaluate(fresh, single.solutions[0], X), match)
            finally:
                fresh.run(strange, *place, importlib.import_module(name).__version__)
        same_bits(learn(fresh), single)

    @pytest.mark.parametrize(
        ("answer", "match"),
        [
            ({"python": "3.9.1"}, r"with python 3\.9\.1, where 3"),
            ({"numpy": "1.26.0"}, r"with numpy 1\.26\.0, where 2"),
            ({"jax": None}, "with jax None"),
            (ModuleNotFoundError("No module named 'kernop'"), r"without this version of kernop \(ModuleNotFoundError"),
            (AttributeError("no attribute 'versions'"), r"without this version of kernop \(AttributeError: no"),
        ],
    )
    def test_answers(self, answer, match):
        given = {**versions(), **answer} if isinstance(answer, dict) else answer
        asked = FakeClient({"tcp://a": versions(), "tcp://b": given})
        self.refused(lambda: check_workers(asked), rf"client: got the worker tcp://b {match}")

    def test_each_worker_is_asked_once(self):
        major, minor, *_ = versions()["python"].split(".")
        asked = FakeClient({"a": versions(), "b": {**versions(), "python": f"{major}.{minor}.99"}})
        check_workers(asked)
        check_workers(asked)
        asked.answers["c"] = OSError("it has left")
        check_workers(asked)
        asked.answers["c"] = versions()
        check_workers(asked)
        assert asked.asked == [["a", "b"], ["c"], ["c"]]

    def test_a_module_that_workers_do_not_have(self, client, tmp_path, monkeypatch):
        (tmp_path / "mine_alone.py").write_text("def a(x):\n    return 1.0 + x[..., 0]\n")
        monkeypatch.syspath_prepend(tmp_path)
        a = importlib.import_module("mine_alone").a
        problem = ko.Problem(ko.Equation(lambda u: -ko.div(a * ko.grad(u)), on=LINE), ko.Dirichlet(on=LINE.boundary))
        match = (
            r"client: got a worker that cannot read what it is sent \(ModuleNotFoundError: No module named 'mine_alone'"
        )
        given = {"points": POINTS, "method": ko.Subspace(CENTRES, batch=31), "client": client}
        self.refused(lambda: ko.learn(problem, **given), match)
        self.refused(lambda: learn(client)(a, 0.0), match)
        self.refused(lambda: learn(client, points=ko.Batches(NUMBER, partial(fetched, function=a))), match)

    @pytest.mark.parametrize("name", ["points", "inputs", "problem", "later inputs"])
    def test_what_cannot_be_pickled(self, alone, name):
        lock = threading.Lock()

        def holding(x):
            return (lock, 1.0 + x[..., 0])[1]

        acts = {
            "points": lambda: learn(alone, points=ko.Batches(NUMBER, lambda k: (lock, take(k))[1])),
            "inputs": lambda: learn(alone, inputs=[(holding, 1.0)]),
            "problem": lambda: ko.learn(
                ko.Problem(ko.Equation(lambda u: holding * u, on=LINE, name="f")),
                points={"f": POINTS["f"]},
                method=ko.Subspace(CENTRES, batch=31),
                client=alone,
            ),
            "later inputs": lambda: learn(alone)(holding, 1.0),
        }
        argument = name.removeprefix("later ")
        match = rf"{argument}: got what cannot be sent to workers \(TypeError: cannot pickle.*lock.*; let it not hold"
        self.refused(acts[name], match, ArgumentTypeError)

    def test_a_mapped_file_that_changed(self, client, tmp_path):
        np.save(tmp_path / "f.npy", POINTS["f"].x)
        t = learn(client, points={"f": np.load(tmp_path / "f.npy", mmap_mode="r"), "g": POINTS["g"]})
        t(wave, 1.0)
        x = POINTS["f"].x.copy()
        x[200] = 0.5004  # of a batch that only workers have read
        np.save(tmp_path / "f.npy", x)
        match = r"points: got a mapped array of '.*f\.npy', which has changed since it was given"
        self.refused(lambda: t(wave, 1.0), match, FileError)
        self.refused(lambda: t.with_client(None)(wave, 1.0), r"points: got a mapped array of '.*f\.npy'", FileError)


class FakeClient:
    """Workers that say what they are told to."""

    def __init__(self, answers):
        self.answers, self.asked = answers, []

    def nthreads(self):
        return dict.fromkeys(self.answers, 1)

    def run(self, function, workers, on_error):
        assert function is versions
        assert on_error == "return"
        self.asked.append(workers)
        return {worker: self.answers[worker] for worker in workers}


def fetched(k, function):
    """A batch that needs a function of a module."""
    return {**take(k), "f": POINTS["f"][30 * k : 30 * k + 30 * int(function(np.zeros((1, 1)))[0])]}


def marked(k, path):
    """A batch that takes its time on a worker, and tells who makes it."""
    with open(path, "a") as file:
        file.write(f"{os.getpid()} {threading.current_thread().name}\n")
    time.sleep(0.05)
    return take(k)


class Background(threading.Thread):
    """A learn under way: its result, or what it raised."""

    def __init__(self, client, path):
        super().__init__(daemon=True)
        self.client, self.path, self.found, self.error = client, path, None, None
        self.start()

    def run(self):
        try:
            self.found = learn(self.client, points=ko.Batches(NUMBER, partial(marked, path=self.path)))
        except Exception as error:
            self.error = error

    def working(self, count):
        """The processes at work, when so many batches have been begun there."""
        waited = time.monotonic()
        while time.monotonic() - waited < 60.0:
            lines = self.path.read_text().split("\n")[:-1] if self.path.exists() else []
            found = [int(line.split()[0]) for line in lines if not line.endswith(f" {self.name}")]
            if len(found) >= count:
                return found
            time.sleep(0.01)
        raise AssertionError(f"no work is done: {self.error}")


class PowerCutError(Exception):
    """No more electricity."""


def moved(k, at):
    """Other points in one batch."""
    return {**take(k), "f": POINTS["f"][90:120]} if k == at else take(k)


def at_home(path):
    """The batches of which a checkpoint holds what is kept."""
    kept = storage.read(path, "checkpoint")[0]["kept"]
    return [b for own in kept for b in range(own["first"], own["first"] + own["batches"])]


@pytest.fixture
def added(monkeypatch):
    """How many batches of rows were taken in, by a worker that lives in this process."""
    seen, add = [], Regression.add
    monkeypatch.setattr(Regression, "add", lambda *given: (seen.append(given), add(*given)))
    return seen


class TestCheckpoints:
    """What came home is written; nothing of it is computed again."""

    @pytest.fixture
    def path(self, alone, tmp_path, monkeypatch):
        """Of a checkpoint that a pass left which was interrupted when three of its four chunks had come home."""
        path = tmp_path / "pass.ckpt"
        with pytest.raises(PowerCutError):
            self.interrupted(monkeypatch, path, 3, client=alone)
        waited = time.monotonic()
        # A chunk was begun, or is about to, that nobody waits for any more.
        while any(alone.processing().values()) or alone.call_stack():
            assert time.monotonic() - waited < 30.0
            time.sleep(0.01)
        return path

    def interrupted(self, monkeypatch, path, number, **given):
        """A pass that is cut after so many checkpoints."""
        done, write = [], storage.write

        def cut(*arguments):
            write(*arguments)
            done.append(arguments)
            if len(done) == number:
                raise PowerCutError

        with monkeypatch.context() as patched:
            patched.setattr(storage, "write", cut)
            learn(points=ko.Batches(NUMBER, take), checkpoint=ko.Checkpoint(path, every=0), **given)

    @pytest.mark.parametrize("solver", ["qr", "normal"])
    def test_without_interruption_the_bits_are_those_without_checkpoints(self, client, solver, tmp_path):
        path = tmp_path / "pass.ckpt"
        same_bits(learn(client, solver, checkpoint=ko.Checkpoint(path, every=0)), learn(client, solver))
        assert not any(tmp_path.iterdir())

    def test_going_on(self, alone, client, path, added):
        before, done, points = path.read_bytes(), at_home(path), ko.Batches(NUMBER, take)
        added.clear()
        t = learn(alone, points=points, checkpoint=ko.Checkpoint(path, every=0))
        assert 0 < len(done) < NUMBER
        assert len(added) == NUMBER - len(done)
        assert not path.exists()
        same_bits(t, learn(alone, points=points))
        path.write_bytes(before)  # other workers, another process: the same
        same_bits(learn(client, points=points, checkpoint=path), t)

    def test_one_that_is_complete(self, alone, tmp_path, added):
        """All chunks came home, but the system could not be solved: another λ is found without a pass."""
        path, twice = (
            tmp_path / "pass.ckpt",
            ko.Subspace(np.vstack([CENTRES, CENTRES + 1e-12]), solver="normal", batch=31),
        )
        with pytest.raises(ko.errors.SingularGramError):
            learn(alone, method=twice, regularization=0.0, checkpoint=ko.Checkpoint(path, every=0))
        added.clear()
        learn(alone, method=twice, checkpoint=path)
        assert added == []

    def test_other_points(self, alone, path):
        """Of a batch that none looks at before the pass."""
        before, at = path.read_bytes(), next(k for k in at_home(path) if k not in (0, 9, 19))
        with pytest.raises(FileError, match=r"checkpoint: got .*of another pass; delete it to start anew"):
            learn(alone, points=ko.Batches(NUMBER, partial(moved, at=at)), checkpoint=path)
        assert path.read_bytes() == before

    def test_workers_go_on_from_a_pass_without_them_and_the_other_way_round(self, alone, path, tmp_path, monkeypatch):
        points, other = ko.Batches(NUMBER, take), tmp_path / "other.ckpt"
        expected = learn(points=points)
        same_bits(learn(points=points, checkpoint=path), expected)
        with pytest.raises(PowerCutError):
            self.interrupted(monkeypatch, other, 5)
        assert at_home(other) == [0, 1, 2, 3, 4]
        same_bits(learn(alone, points=points, checkpoint=other), expected)
        assert not any(tmp_path.iterdir())

    @pytest.mark.parametrize(
        "change",
        [
            lambda kept: [*kept, kept[0]],
            lambda kept: [{**kept[0], "first": 1}, *kept[1:]],
            lambda kept: [{**kept[0], "batches": 20}, *kept[1:]],
            lambda kept: [{**kept[0], "batches": 0}, *kept[1:]],
            lambda kept: kept[1:],
            lambda kept: [3, *kept[1:]],
            lambda kept: [],
            lambda kept: "all",
            lambda kept: [{**kept[0], "rows": 31}, *kept[1:]],
            lambda kept: [{**kept[0], "rows": 0}, *kept[1:]],
            lambda kept: [{**kept[0], "digest": kept[0]["digest"] + 1}, *kept[1:]],
        ],
    )
    def test_trees_that_kernop_does_not_write(self, alone, path, change):
        header, arrays = storage.read(path, "checkpoint")
        storage.write(path, "checkpoint", {**header, "kept": change(header["kept"])}, arrays)
        with pytest.raises(FileError, match=r"checkpoint: got '.*pass\.ckpt', .*; delete it to start anew"):
            learn(alone, points=ko.Batches(NUMBER, take), checkpoint=path)


#: A pass that takes its time.
SCRIPT = """
import sys, time
import jax.numpy as jnp, numpy as np, kernop as ko
from distributed import Client, LocalCluster
from kernop.methods.regression import Regression

def run(client, path):
    line = ko.Interval(0, 1)
    problem = ko.Problem(ko.Equation(lambda u: -ko.laplacian(u) + 2.0 * u, on=line), ko.Dirichlet(on=line.boundary))
    f, g = line.sample(600), line.boundary.sample(2)
    return ko.learn(
        problem, points=ko.Batches(40, lambda k: {"f": f[15 * k : 15 * k + 15], "g": g}), kernel=ko.Gaussian([0.3]),
        inputs=[(lambda x: jnp.sin(x[..., 0]), 1.0)], client=client, checkpoint=ko.Checkpoint(path, every=0),
        method=ko.Subspace(np.linspace(-0.2, 1.2, 9)[:, None], batch=17),
    )

if __name__ == "__main__":
    add = Regression.add
    Regression.add = lambda *given: (time.sleep(0.1), add(*given))
    with LocalCluster(n_workers=1, threads_per_worker=2, processes=False, dashboard_address=":0") as workers:
        run(Client(workers), sys.argv[1])
"""


def test_a_process_that_is_killed(alone, added, tmp_path):
    """SIGKILL of the client and its workers in the middle of a pass; others go on, to the bits of one that is whole."""
    path, other = tmp_path / "pass.ckpt", tmp_path / "other.ckpt"
    killed = subprocess.Popen([sys.executable, "-c", SCRIPT, path], stdout=subprocess.DEVNULL)
    try:
        waited = time.monotonic()
        while not path.exists():
            assert killed.poll() is None
            assert time.monotonic() - waited < 60
            time.sleep(0.01)
    finally:
        killed.kill()
        killed.wait()
    home, here = len(at_home(path)), {"__name__": "here"}
    exec(SCRIPT, here)
    found = here["run"](alone, path)
    assert 0 < home < 40
    assert len(added) == 40 - home
    same_bits(found, here["run"](alone, other))
    assert not any(tmp_path.glob("*.ckpt"))


class TestLosses:
    def test_the_scheduler_goes_in_the_middle(self, tmp_path):
        workers = local(n_workers=1, processes=False)
        connected = Client(workers)
        try:
            background = Background(connected, tmp_path / "mark")
            background.working(2)
        finally:
            workers.close(timeout=10)
        background.join(60)
        assert not background.is_alive()
        assert isinstance(background.error, ClusterError)
        assert str(background.error).startswith("client: got one that lost its cluster (")
        with pytest.raises(ClusterError, match=r"client: got one that is closed; connect a new one"):
            learn(connected)
        connected.close()

    def test_a_client_that_was_closed(self, client, single):
        other = Client(client.scheduler.address)
        away = single.with_client(other)
        other.close()
        with pytest.raises(ClusterError, match="client: got one that is closed; connect a new one"):
            learn(other)
        with pytest.raises(ClusterError, match="client: got one that is closed; connect a new one"):
            away(wave, 1.0)
        np.testing.assert_array_equal(away.with_client(None)(wave, 1.0)(X), single(wave, 1.0)(X))

    def test_a_worker_is_killed_in_the_middle(self, client, tmp_path):
        expected = learn(client, points=ko.Batches(NUMBER, take))
        background = Background(client, tmp_path / "mark")
        at_work = background.working(4)
        assert HERE not in at_work
        os.kill(at_work[0], signal.SIGKILL)
        background.join(120)
        assert background.error is None
        same_bits(background.found, expected)
        # Some was done again, and nothing by the one that was killed.
        again = background.working(NUMBER + 1)
        assert len(again) > NUMBER
        assert again[-1] != at_work[0]

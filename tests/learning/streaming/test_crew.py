"""Parts on real worker processes: the same bits as in this process, and whatever becomes of a worker."""

import gc
import mmap
import os
import signal
import sys
import time
from functools import partial
from importlib import import_module
from pathlib import Path

import cloudpickle
import jax.numpy as jnp
import numpy as np
import pytest
from distributed import Client, LocalCluster

import kernop as ko
from kernop.basics import shelf
from kernop.basics.errors import ArgumentError, ArgumentTypeError
from kernop.basics.shelf import Shelf
from kernop.learning.streaming import OnWorkers, cluster
from kernop.methods.parts import leaves

# The workers have no such module: what is in it travels as code.
cloudpickle.register_pickle_by_value(sys.modules[__name__])

LINUX = hasattr(os, "memfd_create")
SQUARE = ko.Box([0, 0], [1, 1])
X = np.random.default_rng(0).random((60, 2))


def coefficient(x):
    return 1.5 + jnp.sin(7.0 * x[..., 0]) * jnp.cos(5.0 * x[..., 1])


def exact(x):
    return jnp.sin(3.0 * x[..., 0] + x[..., 1])


PROBLEM = ko.Problem(
    ko.Equation(lambda u: -ko.div(coefficient * ko.grad(u)), on=SQUARE), ko.Dirichlet(on=SQUARE.boundary)
)


@pytest.fixture(scope="module")
def client():
    with (
        LocalCluster(n_workers=2, threads_per_worker=1, processes=True, dashboard_address=":0") as workers,
        Client(workers) as connected,
    ):
        yield connected


def learned(client=None):
    """More parts than are merged in one subtree, no two of them alike."""
    return ko.learn(PROBLEM, method=ko.Partition(cells=9, degree=9, levels=0), client=client)


def mapped(array):
    """Does an array stand in a file?"""
    while isinstance(array, np.ndarray) and array.base is not None:
        array = array.base
    return isinstance(array, memoryview) and isinstance(array.obj, mmap.mmap)


@pytest.fixture(scope="module")
def here():
    return learned()


@pytest.mark.parametrize("way", ["shelf", "sent", "disk"])
def test_the_same_bits(client, here, way, monkeypatch):
    """What workers of this machine put on a shelf in memory, or on disk, and what is sent by others."""
    if way == "sent":
        monkeypatch.setattr(Shelf, "in_memory", lambda: None)
    if way == "disk":
        monkeypatch.setattr(leaves, "shelf_for", lambda *_: Shelf.on_disk())
    there = learned(client)
    assert len(here.factorisation.locals) == 81
    assert mapped(there.factorisation.locals[0].upper) == (way != "sent" and LINUX)
    for one, other in zip(here.factorisation.locals, there.factorisation.locals, strict=True):
        assert np.array_equal(one.q, other.q)
        assert np.array_equal(one.inner, other.inner)
        assert np.array_equal(one.upper, other.upper)
    data = PROBLEM.manufacture(exact, here.points)
    assert np.array_equal(here(**data)(X), there(**data)(X))
    assert np.max(np.abs(there(**data)(X) - np.sin(3.0 * X[:, 0] + X[:, 1]))) < 1e-6


def test_with_a_tolerance(client):
    T = ko.learn(PROBLEM, tol=1e-2, method=ko.Partition(degree=7, levels=2), client=client)
    data = PROBLEM.manufacture(exact, T.points)
    assert np.max(np.abs(T(**data)(X) - np.sin(3.0 * X[:, 0] + X[:, 1]))) < 1e-3


def test_stars(client):
    """The cell around a crossing of jumps has functions of its own, on workers too; u = x₁x₂/a exactly."""
    box = ko.Box([-1, -1], [1, 1])
    a = ko.Piecewise({ko.Box([0, 0], [1, 1]): 1e6, ko.Box([-1, -1], [0, 0]): 1e6}, otherwise=1.0)
    problem = ko.Problem(ko.Equation(lambda u: -ko.div(a * ko.grad(u)), on=box), ko.Dirichlet(on=box.boundary))
    exact = lambda x: x[..., 0] * x[..., 1] / np.where(x[..., 0] * x[..., 1] > 0, 1e6, 1.0)
    how, x = ko.Partition(cells=8, degree=7, levels=2), box.sample(200, "uniform", seed=1).x
    here, there = (ko.learn(problem, method=how, client=own) for own in (None, client))
    assert len(there.factorisation.expansion.mosaic.stars) == 1
    assert np.array_equal(here(0.0, exact)(x), there(0.0, exact)(x))
    assert np.max(np.abs(there(0.0, exact)(x) - exact(x))) < 1e-9


def squares(mark, number):
    """Numbers squared, by a worker that dies in the middle the first time."""
    if number == 5 and not Path(mark).exists():
        Path(mark).touch()
        os.kill(os.getpid(), signal.SIGKILL)
    yield np.full(1000, number**2)
    yield -number


def counted(number):
    """The numbers below one, as an array and alone."""
    yield np.arange(number)
    yield number


def counted_slowly(number):
    """The same, so that no worker does all before another begins."""
    time.sleep(0.02)
    yield from counted(number)


def test_a_worker_dies(client, tmp_path):
    found = OnWorkers(client)(partial(squares, str(tmp_path / "mark")), range(40))
    assert (tmp_path / "mark").exists()
    for k, (values, number) in enumerate(found):
        assert np.array_equal(values, np.full(1000, k**2))
        assert number == -k


def test_a_task_that_the_scheduler_lost(client, monkeypatch):
    """One package is a task that no worker may do, until it is submitted again."""
    submit, asked = client.submit, []

    def submitted(function, *given, **how):
        asked.append(function.__name__)
        lost = {"workers": ["nobody"], "allow_other_workers": False} if len(asked) == 3 else {}
        return submit(function, *given, **how | lost)

    monkeypatch.setattr(cluster, "PATIENCE", 0.3)
    monkeypatch.setattr(client, "submit", submitted)
    found = OnWorkers(client)(counted, range(1, 7))
    assert asked[:7] == ["unpickled", *["_done"] * 6]
    assert len(asked) > 7
    for k, (values, number) in enumerate(found):
        assert np.array_equal(values, np.arange(number))
        assert number == k + 1


def files_of_kernop():
    """Files without a name that this process has open."""
    gc.collect()
    return sum("memfd:kernop" in opened(name) for name in os.listdir("/proc/self/fd"))


def opened(name):
    """What a file descriptor stands for; nothing if another thread closed it meanwhile."""
    try:
        return os.readlink(f"/proc/self/fd/{name}")
    except FileNotFoundError:
        return ""


@pytest.mark.skipif(not LINUX, reason="has no files in memory")
def test_each_worker_writes_to_a_file_of_its_own(client, monkeypatch):
    """The kernel lets one process at a time write to a file: two that shared one waited for each other."""
    met = []

    def whose(shelves, parcels):
        met.extend((shelves, [own for some in parcels for own in some]))
        return shelf.opened(shelves, parcels)

    monkeypatch.setattr(cluster, "opened", whose)
    client.wait_for_workers(2, timeout=60)
    client.run(import_module, "kernop")  # one that takes the place of another has not done so
    found = OnWorkers(client)(counted_slowly, range(1, 41))
    for k, (values, number) in enumerate(found):
        assert np.array_equal(values, np.arange(number))
        assert number == k + 1
    shelves, parcels = met
    assert len({own.address.inode for own in shelves}) == len(shelves) == 2
    assert {own.token for own in parcels} == {own.address.token for own in shelves}


@pytest.mark.skipif(not LINUX, reason="has no files in memory")
def test_nothing_is_left_behind(client):
    first = files_of_kernop()
    T = learned(client)
    assert files_of_kernop() == first + 2  # one for each worker
    del T
    assert files_of_kernop() == first
    assert not any(client.run(files_of_kernop).values())
    until = time.monotonic() + 30.0
    while any(client.has_what().values()) and time.monotonic() < until:  # they are told a moment later
        time.sleep(0.05)
    assert not any(client.has_what().values())


def test_what_is_refused():
    with pytest.raises(ArgumentTypeError, match=r"client: .*dask\.distributed\.Client"):
        learned(client="tcp://nowhere")
    with pytest.raises(ArgumentError, match=r"client: .*or ko\.Partition\(\)"):
        ko.learn(PROBLEM, method=ko.Full(), client=object())

"""Parts on real worker processes: the same bits as in this process, and whatever becomes of a worker."""

import os
import signal
import sys
from functools import partial
from pathlib import Path

import cloudpickle
import jax.numpy as jnp
import numpy as np
import pytest
from distributed import Client, LocalCluster

import kernop as ko
from kernop.basics.errors import ArgumentError, ArgumentTypeError
from kernop.learning.streaming import OnWorkers

# The workers have no such module: what is in it travels as code.
cloudpickle.register_pickle_by_value(sys.modules[__name__])

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


def test_the_same_bits(client):
    here, there = learned(), learned(client)
    assert len(here.factorisation.locals) == 81
    for one, other in zip(here.factorisation.locals, there.factorisation.locals, strict=True):
        assert np.array_equal(one.q, other.q)
        assert np.array_equal(one.upper, other.upper)
    data = PROBLEM.manufacture(exact, here.points)
    assert np.array_equal(here(**data)(X), there(**data)(X))
    assert np.max(np.abs(there(**data)(X) - np.sin(3.0 * X[:, 0] + X[:, 1]))) < 1e-6


def test_with_a_tolerance(client):
    T = ko.learn(PROBLEM, tol=1e-2, method=ko.Partition(degree=7, levels=2), client=client)
    data = PROBLEM.manufacture(exact, T.points)
    assert np.max(np.abs(T(**data)(X) - np.sin(3.0 * X[:, 0] + X[:, 1]))) < 1e-3


def square(mark, number):
    """A number squared, by a worker that dies in the middle the first time."""
    if number == 5 and not Path(mark).exists():
        Path(mark).touch()
        os.kill(os.getpid(), signal.SIGKILL)
    return number**2


def test_a_worker_dies(client, tmp_path):
    found = OnWorkers(client)(partial(square, str(tmp_path / "mark")), range(40))
    assert found == [k**2 for k in range(40)]
    assert (tmp_path / "mark").exists()


def test_what_is_refused():
    with pytest.raises(ArgumentTypeError, match=r"client: .*dask\.distributed\.Client"):
        learned(client="tcp://nowhere")
    with pytest.raises(ArgumentError, match=r"client: .*or ko\.Partition\(\)"):
        ko.learn(PROBLEM, method=ko.Full(), client=object())

"""float64 inside the context, the user's setting outside."""

import os
import subprocess
import sys

import jax
import jax.numpy as jnp
import pytest

from kernop.basics.precision import float64


def test_double_inside_and_single_outside():
    assert jnp.zeros(1).dtype == jnp.float32
    with float64():
        assert jnp.zeros(1).dtype == jnp.float64
        assert float(jnp.asarray(1.0) + 1e-12) != 1.0
    assert jnp.zeros(1).dtype == jnp.float32


def test_contexts_nest():
    with float64():
        with float64():
            pass
        assert jnp.zeros(1).dtype == jnp.float64
    assert jnp.zeros(1).dtype == jnp.float32


def test_an_exception_restores_the_setting():
    def fails():
        with float64():
            raise RuntimeError

    with pytest.raises(RuntimeError):
        fails()
    assert jnp.zeros(1).dtype == jnp.float32


def test_the_users_double_precision_survives():
    with jax.enable_x64(True):
        with float64():
            pass
        assert jnp.zeros(1).dtype == jnp.float64


def test_compiled_functions_know_the_precision():
    third = jax.jit(lambda x: x / 3.0)
    assert third(1.0).dtype == jnp.float32
    with float64():
        assert third(1.0).dtype == jnp.float64
        assert float(third(1.0)) == 1.0 / 3.0
    assert third(1.0).dtype == jnp.float32


FORK = """
import multiprocessing, os, signal, sys
import numpy as np, kernop as ko
from kernop.basics.errors import ForkError, KernopError

line = ko.Interval(0, 1)
problem = ko.Problem(ko.Equation(lambda u: -ko.laplacian(u), on=line), ko.Dirichlet(on=line.boundary))

def learn():
    return ko.learn(problem, points=20, method=ko.Subspace(5))

def in_child(act):
    child = os.fork()
    if child == 0:
        signal.alarm(20)
        try:
            print(act())
        except BaseException as error:
            print(type(error).__name__, isinstance(error, KernopError), isinstance(error, RuntimeError), error)
        sys.stdout.flush()
        os._exit(0)
    print("left by", os.waitpid(child, 0)[1], flush=True)
"""


def script(text, seconds=100):
    """What a script prints; none may hang."""
    found = subprocess.run(
        [sys.executable, "-c", FORK + text], capture_output=True, text=True, timeout=seconds, check=True
    )
    return found.stdout.splitlines()


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork")
class TestFork:
    MESSAGE = "ForkError True True kernop: got a call in a process that was forked from one in which JAX had begun"

    def test_use_in_a_child_is_refused_once_jax_has_begun(self, tmp_path):
        """Even if by the user alone; what needs no JAX is done, and the parent goes on."""
        text = """
in_child(lambda: learn().n_points)
in_child(lambda: 'nothing')
import jax.numpy as jnp
jnp.ones(3) + 1
in_child(learn)
T = learn()
u = T(1.0, 0.0)
T.save(sys.argv[1] if len(sys.argv) > 1 else %r)
x = np.linspace(0, 1, 20)[:, None]  # u at a few points needs no JAX
for act in (learn, lambda: T(lambda x: x[..., 0], 0.0), lambda: u(x), lambda: u.grad(x), lambda: T.on(x),
            lambda: ko.Gaussian(1.0)(x, x), lambda: len(ko.load(%r).points)):
    in_child(act)
import pickle
in_child(lambda: len(pickle.dumps(T.points)) > 0)
print(u(x).shape)
"""
        found = script(text % (str(tmp_path / "file"), str(tmp_path / "file")))
        before, found = found[:4], found[4:]
        assert before == ["20", "left by 0", "nothing", "left by 0"]
        assert found[1::2] == ["left by 0"] * 9
        assert all(self.MESSAGE in line and "multiprocessing.get_context('spawn')" in line for line in found[:14:2])
        assert found[14:18:2] == ["2", "True"]  # to read a file, and to pickle
        assert found[18:] == ["(20,)"]

    def test_multiprocessing(self, tmp_path):
        text = """
import kernop as ko, multiprocessing, sys
from kernop.basics.errors import ForkError

def value(x):
    line = ko.Interval(0, 1)
    problem = ko.Problem(ko.Equation(lambda u: u, on=line, name="f"))
    return float(ko.learn(problem, points=12, method=ko.Subspace(4))(2.0)([[x]])[0])

if __name__ == "__main__":
    value(0.5)
    with multiprocessing.get_context("fork").Pool(1) as pool:
        try:
            pool.map_async(value, [0.5]).get(30)
        except ForkError as error:
            print("spawn" in str(error))
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        print(abs(pool.map_async(value, [0.5]).get(60)[0] - 2.0) < 1e-3)
"""
        (tmp_path / "script.py").write_text(text)
        found = subprocess.run(
            [sys.executable, tmp_path / "script.py"], capture_output=True, text=True, timeout=100, check=True
        )
        assert found.stdout.split() == ["True", "True"]


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="limits of the address space are Linux's")
def test_a_process_without_room_for_jax():
    """Where JAX would abort, or wait for ever for threads that could not be started."""
    text = """
import resource
used = int(open("/proc/self/statm").read().split()[0]) * os.sysconf("SC_PAGE_SIZE")
resource.setrlimit(resource.RLIMIT_AS, (used + 4 * 10**8,) * 2)
try:
    learn()
except MemoryError as error:
    print(type(error).__name__, error)
"""
    found = script(text)
    assert found[0].startswith("MemoryLimitError kernop: got a limit of the address space that leaves 0.")

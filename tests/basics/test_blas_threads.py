"""How many threads BLAS has while kernop computes, and that it gets them back."""

from __future__ import annotations

import os
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager

import numpy as np
import pytest
from threadpoolctl import ThreadpoolController, threadpool_limits

import kernop as ko
from kernop.basics.linalg import in_threads, one_thread, product, threads_for
from kernop.basics.linalg.threads import LARGE, WORTH

#: More than the tests' own environment gives, so that fewer can be seen.
GIVEN, THREADS = 3, 8


def libraries() -> list:
    return [own for own in ThreadpoolController().lib_controllers if own.user_api == "blas"]


def numbers(kind: str = "") -> list[int]:
    """Threads of all BLAS libraries, or of those in folders of this name."""
    return [own.num_threads for own in libraries() if kind in own.filepath]


@pytest.fixture(autouse=True)
def several_threads() -> Iterator[None]:
    with threadpool_limits(GIVEN, "blas"):
        yield
        left = numbers()
    assert left == [GIVEN] * len(left), "a test did not give threads back"


def test_there_are_threads_to_limit() -> None:
    assert numbers()
    assert set(numbers()) == {GIVEN}


def test_one_thread_inside_and_all_again_outside() -> None:
    with one_thread:
        assert set(numbers()) == {1}
        with one_thread:
            assert set(numbers()) == {1}
        assert set(numbers()) == {1}
    assert set(numbers()) == {GIVEN}


def test_an_error_gives_them_back() -> None:
    with pytest.raises(ZeroDivisionError), one_thread, threads_for(2 * LARGE):
        raise ZeroDivisionError
    assert set(numbers()) == {GIVEN}


def test_large_calls_have_threads_in_the_library_of_scipy_alone() -> None:
    apart = bool(numbers("numpy.libs")) and bool(numbers("scipy.libs"))
    with one_thread:
        with threads_for(0.5 * LARGE):
            assert set(numbers()) == {1}
        with threads_for(2.0 * LARGE):
            assert GIVEN in numbers()
            assert not apart or (set(numbers("numpy.libs")), set(numbers("scipy.libs"))) == ({1}, {GIVEN})
        assert set(numbers()) == {1}


def test_many_threads_of_python_leave_in_any_order() -> None:
    start = threading.Barrier(THREADS)

    def run(k: int) -> None:
        start.wait()
        for _ in range(20):
            with one_thread:
                assert k % 2 or 1 in numbers()
                with threads_for((k % 3) * LARGE):
                    assert GIVEN in numbers() or k % 3 < 2

    with ThreadPoolExecutor(THREADS) as pool:
        list(pool.map(run, range(THREADS)))
    assert set(numbers()) == {GIVEN}


@contextmanager
def another_at_work() -> Iterator[None]:
    """A context in which another thread of Python asks for one thread of BLAS."""
    inside, leave = threading.Event(), threading.Event()

    def stay() -> None:
        with one_thread:
            inside.set()
            leave.wait()

    other = threading.Thread(target=stay)
    other.start()
    inside.wait()
    try:
        yield
    finally:
        leave.set()
        other.join()


def test_whoever_leaves_last_gives_them_back() -> None:
    with ExitStack() as stack:
        with one_thread:
            stack.enter_context(another_at_work())
        assert set(numbers()) == {1}  # the other one is still in it
    assert set(numbers()) == {GIVEN}


@pytest.mark.skipif(not hasattr(os, "fork"), reason="a system without fork")
@pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::RuntimeWarning")
def test_a_child_of_fork_has_all_threads_and_does_not_wait_for_ever() -> None:
    with one_thread:
        child = os.fork()
        if child == 0:
            right = set(numbers()) == {GIVEN}
            with one_thread:
                right = right and set(numbers()) == {1}
            os._exit(0 if right and set(numbers()) == {GIVEN} else 1)
        _, status = os.waitpid(child, 0)
    assert os.waitstatus_to_exitcode(status) == 0


def test_jobs_run_in_threads_if_they_are_large_and_nobody_else_works() -> None:
    def whose(_: int) -> tuple[int, frozenset[int]]:
        return threading.get_ident(), frozenset(numbers())

    here, items = threading.get_ident(), range(6)
    alone = {(here, frozenset({1}))}
    assert {own for own, _ in in_threads(whose, items, 2 * WORTH)}.isdisjoint({here})
    assert {limit for _, limit in in_threads(whose, items, 2 * WORTH)} == {frozenset({1})}
    assert set(in_threads(whose, items, 0.5 * WORTH)) == alone
    with one_thread:  # our own, as in `learn`
        assert {own for own, _ in in_threads(whose, items, 2 * WORTH)}.isdisjoint({here})
    with another_at_work():
        assert set(in_threads(whose, items, 2 * WORTH)) == alone


@pytest.mark.parametrize("turned", [(False, False), (True, False), (False, True), (True, True)])
def test_large_products_are_products(turned: tuple[bool, bool]) -> None:
    rng = np.random.default_rng(0)
    a, b = rng.random((900, 700)), rng.random((700, 500))
    a, b = (np.asfortranarray(own) if flag else own for own, flag in zip((a, b), turned, strict=True))
    assert 2.0 * a.size * b.shape[1] > LARGE
    np.testing.assert_allclose(product(a, b), a @ b, rtol=1e-13)
    np.testing.assert_allclose(product(a[::2, 3:], b[3:]), a[::2, 3:] @ b[3:], rtol=1e-13)
    np.testing.assert_allclose(product(a[:10], b[:, :3]), a[:10] @ b[:, :3], rtol=1e-13)


def test_users_functions_and_operators_run_within_the_limit() -> None:
    """What a user's function sees while kernop learns, solves, evaluates and estimates; and afterwards all is back."""
    seen: list[int] = []

    def f(x):
        seen.extend(numbers())
        return np.sin(x[..., 0])

    D = ko.Interval(0.0, 1.0)
    problem = ko.Problem(ko.Equation(lambda u: -ko.laplacian(u), on=D), ko.Dirichlet(on=D.boundary))
    for method in (ko.Subspace(40), ko.Partition(cells=2, degree=9)):
        u = ko.learn(problem, method=method)(f, 0.0)
        u.error_estimate()
        assert seen
        assert set(seen) == {1}
        seen.clear()
        assert set(numbers()) == {GIVEN}

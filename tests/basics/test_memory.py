"""How much memory is free, and what is refused for lack of it."""

import pytest

from kernop.basics import checks
from kernop.basics.checks import check_memory
from kernop.basics.errors import MemoryLimitError
from kernop.basics.memory import address_space, available_memory


def test_this_machine_has_some():
    free = available_memory()
    assert free is not None
    assert 2**20 < free < 2**50


def test_what_fits_passes_and_what_does_not_is_refused(monkeypatch):
    monkeypatch.setattr(checks, "SMALL", 0)
    monkeypatch.setattr(checks, "available_memory", lambda: 8000)
    check_memory("points", 1000, "a matrix", "use fewer")
    with pytest.raises(MemoryLimitError, match=r"points: got a matrix, which needs .*; use fewer") as caught:
        check_memory("points", 1001, "a matrix", "use fewer")
    assert isinstance(caught.value, MemoryError)


def test_unknown_memory_is_not_an_obstacle(monkeypatch):
    monkeypatch.setattr(checks, "available_memory", lambda: None)
    check_memory("points", 10**15, "a matrix", "use fewer")


def test_a_number_that_has_no_float_is_refused_too():
    with pytest.raises(MemoryLimitError, match="n: got too many"):
        check_memory("n", 10**400, "too many", "use fewer")


def test_a_limit_of_the_address_space_counts(monkeypatch):
    resource = pytest.importorskip("resource")
    monkeypatch.setattr(resource, "getrlimit", lambda _: (resource.RLIM_INFINITY,) * 2)
    assert address_space() is None
    assert available_memory() > 2**20
    monkeypatch.setattr(resource, "getrlimit", lambda _: (2**20, 2**20))  # less than is in use
    assert available_memory() == address_space() == 0
    monkeypatch.setattr(resource, "getrlimit", lambda _: (2**50, 2**50))
    assert 2**49 < address_space() < 2**50
    assert available_memory() < 2**49

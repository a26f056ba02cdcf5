"""How much memory is free, and what is refused for lack of it."""

import pytest

from kernop import errors
from kernop.errors import MemoryLimitError, check_memory
from kernop.memory import available_memory


def test_this_machine_has_some():
    free = available_memory()
    assert free is not None
    assert 2**20 < free < 2**50


def test_what_fits_passes_and_what_does_not_is_refused(monkeypatch):
    monkeypatch.setattr(errors, "available_memory", lambda: 8000)
    check_memory("points", 1000, "a matrix", "use fewer")
    with pytest.raises(MemoryLimitError, match=r"points: got a matrix, which needs .*; use fewer") as caught:
        check_memory("points", 1001, "a matrix", "use fewer")
    assert isinstance(caught.value, MemoryError)


def test_unknown_memory_is_not_an_obstacle(monkeypatch):
    monkeypatch.setattr(errors, "available_memory", lambda: None)
    check_memory("points", 10**15, "a matrix", "use fewer")


def test_a_number_that_has_no_float_is_refused_too():
    with pytest.raises(MemoryLimitError, match="n: got too many"):
        check_memory("n", 10**400, "too many", "use fewer")

"""What is kept for all threads."""

import copy
import gc
import pickle
import weakref
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

from kernop.basics.frozen import Beside, Kept, Recent, frozen


class Thing:
    """A key."""


@pytest.mark.parametrize("kept", [Kept[Thing, int](), Beside[Thing, int]()])
def test_a_value_is_made_once_for_each_key(kept: Kept[Thing, int]) -> None:
    made, one, other = list[int](), Thing(), Thing()

    def value(key: Thing, number: int) -> int:
        return kept.of(key, lambda: made.append(number) or number)

    assert one not in kept
    assert [value(one, 1), value(other, 2), value(one, 3), value(other, 4)] == [1, 2, 1, 2]
    assert made == [1, 2]
    assert one in kept


def test_a_value_that_holds_its_key_goes_with_it() -> None:
    kept = Beside[Thing, list[Thing]]()

    def used() -> weakref.ref[Thing]:
        key = Thing()
        kept.of(key, lambda: [key])
        return weakref.ref(key)

    gone = used()
    gc.collect()
    assert gone() is None


def test_nothing_stands_beside_copies() -> None:
    one, other, key = Beside[Thing, int](), Beside[Thing, int](), Thing()
    assert (one.of(key, lambda: 1), other.of(key, lambda: 2), one.of(key, lambda: 3)) == (1, 2, 1)
    assert pickle.loads(pickle.dumps(key)) not in one
    assert copy.deepcopy(key) not in one
    assert copy.copy(key) not in one


def test_the_last_values_are_kept_and_others_are_made_again():
    recent, made = Recent[int](2), list[int]()

    def value(key: int) -> int:
        return recent.of(key, lambda: made.append(key) or 10 * key)

    assert [value(k) for k in (1, 2, 1, 3, 1, 2)] == [10, 20, 10, 30, 10, 20]
    assert made == [1, 2, 3, 2]
    assert len(recent) == 2


def test_what_is_too_large_is_not_kept():
    recent = Recent[int](2)
    assert [recent.of(k, lambda k=k: k, keep=lambda value: value < 2) for k in (1, 5, 6)] == [1, 5, 6]
    assert len(recent) == 1


def test_values_are_kept_as_long_as_there_is_room():
    recent, made = Recent[int](9, room=10, size=lambda value: value), list[int]()
    for k in (4, 5, 1, 4, 3, 5, 11, 3):  # the fourth is kept, and used again; then 5 is forgotten; 11 leaves no room
        assert recent.of(k, lambda k=k: made.append(k) or k) == k
    assert made == [4, 5, 1, 3, 5, 11, 3]
    assert len(recent) == 1


def test_eight_threads():
    recent = Recent[int](4)
    with ThreadPoolExecutor(8) as pool:
        found = list(pool.map(lambda k: recent.of(k % 7, lambda: 10 * (k % 7)), range(2000)))
    assert found == [10 * (k % 7) for k in range(2000)]
    assert len(recent) <= 4


def test_arrays_in_values_become_read_only():
    own = np.zeros(3), [np.zeros(2)], {"a": np.zeros(1)}, 1.0, None, "word"
    assert frozen(own) is own
    for array in (own[0], own[1][0], own[2]["a"]):
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 1.0

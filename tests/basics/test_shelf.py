"""Values in a file without a name: they come back as they were, and nothing is left of them."""

import gc
import os
import tempfile
from dataclasses import replace

import numpy as np
import pytest

from kernop.basics import shelf as shelves
from kernop.basics.errors import FileError, MemoryLimitError
from kernop.basics.shelf import Parcel, Shelf, opened, put_there, shelf_for

LINUX = pytest.mark.skipif(not hasattr(os, "memfd_create"), reason="has no files in memory")


def values():
    rng = np.random.default_rng(0)
    shared = rng.normal(size=(5, 3))
    return {
        "by rows": shared,
        "by columns": np.asfortranarray(rng.normal(size=(4, 7))),
        "again": shared,
        "numbers": np.arange(3),
        "none": np.empty((0, 4)),
        "words": ("one", 2.5),
    }


@pytest.mark.parametrize("make", [Shelf.on_disk, pytest.param(Shelf.in_memory, marks=LINUX)])
def test_values_come_back(make):
    shelf = make()
    one, other = shelf.opened([shelf.put(values()), shelf.put(np.arange(100.0))])
    del shelf  # its file lives as long as the arrays
    for name, wanted in values().items():
        if isinstance(wanted, np.ndarray):
            found = one[name]
            np.testing.assert_array_equal(found, wanted)
            assert found.dtype == wanted.dtype
            assert found.flags.f_contiguous == wanted.flags.f_contiguous
            assert not found.flags.writeable
            assert found.ctypes.data % 64 == 0 or found.size == 0
    assert one["again"] is one["by rows"]
    assert one["words"] == ("one", 2.5)
    np.testing.assert_array_equal(other, np.arange(100.0))


@LINUX
def test_nothing_is_left(tmp_path, monkeypatch):
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))

    def held():
        gc.collect()
        links = [os.readlink(f"/proc/self/fd/{name}") for name in os.listdir("/proc/self/fd") if _link(name)]
        return sum(str(tmp_path) in own for own in links)

    shelf = Shelf.on_disk()
    (found,) = shelf.opened([shelf.put(np.ones(1000))])
    part = found[10:20]
    assert os.listdir(tmp_path) == []  # it has no name
    del shelf, found
    assert held() == 1
    assert part.sum() == 10.0
    del part
    assert held() == 0


def _link(name):
    return os.path.islink(f"/proc/self/fd/{name}")


@LINUX
def test_others_put_values_there_too():
    """As another process would, by the address alone; `tests/learning/streaming/test_crew.py` has such processes."""
    shelf = Shelf.in_memory()
    mine, theirs = shelf.put(np.ones(7)), put_there(shelf.address, np.arange(10.0))
    assert isinstance(theirs, Parcel)
    here, there = shelf.opened([mine, theirs])
    np.testing.assert_array_equal(here, np.ones(7))
    np.testing.assert_array_equal(there, np.arange(10.0))


@LINUX
def test_parcels_of_several_shelves():
    shelves = [Shelf.in_memory(), Shelf.on_disk(), Shelf.in_memory()]
    parcels = [shelves[k % 2].put(np.full(3, k)) for k in range(5)]
    found = opened(shelves, [parcels[:2], [], ["sent", *parcels[2:]]])
    assert [len(some) for some in found] == [2, 0, 4]
    assert found[2].pop(0) == "sent"
    for k, values in enumerate([*found[0], *found[2]]):
        np.testing.assert_array_equal(values, np.full(3, k))


@LINUX
def test_what_is_not_our_file_is_left_alone(tmp_path):
    shelf, value = Shelf.in_memory(), np.ones(3)
    other = tmp_path / "other"
    other.write_bytes(b"of somebody else, and longer than a token")
    about, pipe = other.stat(), tmp_path / "pipe"
    os.mkfifo(pipe)
    strange = [
        replace(shelf.address, path=f"/proc/{2**22 + 1}/fd/3"),
        replace(shelf.address, path=str(other)),
        replace(shelf.address, path=str(other), device=about.st_dev, inode=about.st_ino),
        replace(shelf.address, path=str(pipe)),
        None,
    ]
    for address in strange:
        assert put_there(address, value) is value
    assert other.read_bytes() == b"of somebody else, and longer than a token"


def test_a_full_disk_is_said(monkeypatch):
    def full(handle, size):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(shelves, "_reserved", full)
    with pytest.raises(FileError, match=r"temporary file \(.*No space left.*TMPDIR"):
        Shelf.on_disk().put(np.ones(3))


def test_when_the_disk_is_taken(monkeypatch):
    monkeypatch.setattr("kernop.basics.checks.available_memory", lambda: 2**20)
    assert shelf_for("method", 1000, "a few", "use fewer") is None
    found = shelf_for("method", 2**30, "many", "use fewer")
    assert isinstance(found, Shelf)
    with pytest.raises(MemoryLimitError, match="method: got many"):
        shelf_for("method", 2**60, "many", "use fewer")
    monkeypatch.setattr(shelves, "address_space", lambda: 2**20)  # what is mapped needs addresses too
    with pytest.raises(MemoryLimitError, match="method: got many"):
        shelf_for("method", 2**30, "many", "use fewer")

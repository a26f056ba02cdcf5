"""Matrices in files: what was put is there, in NumPy's format; and a disk without room is refused in time."""

import os
import shutil

import numpy as np
import pytest

from kernop.basics.errors import FileError
from kernop.basics.matrix_file import in_file

VALUES = np.arange(15.0).reshape(5, 3)


@pytest.fixture
def path(tmp_path):
    return tmp_path / "q.npy"


def filled(put):
    for rows in (slice(3, 5), slice(0, 1), slice(1, 3)):
        put(rows, VALUES[rows])
    return "done"


def test_rows_in_any_order(path):
    matrix, result = in_file(path, VALUES.shape, filled)
    assert result == "done"
    assert isinstance(matrix, np.memmap)
    assert matrix.filename == os.fspath(path)
    np.testing.assert_array_equal(matrix, VALUES)
    np.testing.assert_array_equal(np.load(path), VALUES)
    assert not matrix.flags.writeable


def test_whoever_has_mapped_the_old_file_keeps_it(path):
    old, _ = in_file(path, VALUES.shape, filled)
    in_file(path, (1, 1), lambda put: put(slice(0, 1), np.ones((1, 1))))
    np.testing.assert_array_equal(old, VALUES)
    np.testing.assert_array_equal(np.load(path), [[1.0]])


def test_a_full_disk_is_refused_before_the_work(path, monkeypatch):
    usage = type(shutil.disk_usage(path.parent))
    monkeypatch.setattr(shutil, "disk_usage", lambda _: usage(1000, 900, 100))
    with pytest.raises(FileError, match=r"path: got .*No space left on device\); give a path in a folder with room"):
        in_file(path, VALUES.shape, lambda put: pytest.fail("work was done"))
    assert list(path.parent.iterdir()) == []


def test_a_disk_that_fills_up_meanwhile(path):
    path.write_bytes(b"old")

    def failed(put):
        raise OSError(28, "No space left on device")

    with pytest.raises(OSError, match="No space left"):
        in_file(path, VALUES.shape, failed)
    assert path.read_bytes() == b"old"
    assert [entry.name for entry in path.parent.iterdir()] == [path.name]

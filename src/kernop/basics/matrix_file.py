"""A matrix in a file of NumPy's format: written by rows, in any order, then mapped."""

from __future__ import annotations

import errno
import io
import os
import shutil
from collections.abc import Callable
from typing import TypeVar

import numpy as np

from kernop.basics.errors import FloatArray
from kernop.basics.replacing import replacing, target_of, writing

Result = TypeVar("Result")
#: Writes some rows.
Put = Callable[[slice, FloatArray], None]


def in_file(
    path: str | os.PathLike[str], shape: tuple[int, int], fill: Callable[[Put], Result]
) -> tuple[FloatArray, Result]:
    """A matrix of float64 that is mapped for reading, and what ``fill(put)`` returns, which writes its rows.

    A disk without room for it is refused before the work begins, and rows are written by system calls, which say when
    something is wrong; writing to a map of a full disk would kill the process. The file stands at its path only when
    it is complete. One that was there before is replaced, and whoever has mapped it keeps it.
    """
    target, head = target_of(path), io.BytesIO()
    np.lib.format.write_array_header_1_0(head, {"descr": "<f8", "fortran_order": False, "shape": shape})
    first = head.tell()
    with replacing(path) as file:
        with writing(path):
            if 8 * shape[0] * shape[1] > shutil.disk_usage(target.parent).free:
                raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
            file.write(head.getvalue())

        def put(rows: slice, values: FloatArray) -> None:
            with writing(path):
                file.seek(first + 8 * rows.start * shape[1])
                file.write(np.ascontiguousarray(values, dtype="<f8").data)

        result = fill(put)
        with writing(path):
            file.flush()
            matrix = np.memmap(file, "<f8", "r", first, shape) if os.name == "posix" else None
    if matrix is None:  # Windows renames no file that is mapped
        matrix = np.memmap(target, "<f8", "r", first, shape)
    matrix.filename = os.fspath(target)  # it was mapped under another name
    return matrix, result

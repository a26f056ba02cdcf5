"""A matrix in a file of NumPy's format: written by rows, in any order, then mapped."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any, BinaryIO, TypeVar

import numpy as np

from kernop.basics.errors import FloatArray
from kernop.basics.replacing import replacing, set_aside, target_of, writing

Result = TypeVar("Result")
#: Writes some rows.
Put = Callable[[slice, FloatArray], None]


def in_file(
    path: str | os.PathLike[str], shape: tuple[int, int], fill: Callable[[Put], Result]
) -> tuple[FloatArray, Result]:
    """A matrix of float64 that is mapped for reading, and what ``fill(put)`` returns, which writes its rows.

    Its space on the disk is taken before the work begins, and rows are written by system calls, which say when
    something is wrong; writing to a map of a full disk would kill the process. The file stands at its path only when
    it is complete. One that was there before is replaced, and whoever has mapped it keeps it.
    """
    target = target_of(path)
    with replacing(path) as file:
        with writing(path):
            first = _begin(file, shape)

        def put(rows: slice, values: FloatArray) -> None:
            with writing(path):
                file.seek(first + 8 * rows.start * shape[1])
                file.write(np.ascontiguousarray(values).data)

        result = fill(put)
        with writing(path):
            file.flush()
            matrix = _mapped(file, first, shape) if os.name == "posix" else None
    if matrix is None:  # Windows renames no file that is mapped
        with writing(path), open(target, "rb") as file:
            matrix = _mapped(file, first, shape)
    matrix.filename = os.fspath(target)  # it was mapped under another name
    return matrix, result


def _begin(file: BinaryIO, shape: tuple[int, int]) -> int:
    """The head of the file, and room for the rest; where the numbers begin."""
    head: dict[str, Any] = {"descr": np.lib.format.dtype_to_descr(np.dtype(np.float64)), "fortran_order": False}
    np.lib.format.write_array_header_1_0(file, {**head, "shape": shape})
    first = file.tell()
    file.flush()
    set_aside(file, first, 8 * shape[0] * shape[1])
    return first


def _mapped(file: BinaryIO, first: int, shape: tuple[int, int]) -> Any:
    return np.memmap(file, np.float64, "r", first, shape)

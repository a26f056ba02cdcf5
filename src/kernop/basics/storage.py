"""Files of arrays: safetensors with a checked header. Written whole or not at all; read whole or refused.

No pickle and no code: a file holds arrays of float64 or int64 and one JSON object. A SHA-256 digest over both is part
of the file, so that a file that was cut short, changed, or written by something else is refused and never half-used.
"""

from __future__ import annotations

import hashlib
import json
import math
import os
import stat
import struct
import sys
import tempfile
from collections.abc import Callable, Mapping
from typing import Any, BinaryIO

import numpy as np
from numpy.typing import NDArray

from kernop.basics.errors import FileError, KernopError, MemoryLimitError, check_memory, describe, fail
from kernop.basics.replacing import check_path, replacing, target_of, writing

#: The version of the layout below; a reader refuses others.
VERSION = 1
#: What arrays are made of, by its name in a file.
DTYPES = {"F64": np.dtype(np.float64), "I64": np.dtype(np.int64)}
NAMES = {dtype: name for name, dtype in DTYPES.items()}
#: The arrays begin at a multiple of so many bytes.
ALIGNED = 8
#: Characters of the JSON object; what is longer was not written by kernop.
LONGEST_HEADER = 2**24
#: Bytes of the table of the container; those of safetensors are no longer either.
LONGEST_TABLE = 10**8
MORE_MEMORY = "read it where there is more memory"

#: An array of float64 or int64.
Array = NDArray[Any]


def write(
    path: str | os.PathLike[str],
    kind: str,
    header: Mapping[str, Any],
    arrays: Mapping[str, Array],
    argument: str = "path",
) -> None:
    """Write a file of a kind. It replaces an older one only when it is complete on the disk; see `replacing`."""
    target = target_of(path, argument)
    text = json.dumps(dict(header), sort_keys=True, allow_nan=False)
    contiguous = {name: _plain(array) for name, array in arrays.items()}
    about = {"program": "kernop", "kind": kind, "version": str(VERSION), "header": text}
    about["sha256"] = _digest(about, contiguous)
    with writing(path, argument):
        target.parent.mkdir(parents=True, exist_ok=True)
        with replacing(path, argument) as file:
            _put(file, contiguous, about)


def _plain(array: Array) -> Array:
    """By rows, of float64; of int64 where it is of whole numbers."""
    return np.asarray(array, dtype=np.int64 if array.dtype.kind in "iu" else np.float64, order="C")


def check_place(path: str | os.PathLike[str], argument: str = "path") -> None:
    """Make the folder of a file; refuse a path where none can be written, before the work that leads to it."""
    target = target_of(path, argument)
    with writing(path, argument):
        target.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=target.parent):
            pass


def _put(file: BinaryIO, arrays: Mapping[str, Array], about: Mapping[str, str]) -> None:
    """The container of safetensors: the length of a table, the table in JSON, and the arrays.

    The library itself makes temporary files with permissions of their own, maps what it reads, and panics where there
    is no memory; so it serves the tests, which read by it what is written here.
    """
    table: dict[str, Any] = {"__metadata__": dict(about)}
    end = 0
    for name, array in arrays.items():
        start, end = end, end + array.nbytes
        table[name] = {"dtype": NAMES[array.dtype], "shape": list(array.shape), "data_offsets": [start, end]}
    text = json.dumps(table).encode()
    text += b" " * (-len(text) % ALIGNED)
    file.write(struct.pack("<Q", len(text)) + text)
    for array in arrays.values():
        file.write(array.astype(array.dtype.newbyteorder("<"), copy=False).data if array.size else b"")


def read(path: str | os.PathLike[str], kind: str, argument: str = "path") -> tuple[dict[str, Any], dict[str, Array]]:
    """The header and the arrays of a file that `write` wrote, complete and unchanged; everything else is refused."""

    def refuse(got: str, remedy: str) -> KernopError:
        return fail(FileError, argument, f"{os.fspath(path)!r}, {got}", remedy)

    _check_file(path, argument, refuse)
    try:
        with open(path, "rb") as file:
            about, table = _table(file)
            if about.get("program") != "kernop":
                raise refuse("which kernop did not write", "give the path of a file that kernop wrote")
            if about.get("version") != str(VERSION):
                raise refuse(*other_version(about.get("version"), VERSION))
            if about.get("kind") != kind:
                raise refuse(f"which holds {describe(about.get('kind'))}, not {kind!r}", "give another path")
            arrays = _arrays(file, table)
    except KernopError:
        raise
    except OSError as error:
        raise refuse(f"which cannot be read ({error})", "give the path of a file that kernop wrote") from error
    except MemoryError as error:
        got = f"{os.fspath(path)!r}, for which there is no memory ({error})"
        raise fail(MemoryLimitError, argument, got, MORE_MEMORY) from error
    except (ValueError, RecursionError) as error:
        why = str(error).partition("\n")[0]
        raise refuse(f"which is damaged or not of kernop ({why})", "write it again") from error
    if about.get("sha256") != _digest(about, arrays):
        raise refuse("which is damaged: its digest does not match", "write it again")
    try:
        return _header(about), arrays
    except (ValueError, RecursionError) as error:
        raise refuse("whose header is not one that kernop writes", "write it again") from error


def _check_file(path: str | os.PathLike[str], argument: str, refuse: Callable[[str, str], KernopError]) -> None:
    """Refuse what is no file before it is opened: a FIFO would block. And a file that is larger than the memory."""
    check_path(path, argument)
    try:
        found = os.stat(path)
    except (FileNotFoundError, NotADirectoryError) as error:
        raise refuse("which is not a file", "give the path of a file that kernop wrote") from error
    except OSError as error:
        raise refuse(f"which cannot be read ({error})", "give the path of a file that kernop wrote") from error
    if not stat.S_ISREG(found.st_mode):
        raise refuse("which is not a file", "give the path of a file that kernop wrote")
    check_memory(argument, found.st_size // 8, f"{os.fspath(path)!r}", MORE_MEMORY)


def _table(file: BinaryIO) -> tuple[dict[str, str], dict[str, Any]]:
    """The texts at the head of a file, and which arrays follow; a ValueError if it is no such file."""
    rest = os.fstat(file.fileno()).st_size - 8
    length = int.from_bytes(file.read(8), "little")
    if not 2 <= length <= min(rest, LONGEST_TABLE):
        raise ValueError("its table is not there")
    table = _object(file.read(length).decode())
    about = table.pop("__metadata__", {})
    if not isinstance(about, dict) or not all(isinstance(text, str) for text in about.values()):
        raise ValueError("its metadata are no texts")
    return about, table


def _arrays(file: BinaryIO, table: Mapping[str, Any]) -> dict[str, Array]:
    """All arrays, one behind the other to the end of the file. None is made before it is known to be there."""
    place = file.tell()
    rest, found = os.fstat(file.fileno()).st_size - place, dict[str, Array]()
    kinds = {name: _kind(name, entry) for name, entry in table.items()}
    if sum(size for _, _, _, size in kinds.values()) != rest:
        raise ValueError("it is not as long as its arrays")
    for name, (dtype, shape, start, size) in sorted(kinds.items(), key=lambda item: item[1][2:]):
        if start != file.tell() - place:
            raise ValueError(f"{name!r} is not where its table says")
        values = np.empty(shape, dtype)
        if size and file.readinto(values.reshape(-1).view(np.uint8)) != size:  # pyright: ignore[reportAttributeAccessIssue]
            raise ValueError("it is cut short")
        found[name] = values if sys.byteorder == "little" else values.byteswap()
    return found


def _kind(name: str, entry: Any) -> tuple[np.dtype[Any], tuple[int, ...], int, int]:
    """Of what an array is, its shape, and where it is: its start and its size in bytes."""
    if not isinstance(entry, dict) or entry.keys() != {"dtype", "shape", "data_offsets"}:
        raise ValueError(f"{name!r} is no array")
    found, shape, offsets = entry["dtype"], entry["shape"], entry["data_offsets"]
    if not isinstance(found, str) or found not in DTYPES:
        raise ValueError(f"{name!r} is an array of {describe(found)}")
    if not _whole(shape) or not _whole(offsets) or len(offsets) != 2:
        raise ValueError(f"{name!r} has no shape")
    size = 8 * math.prod(shape)
    if offsets[1] - offsets[0] != size:
        raise ValueError(f"{name!r} is not as long as its shape says")
    return DTYPES[found], tuple(shape), offsets[0], size


def _whole(values: Any) -> bool:
    return isinstance(values, list) and all(type(value) is int and value >= 0 for value in values)


def other_version(found: object, known: int) -> tuple[str, str]:
    """What is wrong with a file of another version, and what to do."""
    if str(found).isdecimal() and int(str(found)[:9]) > known:
        got = f"which a newer kernop wrote (version {str(found)[:9]} of the format, where this one reads {known})"
        return got, "update kernop"
    return f"of version {found!r} where this kernop reads {known}", "use the version of kernop that wrote it"


def _header(about: Mapping[str, str]) -> dict[str, Any]:
    text = about.get("header", "")
    if len(text) > LONGEST_HEADER:
        raise ValueError("the header is too long")
    return _object(text)


def _object(text: str) -> dict[str, Any]:
    """An object of JSON, without the numbers that JSON does not have."""

    def refuse(word: str) -> Any:
        raise ValueError(f"{word} is not a number")

    found = json.loads(text, parse_constant=refuse)
    if not isinstance(found, dict):
        raise ValueError("it is no object")
    return found


def _digest(about: Mapping[str, str], arrays: Mapping[str, Array]) -> str:
    digest = hashlib.sha256()
    for part in ("program", "kind", "version", "header"):
        digest.update(f"{part}={about.get(part)}\n".encode(errors="surrogatepass"))
    for name in sorted(arrays):
        array = np.asarray(arrays[name], order="C")
        digest.update(f"{name}:{array.dtype}:{array.shape}\n".encode(errors="surrogatepass"))
        digest.update(array.data if array.size else b"")
    return digest.hexdigest()

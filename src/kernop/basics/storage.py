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
from collections.abc import Mapping
from io import BufferedReader
from typing import Any, BinaryIO

import numpy as np
from numpy.typing import NDArray

from kernop.basics.checks import check_memory
from kernop.basics.errors import FileError, KernopError, describe, fail
from kernop.basics.replacing import check_path, replacing, target_of, writing
from kernop.basics.shelf import Shelf, shelf_for

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

#: What reading raises where a file is none of ours.
FOREIGN = (ValueError, TypeError, LookupError, AttributeError, RecursionError)

#: An array of float64 or int64.
Array = NDArray[Any]
#: An object of JSON, whose parts are checked by those who read them.
JsonObject = dict[str, Any]
Path = str | os.PathLike[str]


def write(
    path: Path, kind: str, header: Mapping[str, object], arrays: Mapping[str, Array], argument: str = "path"
) -> None:
    """Write a file of a kind. It replaces an older one only when it is complete on the disk; see `replacing`."""
    target = target_of(path, argument)
    text = json.dumps(dict(header), sort_keys=True, allow_nan=False)
    kinds = {name: np.int64 if array.dtype.kind in "iu" else np.float64 for name, array in arrays.items()}
    plain = {name: np.asarray(array, dtype=kinds[name], order="C") for name, array in arrays.items()}
    texts = {"program": "kernop", "kind": kind, "version": str(VERSION), "header": text}
    texts["sha256"] = _digest(texts, plain)
    with writing(path, argument):
        target.parent.mkdir(parents=True, exist_ok=True)
        with replacing(path, argument) as file:
            _put(file, plain, texts)


def check_place(path: Path, argument: str = "path") -> None:
    """Make the folder of a file; refuse a path where none can be written, before the work that leads to it."""
    target = target_of(path, argument)
    with writing(path, argument):
        target.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=target.parent):
            pass


def _put(file: BinaryIO, arrays: Mapping[str, Array], texts: Mapping[str, str]) -> None:
    """The container of safetensors: the length of a table, the table in JSON, and the arrays.

    The library itself makes temporary files with permissions of their own, maps what it reads, and panics where there
    is no memory; so it serves the tests, which read by it what is written here.
    """
    table: JsonObject = {"__metadata__": dict(texts)}
    end = 0
    for name, array in arrays.items():
        start, end = end, end + array.nbytes
        table[name] = {"dtype": NAMES[array.dtype], "shape": list(array.shape), "data_offsets": [start, end]}
    text = json.dumps(table).encode()
    text += b" " * (-len(text) % ALIGNED)
    file.write(struct.pack("<Q", len(text)) + text)
    for array in arrays.values():
        file.write(array.astype(array.dtype.newbyteorder("<"), copy=False).data if array.size else b"")


def read(path: Path, kind: str, argument: str = "path") -> tuple[JsonObject, dict[str, Array]]:
    """The header and the arrays of a file that `write` wrote, complete and unchanged; everything else is refused."""

    def refuse(got: str, remedy: str = "give the path of a file that kernop wrote") -> KernopError:
        return fail(FileError, argument, f"{os.fspath(path)!r}, {got}", remedy)

    check_path(path, argument)
    try:
        about = os.stat(path)
        if not stat.S_ISREG(about.st_mode):  # to open a FIFO would wait for its writer
            raise refuse("which is not a file")
        shelf = shelf_for(argument, about.st_size // 8, f"{os.fspath(path)!r}", MORE_MEMORY)
        with open(path, "rb") as file:
            texts, table = _table(file, about.st_size)
            if texts.get("program") != "kernop":
                raise refuse("which kernop did not write")
            if texts.get("version") != str(VERSION):
                raise refuse(*other_version(texts.get("version"), VERSION))
            if texts.get("kind") != kind:
                raise refuse(f"which holds {describe(texts.get('kind'))}, not {kind!r}", "give another path")
            arrays = _arrays(file, table, about.st_size, shelf)
    except KernopError:
        raise
    except (FileNotFoundError, NotADirectoryError) as error:
        raise refuse("which is not a file") from error
    except OSError as error:
        raise refuse(f"which cannot be read ({error})") from error
    except FOREIGN as error:
        why = str(error).partition("\n")[0]
        raise refuse(f"which is damaged or not of kernop ({why})", "write it again") from error
    if texts.get("sha256") != _digest(texts, arrays):
        raise refuse("which is damaged: its digest does not match", "write it again")
    try:
        return _object(texts.get("header", ""), LONGEST_HEADER), arrays
    except FOREIGN as error:
        raise refuse("whose header is not one that kernop writes", "write it again") from error


def _table(file: BufferedReader, size: int) -> tuple[dict[str, str], JsonObject]:
    """The texts at the head of a file, and which arrays follow; a ValueError if it is no such file."""
    length = int.from_bytes(file.read(8), "little")
    if not 2 <= length <= size - 8:
        raise ValueError("its table is not there")
    table = _object(file.read(length).decode(), LONGEST_TABLE)
    texts = table.pop("__metadata__", {})
    if not isinstance(texts, dict) or not all(isinstance(text, str) for text in texts.values()):
        raise ValueError("its metadata are no texts")
    return texts, table


def _arrays(file: BufferedReader, table: JsonObject, size: int, shelf: Shelf | None) -> dict[str, Array]:
    """All arrays, one behind the other to the end of the file. None is made before it is known to be there.

    What does not fit into memory is copied to a shelf, array by array: the file may be written to later.
    """
    first, found = file.tell(), dict[str, Any]()
    for name, entry in sorted(table.items(), key=lambda item: item[1]["data_offsets"]):
        shape, (start, end) = entry["shape"], entry["data_offsets"]
        if entry["dtype"] not in DTYPES:
            raise ValueError(f"{name!r} is an array of {describe(entry['dtype'])}")
        if any(type(n) is not int or n < 0 for n in shape) or end - start != 8 * math.prod(shape):
            raise ValueError(f"{name!r} is not as long as its shape says")
        if start != file.tell() - first or first + end > size:
            raise ValueError(f"{name!r} is not where its table says")
        if shelf is not None:
            check_memory("path", math.prod(shape), f"an array of {shape} in it", MORE_MEMORY)
        values = np.empty(shape, DTYPES[entry["dtype"]])
        if values.size and file.readinto(values.reshape(-1).view(np.uint8).data) != values.nbytes:
            raise ValueError("it is cut short")
        values = values if sys.byteorder == "little" else values.byteswap()
        found[name] = values if shelf is None else shelf.put(values)
    if file.tell() != size:
        raise ValueError("it is longer than its arrays")
    return found if shelf is None else dict(zip(found, shelf.opened(list(found.values())), strict=True))


def other_version(found: object, known: int) -> tuple[str, str]:
    """What is wrong with a file of another version, and what to do."""
    if str(found).isdecimal() and int(str(found)[:9]) > known:
        got = f"which a newer kernop wrote (version {str(found)[:9]} of the format, where this one reads {known})"
        return got, "update kernop"
    return f"of version {found!r} where this kernop reads {known}", "use the version of kernop that wrote it"


def _object(text: str, longest: int) -> JsonObject:
    """An object of JSON, without the numbers that JSON does not have."""

    def refuse(word: str) -> float:
        raise ValueError(f"{word} is not a number")

    found = json.loads(text, parse_constant=refuse) if len(text) <= longest else None
    if not isinstance(found, dict):
        raise ValueError("it is no object, or too long")
    return found


def _digest(texts: Mapping[str, str], arrays: Mapping[str, Array]) -> str:
    digest = hashlib.sha256()
    for part in ("program", "kind", "version", "header"):
        digest.update(f"{part}={texts.get(part)}\n".encode(errors="surrogatepass"))
    for name in sorted(arrays):
        array = np.asarray(arrays[name], order="C")
        digest.update(f"{name}:{array.dtype}:{array.shape}\n".encode(errors="surrogatepass"))
        digest.update(array.data if array.size else b"")
    return digest.hexdigest()

"""Files of arrays: safetensors with a checked header. Written whole or not at all; read whole or refused.

No pickle and no code: a file holds arrays of float64 or int64 and one JSON object. A SHA-256 digest over both is part
of the file, so that a file that was cut short, changed, or written by something else is refused and never half-used.
"""

from __future__ import annotations

import hashlib
import json
import os
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from safetensors import SafetensorError, safe_open
from safetensors.numpy import save_file

from kernop.errors import ArgumentTypeError, FileError, KernopError, describe, fail

#: The version of the layout below; a reader refuses others.
VERSION = 1
#: What arrays are made of, by its name in a file.
DTYPES = {"F64": np.dtype(np.float64), "I64": np.dtype(np.int64)}
#: Characters of the JSON object; what is longer was not written by kernop.
LONGEST_HEADER = 2**24

#: An array of float64 or int64.
Array = NDArray[Any]


def write(
    path: str | os.PathLike[str],
    kind: str,
    header: Mapping[str, Any],
    arrays: Mapping[str, Array],
    argument: str = "path",
) -> None:
    """Write a file of a kind. It replaces an older one only when it is complete on the disk."""
    check_path(path, argument)
    text = json.dumps(dict(header), sort_keys=True, allow_nan=False)
    contiguous = {name: _plain(array) for name, array in arrays.items()}
    about = {"program": "kernop", "kind": kind, "version": str(VERSION), "header": text}
    about["sha256"] = _digest(about, contiguous)
    try:
        _write(Path(path), contiguous, about)
    except (SafetensorError, OSError) as error:
        raise _unwritable(path, argument, error) from error


def _plain(array: Array) -> Array:
    """By rows, of float64; of int64 where it is of whole numbers."""
    return np.asarray(array, dtype=np.int64 if array.dtype.kind in "iu" else np.float64, order="C")


def check_path(path: Any, argument: str = "path") -> None:
    """Refuse what is not the path of a file."""
    if not isinstance(path, str | os.PathLike) or not isinstance(os.fspath(path), str) or "\0" in os.fspath(path):
        raise fail(ArgumentTypeError, argument, describe(path), "give the path of a file, such as 'darcy.kernop'")
    if not Path(path).name:
        got = f"{os.fspath(path)!r}, which does not name a file"
        raise fail(FileError, argument, got, "give the path of a file, such as 'darcy.kernop'")


def check_place(path: str | os.PathLike[str], argument: str = "path") -> None:
    """Make the folder of a file; refuse a path where none can be written, before the work that leads to it."""
    try:
        folder = Path(path).parent
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=folder):
            pass
    except OSError as error:
        raise _unwritable(path, argument, error) from error


def _unwritable(path: str | os.PathLike[str], argument: str, error: Exception) -> KernopError:
    got = f"{os.fspath(path)!r}, which cannot be written ({error})"
    return fail(FileError, argument, got, "give a path in a folder with room")


def _write(target: Path, arrays: dict[str, Array], about: dict[str, str]) -> None:
    target.parent.mkdir(parents=True, exist_ok=True)
    # One name, so that a process that is killed here leaves nothing that the next one does not take away.
    part = target.with_name(f".{target.name}.part")
    try:
        save_file(arrays, part, metadata=about)
        with open(part, "rb+") as file:
            os.fsync(file.fileno())
        os.replace(part, target)
    except BaseException:
        part.unlink(missing_ok=True)
        raise


def read(path: str | os.PathLike[str], kind: str, argument: str = "path") -> tuple[dict[str, Any], dict[str, Array]]:
    """The header and the arrays of a file that `write` wrote, complete and unchanged; everything else is refused."""

    def refuse(got: str, remedy: str) -> Exception:
        return fail(FileError, argument, f"{os.fspath(path)!r}, {got}", remedy)

    check_path(path, argument)
    if not Path(path).is_file():
        raise refuse("which is not a file", "give the path of a file that kernop wrote")
    try:
        with safe_open(os.fspath(path), framework="numpy") as file:
            about = file.metadata() or {}
            if about.get("program") != "kernop":
                raise refuse("which kernop did not write", "give the path of a file that kernop wrote")
            if about.get("version") != str(VERSION):
                raise refuse(*other_version(about.get("version"), VERSION))
            if about.get("kind") != kind:
                raise refuse(f"which holds {about.get('kind')!r}, not {kind!r}", "give another path")
            arrays = {name: _array(file, name) for name in file.keys()}  # noqa: SIM118 (not a dict)
    except (SafetensorError, OSError, ValueError, TypeError) as error:
        if isinstance(error, FileError):
            raise
        why = str(error).partition("\n")[0]
        raise refuse(f"which is damaged or not of kernop ({why})", "write it again") from error
    if about.get("sha256") != _digest(about, arrays):
        raise refuse("which is damaged: its digest does not match", "write it again")
    try:
        return _header(about), arrays
    except (ValueError, RecursionError) as error:
        raise refuse("whose header is not one that kernop writes", "write it again") from error


def other_version(found: object, known: int) -> tuple[str, str]:
    """What is wrong with a file of another version, and what to do."""
    if str(found).isdecimal() and int(str(found)[:9]) > known:
        got = f"which a newer kernop wrote (version {str(found)[:9]} of the format, where this one reads {known})"
        return got, "update kernop"
    return f"of version {found!r} where this kernop reads {known}", "use the version of kernop that wrote it"


def _array(file: Any, name: str) -> Array:
    """An array, if it is of a kind that kernop writes; its size has been checked against that of the file."""
    found = file.get_slice(name).get_dtype()
    if found not in DTYPES:
        raise ValueError(f"{name!r} is an array of {found}")
    return file.get_tensor(name)


def _header(about: Mapping[str, str]) -> dict[str, Any]:
    def refuse(word: str) -> Any:
        raise ValueError(f"{word} is not a number")

    text = about.get("header", "")
    header = json.loads(text, parse_constant=refuse) if len(text) <= LONGEST_HEADER else None
    if not isinstance(header, dict):
        raise ValueError("the header is no object")
    return header


def _digest(about: Mapping[str, str], arrays: Mapping[str, Array]) -> str:
    digest = hashlib.sha256()
    for part in ("program", "kind", "version", "header"):
        digest.update(f"{part}={about.get(part)}\n".encode())
    for name in sorted(arrays):
        array = np.asarray(arrays[name], order="C")
        digest.update(f"{name}:{array.dtype}:{array.shape}\n".encode())
        digest.update(array.data if array.size else b"")
    return digest.hexdigest()

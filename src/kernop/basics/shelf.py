"""Values in a file without a name, in memory or on disk: it is gone when nobody has it open or mapped any more.

So nothing is left behind, however a process ends. Other processes of this machine can write to it while it is open.
"""

from __future__ import annotations

import mmap
import os
import pickle
import secrets
import shutil
import stat
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import islice
from threading import Lock
from typing import Any, BinaryIO

import numpy as np

try:
    import fcntl
except ImportError:  # there is none on Windows
    fcntl = None

from kernop.basics.checks import check_memory
from kernop.basics.errors import FileError, MemoryLimitError, fail
from kernop.basics.memory import address_space

#: Arrays begin at a multiple of so many bytes.
ALIGNED = 64
#: Bytes by which a file is known to those who find it.
TOKEN = 16


@dataclass(frozen=True)
class Address:
    """Where processes of this machine find the file of a shelf, and by what they know that it is the same."""

    path: str
    device: int
    inode: int
    token: bytes


@dataclass(frozen=True, eq=False)
class Parcel:
    """A value on a shelf.

    Arguments:
        token: of the shelf.
        head: all of it but its arrays.
        starts, ends: where the bytes of each array are in the file.
    """

    token: bytes
    head: bytes
    starts: tuple[int, ...]
    ends: tuple[int, ...]


class Shelf:
    """Values whose arrays stand in a file; `opened` gives them back with arrays that are mapped, and read-only."""

    def __init__(self, file: BinaryIO) -> None:
        self._file, self._lock, token = file, Lock(), secrets.token_bytes(TOKEN)
        file.write(token)
        file.flush()
        about = os.fstat(file.fileno())
        self.address = Address(f"/proc/{os.getpid()}/fd/{file.fileno()}", about.st_dev, about.st_ino, token)

    @classmethod
    def in_memory(cls) -> Shelf | None:
        """One that takes no disk; None where the system has no such files."""
        if not hasattr(os, "memfd_create"):
            return None
        return cls(os.fdopen(os.memfd_create("kernop", os.MFD_CLOEXEC), "w+b"))

    @classmethod
    def on_disk(cls) -> Shelf:
        """One in the folder for temporary files."""
        return cls(tempfile.TemporaryFile("w+b"))

    def put(self, value: object) -> Parcel:
        """Write a value; it can then leave the memory."""
        with self._lock:
            return _put(self._file.fileno(), self.address.token, value)

    def opened(self, parcels: Sequence[Parcel]) -> list[Any]:
        """The values of parcels, here or of other processes."""
        if not parcels:
            return []
        whole = memoryview(mmap.mmap(self._file.fileno(), 0, access=mmap.ACCESS_READ))
        return [
            pickle.loads(own.head, buffers=[whole[a:b] for a, b in zip(own.starts, own.ends, strict=True)])
            for own in parcels
        ]


def shelf_for(name: str, doubles: int, what: str, remedy: str) -> Shelf | None:
    """A shelf on disk for so many numbers; None if they fit into memory. Raises if they fit nowhere."""
    try:
        check_memory(name, doubles, what, remedy)
    except MemoryLimitError:
        left = [shutil.disk_usage(tempfile.gettempdir()).free, address_space()]
        if any(room is not None and 8 * doubles > room for room in left):
            raise
        return Shelf.on_disk()
    return None


def put_there(address: Address | None, value: object) -> Parcel | object:
    """Put a value on the shelf of another process of this machine; from another machine, the value itself."""
    try:
        about = None if address is None else os.stat(address.path)
    except OSError:
        about = None
    if address is None or about is None or not stat.S_ISREG(about.st_mode):
        return value
    if (about.st_dev, about.st_ino) != (address.device, address.inode):
        return value
    handle = os.open(address.path, os.O_RDWR)
    try:
        return _put(handle, address.token, value) if os.read(handle, TOKEN) == address.token else value
    finally:
        os.close(handle)


def opened(shelves: Sequence[Shelf], found: Sequence[Sequence[object]]) -> list[list[Any]]:
    """The same with the values of parcels, which are on several shelves."""
    flat: list[Any] = [own for some in found for own in some]
    for shelf in shelves:
        mine = [k for k, own in enumerate(flat) if isinstance(own, Parcel) and own.token == shelf.address.token]
        for k, value in zip(mine, shelf.opened([flat[k] for k in mine]), strict=True):
            flat[k] = value
    rest = iter(flat)
    return [list(islice(rest, len(some))) for some in found]


def _put(handle: int, token: bytes, value: object) -> Parcel:
    buffers: list[pickle.PickleBuffer] = []
    head = pickle.dumps(value, protocol=5, buffer_callback=buffers.append)
    views = [own.raw() for own in buffers]
    lengths = [-(-view.nbytes // ALIGNED) * ALIGNED for view in views]
    try:
        first = _reserved(handle, sum(lengths))
        with open(handle, "wb", closefd=False) as file:
            file.seek(first)
            for view, length in zip(views, lengths, strict=True):
                file.write(view)
                file.write(bytes(length - view.nbytes))
    except OSError as error:
        got = f"parts that cannot be written to a temporary file ({error})"
        raise fail(FileError, "method", got, "let TMPDIR name a folder with more room") from error
    starts = np.cumsum([first, *lengths[:-1]])[: len(views)].tolist()
    return Parcel(token, head, tuple(starts), tuple(a + view.nbytes for a, view in zip(starts, views, strict=True)))


def _reserved(handle: int, size: int) -> int:
    """Where room for so many bytes begins, which no other process takes."""
    if fcntl is not None:
        fcntl.flock(handle, fcntl.LOCK_EX)
    try:
        first = -(-os.fstat(handle).st_size // ALIGNED) * ALIGNED
        os.ftruncate(handle, first + size)
    finally:
        if fcntl is not None:
            fcntl.flock(handle, fcntl.LOCK_UN)
    return first

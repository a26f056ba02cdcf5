"""Files that are replaced in one step: whoever looks at the path sees the old file, or the new one, and both whole."""

from __future__ import annotations

import os
import re
import secrets
import stat
from collections.abc import Generator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import BinaryIO

try:
    import fcntl
except ImportError:  # there is none on Windows
    fcntl = None

from kernop.basics.checks import check_kind
from kernop.basics.errors import ArgumentTypeError, FileError, KernopError, describe, fail

#: What a path may lead to that cannot be replaced by a file.
KINDS = {
    stat.S_IFDIR: "a directory",
    stat.S_IFIFO: "a FIFO",
    stat.S_IFSOCK: "a socket",
    stat.S_IFCHR: "a device",
    stat.S_IFBLK: "a device",
}
#: Characters of the name of a file that the name of its unfinished version repeats; with all it might be too long.
STEM = 40


def check_path(path: object, argument: str = "path") -> None:
    """Refuse what is not the path of a file."""
    remedy = "give the path of a file, such as 'darcy.kernop'"
    text: object = os.fspath(check_kind(argument, path, str | os.PathLike, remedy))
    if not isinstance(text, str) or "\0" in text or text.encode(errors="replace").decode() != text:
        raise fail(ArgumentTypeError, argument, describe(path), remedy)
    if not Path(text).name:
        raise fail(FileError, argument, f"{text!r}, which does not name a file", remedy)


def unwritable(path: str | os.PathLike[str], argument: str, why: object) -> KernopError:
    """The error for a path to which nothing can be written."""
    got = f"{os.fspath(path)!r}, which cannot be written ({why})"
    return fail(FileError, argument, got, "give a path in a folder with room")


def target_of(path: str | os.PathLike[str], argument: str = "path") -> Path:
    """The file that a path leads to, behind all links; there may be none yet. What is no file is refused."""
    check_path(path, argument)
    try:
        target = Path(os.path.realpath(path))
        mode = target.stat().st_mode
    except FileNotFoundError:
        return Path(os.path.realpath(path))
    except OSError as error:
        raise unwritable(path, argument, error) from error
    if not stat.S_ISREG(mode):
        raise unwritable(path, argument, f"not a file but {KINDS.get(stat.S_IFMT(mode), 'something else')}")
    return target


@contextmanager
def replacing(path: str | os.PathLike[str], argument: str = "path") -> Generator[BinaryIO]:
    """A new file, open for reading and writing, which takes the place of the old one when the block ends well.

    Until then it has a name of its own in the same folder, ``.<name>.<16 hexadecimal digits>.part``, which no other
    process or thread uses; so many may write to one path, and the last one stands there in the end. A symbolic link
    is followed, and stays. The new file has the permissions of the old one, or those that the umask says. Directories,
    devices, FIFOs and sockets are refused.

    If the block fails, the unfinished file is removed. A process that is killed leaves it; the next one that writes
    to the same path takes it away, because the lock that its owner held on it is gone.
    """
    target = target_of(path, argument)
    with writing(path, argument):
        _sweep(target)
        part, file = _part_of(target)
    try:
        yield file
        with writing(path, argument):
            _finish(file, part, target)
    except BaseException:
        with suppress(OSError):  # what could not be written is still in its buffer
            file.close()
        part.unlink(missing_ok=True)
        raise
    file.close()


@contextmanager
def writing(path: str | os.PathLike[str], argument: str = "path") -> Generator[None]:
    """What the system says about a file that is being written, as a FileError."""
    try:
        yield
    except OSError as error:
        raise unwritable(path, argument, error) from error


def _finish(file: BinaryIO, part: Path, target: Path) -> None:
    file.flush()
    _permit(file, target)
    os.fsync(file.fileno())
    if fcntl is None:
        file.close()  # Windows renames no open file; elsewhere the lock must last until there is nothing to sweep
    os.replace(part, target)
    with suppress(OSError):  # the new name is on the disk too, where folders can be synchronised
        handle = os.open(target.parent, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)


def _part_of(target: Path) -> tuple[Path, BinaryIO]:
    """A new file beside the target, locked as long as it is open."""
    while True:
        part = target.with_name(f".{target.name[:STEM]}.{secrets.token_hex(8)}.part")
        with suppress(FileExistsError):
            file = os.fdopen(os.open(part, os.O_RDWR | os.O_CREAT | os.O_EXCL | _BINARY, 0o666), "w+b")
            # Between the two calls another process may have taken it for one that was left.
            if _locked(file) is not False and part.exists():
                return part, file
            file.close()


#: Windows would else write \r\n for every byte 10.
_BINARY = getattr(os, "O_BINARY", 0)


def _locked(file: BinaryIO) -> bool | None:
    """Take the lock of a file: did it work? None where there are no locks."""
    if fcntl is None:
        return None
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    except OSError:  # a file system without locks
        return None
    return True


def _sweep(target: Path) -> None:
    """Remove what killed processes left of this file; nothing depends on it."""
    pattern = re.compile(re.escape(f".{target.name[:STEM]}.") + r"[0-9a-f]{16}\.part")
    with suppress(OSError):
        for entry in list(os.scandir(target.parent)):
            if pattern.fullmatch(entry.name) and entry.is_file(follow_symlinks=False):
                with suppress(OSError), open(entry.path, "rb") as file:
                    if _locked(file):
                        os.unlink(entry.path)


def _permit(file: BinaryIO, target: Path) -> None:
    """The owner and the permissions of the old file, if there is one, as far as we may give them."""
    if not hasattr(os, "fchmod") or not target.exists():
        return
    old = target.stat()
    with suppress(OSError):
        os.fchown(file.fileno(), old.st_uid, old.st_gid)
    with suppress(OSError):
        os.fchmod(file.fileno(), stat.S_IMODE(old.st_mode) & 0o777)

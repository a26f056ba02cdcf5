"""Checkpoints: a pass that was interrupted goes on from the last one."""

from __future__ import annotations

import hashlib
import os
import time
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from kernop.basics import storage
from kernop.basics.checks import check_number
from kernop.basics.codec import Decoder, Encoder
from kernop.basics.errors import FileError, FloatArray, KernopError, fail
from kernop.basics.replacing import check_path, target_of
from kernop.methods.accumulators import KeptRows
from kernop.methods.regression import Regression

KIND = "checkpoint"


@dataclass(frozen=True)
class Checkpoint:
    """A file from which a pass can go on after it was interrupted; it is removed when the pass is complete.

    The file knows of which pass it is: the problem, its points, the functions, the weights and the inputs. One that is
    damaged, or of another pass, is refused. To go on, the points that were read are read again and compared, every one
    of them; their rows, which take the time, are not made again.

    Arguments:
        path: where; it is replaced only by a complete one.
        every: seconds between two checkpoints.
    """

    path: str | os.PathLike[str]
    every: float = 60.0

    def __post_init__(self) -> None:
        object.__setattr__(self, "every", check_number("every", self.every, least=0.0))
        check_path(self.path, "checkpoint")


class CheckpointFile:
    """The file of the checkpoints of one pass, which a regression tells from others."""

    def __init__(self, checkpoint: Checkpoint, regression: Regression) -> None:
        storage.check_place(checkpoint.path, "checkpoint")
        self._path, self._every = target_of(checkpoint.path, "checkpoint"), checkpoint.every
        self._signature, self._values = _identity(regression)
        self._last = time.monotonic()

    def read(self) -> tuple[KeptRows, ...]:
        """What the last checkpoint of this pass holds; nothing if there is none."""
        if not self._path.exists():
            return ()
        header, arrays = storage.read(self._path, KIND, "checkpoint")
        file = Decoder(arrays, self._refused)
        signature, values = file.part(str, header, "signature"), file.part(FloatArray, header, "identity")
        kept: tuple[KeptRows, ...] = file.part(tuple[KeptRows, ...], header, "kept")
        file.finish()
        same = signature == self._signature and values.shape == self._values.shape
        if not same or not np.allclose(values, self._values, rtol=1e-9, atol=0.0):
            raise self.other()
        return kept

    def other(self) -> KernopError:
        """The error of a file that was written by another pass."""
        got = f"{os.fspath(self._path)!r}, a checkpoint of another pass"
        remedy = "delete it to start anew, or give the same problem, points, method and inputs"
        return fail(FileError, "checkpoint", got, remedy)

    def _refused(self, got: str) -> KernopError:
        return fail(FileError, "checkpoint", f"{os.fspath(self._path)!r}, {got}", "delete it to start anew")

    def offer(self, kept: Callable[[], tuple[KeptRows, ...]]) -> None:
        """Write what ``kept`` tells, if it is time."""
        if time.monotonic() - self._last < self._every:
            return
        file = Encoder()
        header = file.encode({"signature": self._signature, "identity": self._values, "kept": kept()})
        storage.write(self._path, KIND, header, file.arrays, "checkpoint")
        self._last = time.monotonic()

    def remove(self) -> None:
        """The pass is complete. What it gave is not lost because its checkpoint cannot be removed."""
        try:
            self._path.unlink(missing_ok=True)
        except OSError as error:
            warnings.warn(f"checkpoint: {os.fspath(self._path)!r} cannot be removed ({error}).", stacklevel=2)


def read_checkpoint(checkpoint: Any) -> Checkpoint | None:
    """The user's ``checkpoint``: a path, or a `Checkpoint`."""
    if checkpoint is None or isinstance(checkpoint, Checkpoint):
        return checkpoint
    return Checkpoint(checkpoint)


def _identity(regression: Regression) -> tuple[str, FloatArray]:
    """What tells passes apart: a digest of what is exact, and values that other processors may round differently."""
    rows, expansion, batches = regression.rows, regression.expansion, regression.rows.stream.sampled()
    digest = hashlib.sha256()
    words, numbers = expansion.signature  # a user's functions are told apart by the values below
    solver = "qr" if regression.orthogonal else "normal"
    for part in (solver, rows.names, rows.stream.number, rows.columns, words):
        digest.update(f"{part}\n".encode())
    places = (points.x for batch in batches for points in batch.values())
    for array in (*numbers, *places):
        digest.update(np.ascontiguousarray(array, dtype=np.float64).tobytes())
    sampled = rows.sampled()
    weighted = [regression.weighted(part) for part in sampled]
    values = [block.coefficients.ravel() for part in weighted for block in part.blocks]
    values.append(np.linalg.norm(regression.design(sampled[0]), axis=1))
    values += [regression.data(part).ravel() for part in sampled]
    return digest.hexdigest(), np.concatenate(values)

"""Checkpoints: a pass that was interrupted goes on from the last one."""

from __future__ import annotations

import hashlib
import os
import re
import time
import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice
from typing import Any

import jax
import numpy as np

from kernop.basics import storage
from kernop.basics.codec import ARRAY, Decoder
from kernop.basics.errors import FileError, FloatArray, KernopError, check_number, fail
from kernop.basics.replacing import check_path, target_of
from kernop.collocation.batches import Batch, fingerprint
from kernop.learning.streaming.plan import Plan
from kernop.methods.accumulators import Accumulator

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


class Guard:
    """The checkpoints of one pass."""

    def __init__(self, checkpoint: Checkpoint, plan: Plan) -> None:
        storage.check_place(checkpoint.path, "checkpoint")
        self._path, self._every = target_of(checkpoint.path, "checkpoint"), checkpoint.every
        self._signature, self._values = _identity(plan)
        self._last = time.monotonic()
        self._batches, self._read = 0, b""

    def resume(self, accumulator: Accumulator, batches: Iterator[Batch]) -> int:
        """Bring an empty accumulator to the state of the file, if there is one; how many batches it has seen.

        These are taken from ``batches``, and their points compared; their rows are not made again.
        """
        if not self._path.exists():
            return 0
        header, arrays = storage.read(self._path, KIND, "checkpoint")
        file = Decoder(arrays, self._refused)
        identity = file.decode(FloatArray, {ARRAY: "identity"}, "identity")
        if file.part(str, header, "signature") != self._signature or not self._same(identity):
            raise self._other()
        empty = accumulator.arrays()
        state = {name: file.decode(FloatArray, {ARRAY: name}, name) for name in empty}
        seen, rows = file.part(int, header, "batches"), file.part(int, header, "rows")
        # The first versions of these files did not tell which points they had read.
        known = file.part(str, header, "read") if "read" in header else None
        file.finish()
        if any(state[name].shape != empty[name].shape for name in empty) or seen < 1:
            raise self._other()
        if self._taken(batches, seen) != rows or known not in (None, self._read.hex()):
            raise self._other()
        accumulator.restore(state)
        accumulator.rows = rows
        return seen

    def _same(self, values: FloatArray) -> bool:
        return values.shape == self._values.shape and np.allclose(values, self._values, rtol=1e-9, atol=0.0)

    def _taken(self, batches: Iterator[Batch], number: int) -> int:
        """Read so many batches; how many points they have. Fewer if there are not so many."""
        rows = 0
        for batch in islice(batches, number):
            self._note(batch)
            rows += sum(map(len, batch.values()))
        return rows if self._batches == number else -1

    def _note(self, batch: Batch) -> None:
        """Chain the digest of one more batch to that of all before it."""
        own = f"{list(batch)}".encode() + fingerprint(batch.values())
        self._read = hashlib.sha256(self._read + own).digest()
        self._batches += 1

    def _other(self) -> KernopError:
        got = f"{os.fspath(self._path)!r}, a checkpoint of another pass"
        remedy = "delete it to start anew, or give the same problem, points, method and inputs"
        return fail(FileError, "checkpoint", got, remedy)

    def _refused(self, got: str) -> KernopError:
        return fail(FileError, "checkpoint", f"{os.fspath(self._path)!r}, {got}", "delete it to start anew")

    def offer(self, accumulator: Accumulator, batch: Batch) -> None:
        """Note that a batch was taken in, and write the state, if it is time."""
        self._note(batch)
        if time.monotonic() - self._last < self._every:
            return
        header = {
            "signature": self._signature,
            "batches": self._batches,
            "rows": accumulator.rows,
            "read": self._read.hex(),
        }
        storage.write(self._path, KIND, header, {**accumulator.arrays(), "identity": self._values}, "checkpoint")
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


def _identity(plan: Plan) -> tuple[str, FloatArray]:
    """What tells passes apart: a digest of what is exact, and values that other processors may round differently."""
    expansion, batches = plan.rows.expansion, plan.stream.sampled()
    leaves, structure = jax.tree.flatten(expansion.kernel)
    digest = hashlib.sha256()
    # Functions have other addresses in another process; their values below tell them apart.
    kernel = re.sub(r" at 0x[0-9a-f]+", "", str(structure))
    for part in (plan.method.solver, plan.rows.problem.names, plan.stream.number, plan.widths, kernel):
        digest.update(f"{part}\n".encode())
    places = (points.x for batch in batches for points in batch.values())
    for array in (*leaves, *(block.x for block in expansion.functionals.blocks), *places):
        digest.update(np.ascontiguousarray(array, dtype=np.float64).tobytes())
    values = [block.coefficients.ravel() for batch in batches for block in plan.rows.functionals(batch).blocks]
    values.append(np.linalg.norm(plan.rows.design(batches[0]), axis=1))
    if plan.inputs:
        values += [plan.rows.data(batch, plan.inputs, plan.widths).ravel() for batch in batches]
    return digest.hexdigest(), np.concatenate(values)

"""Checkpoints: a pass that was interrupted goes on from the last one."""

from __future__ import annotations

import hashlib
import os
import re
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import jax
import numpy as np

from kernop import storage
from kernop.errors import FileError, FloatArray, check_number, fail
from kernop.methods.accumulators import Accumulator
from kernop.streaming.plan import Plan

KIND = "checkpoint"


@dataclass(frozen=True)
class Checkpoint:
    """A file from which a pass can go on after it was interrupted; it is removed when the pass is complete.

    The file knows of which pass it is: the problem, its points, the functions, the weights and the inputs. One that is
    damaged, or of another pass, is refused.

    Arguments:
        path: where; it is replaced only by a complete one.
        every: seconds between two checkpoints.
    """

    path: str | os.PathLike[str]
    every: float = 60.0

    def __post_init__(self) -> None:
        object.__setattr__(self, "every", check_number("every", self.every, least=0.0))
        storage.check_path(self.path, "checkpoint")


class Guard:
    """The checkpoints of one pass."""

    def __init__(self, checkpoint: Checkpoint, plan: Plan) -> None:
        self._path, self._every = Path(checkpoint.path), checkpoint.every
        storage.check_place(self._path, "checkpoint")
        self._signature, self._values = _identity(plan)
        self._last = time.monotonic()

    def resume(self, accumulator: Accumulator) -> int:
        """Bring an empty accumulator to the state of the file, if there is one; how many batches it has seen."""
        if not self._path.exists():
            return 0
        header, arrays = storage.read(self._path, KIND, "checkpoint")
        stored = arrays.pop("identity")
        same = header["signature"] == self._signature and stored.shape == self._values.shape
        if not same or not np.allclose(stored, self._values, rtol=1e-9, atol=0.0):
            got = f"{os.fspath(self._path)!r}, a checkpoint of another pass"
            remedy = "delete it to start anew, or give the same problem, points, method and inputs"
            raise fail(FileError, "checkpoint", got, remedy)
        accumulator.restore(arrays)
        accumulator.rows = header["rows"]
        return header["batches"]

    def offer(self, accumulator: Accumulator, batches: int) -> None:
        """Write the state after so many batches, if it is time."""
        if time.monotonic() - self._last < self._every:
            return
        header = {"signature": self._signature, "batches": batches, "rows": accumulator.rows}
        storage.write(self._path, KIND, header, {**accumulator.arrays(), "identity": self._values}, "checkpoint")
        self._last = time.monotonic()

    def remove(self) -> None:
        """The pass is complete."""
        self._path.unlink(missing_ok=True)


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

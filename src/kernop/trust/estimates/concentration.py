"""Residuals that are concentrated in few places: there u is not smooth, and smooth fields say little of its error.

At a re-entrant corner the residual of u is not even square integrable. Least squares then bend û everywhere for the
sake of a few points, more so with more functions; and a richer operator errs in the same way. A coarser one does less.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from kernop.basics.errors import BoolArray, FloatArray
from kernop.collocation.functionals import Functionals

#: Residuals are concentrated if their root mean square, in units of their median, exceeds that of every smooth field
#: by this factor …
BEYOND = 1.3
#: … at so many points at least.
FEWEST = 64


@dataclass(frozen=True, eq=False, kw_only=True)
class Concentrated:
    """What a richer operator leaves of the residuals of a condition is large at few points alone.

    Attributes:
        name: of the condition.
        input: which of the inputs of a batch; 0 for one.
        place: where it is largest, (d,).
        rough: is the estimate rough there? Not if û could be compared with a solution made of parts.
    """

    name: str
    input: int
    place: FloatArray
    rough: bool = True

    def __str__(self) -> str:
        """What it means, in one sentence."""
        place = ", ".join(f"{x:.3g}" for x in self.place)
        rough = "; the estimate is rough: from a tenth of the error to twenty times" if self.rough else ""
        return (
            f"the residual of {self.name} is concentrated near x = ({place}), as at a corner, a jump or a narrow "
            f"front: u is probably not resolved there, and more centres may not help{rough}"
        )


def tails(rows: Functionals, left: FloatArray) -> FloatArray:
    """The root mean square of residuals (n, B) in units of their median, block by block: (blocks, B); 0 for few."""
    many = [block.starts is None and len(block) >= FEWEST for block in rows.blocks]
    parts = zip(rows, many, strict=True)
    return np.array([_tail(np.abs(left[part])) if own else np.zeros(left.shape[1]) for (part, _), own in parts])


def concentrated(rows: Functionals, left: FloatArray, usual: FloatArray) -> BoolArray:
    """Are residuals (n, B) concentrated, beyond what is usual (blocks,)? By block, (blocks, B)."""
    found = tails(rows, left)
    return (found > 0.0) & (found > BEYOND * usual[:, None])


def where_concentrated(
    rows: Functionals, left: FloatArray, found: BoolArray, names: Mapping[int, str]
) -> tuple[Concentrated, ...]:
    """What `concentrated` found, for people; ``names`` has the condition of the first row of each of its parts."""
    told: dict[tuple[str, int], Concentrated] = {}
    for (part, block), flags in zip(rows, found, strict=True):
        name = names[max(start for start in names if start <= part.start)]
        for b in map(int, np.flatnonzero(flags)):
            place = block.x[int(np.argmax(np.abs(left[part, b])))].copy()
            told.setdefault((name, b), Concentrated(name=name, input=b, place=place))
    return tuple(told.values())


def _tail(moduli: FloatArray) -> FloatArray:
    middle, largest = np.median(moduli, axis=0), np.max(moduli, axis=0)
    scaled = moduli / np.where(largest > 0.0, largest, 1.0)  # squares of small numbers leave the range
    return np.where(
        middle > 0.0, largest * np.sqrt(np.mean(scaled**2, axis=0)) / np.where(middle > 0.0, middle, 1.0), 0.0
    )

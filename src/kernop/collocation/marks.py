"""By what it is seen whether coefficients are those of before: a user's functions may have changed what they say."""

from __future__ import annotations

from collections.abc import Iterable
from hashlib import blake2b

import numpy as np

from kernop.basics.precision import eagerly
from kernop.collocation.ansatz import Tabulated
from kernop.collocation.functionals import Functionals
from kernop.geometry import Points
from kernop.language.conditions import Condition
from kernop.language.ops import plain_values
from kernop.language.unknowns import Unknowns


def coefficient_mark(looks: Iterable[tuple[Condition, Points]], unknowns: Unknowns) -> bytes:
    """A digest of the coefficients of conditions, each at a few points; none is differentiated."""
    mark = blake2b(digest_size=16)
    for c, points in looks:
        if not isinstance(c.op, Tabulated):
            with eagerly():
                for term, values in plain_values(c.op, points, unknowns, of=c.of, name=c.name):
                    mark.update(repr(term).encode() + np.ascontiguousarray(values).tobytes())
    return mark.digest()


def rows_mark(rows: Functionals) -> bytes:
    """A digest of rows: of the coefficients of all conditions, derivatives too, at all of their points."""
    mark = blake2b(digest_size=16)
    for block in rows.blocks:
        mark.update(repr(block.terms).encode())
        for own in (block.x, block.coefficients):
            mark.update(np.ascontiguousarray(own).data)
    return mark.digest()

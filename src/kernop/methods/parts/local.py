"""One part: least squares in polynomials of its own, and what it makes of data and of traces on its faces."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.linalg import solve_triangular

from kernop.basics.errors import FloatArray
from kernop.basics.stored import stored


@stored("local", by_value=False)
@dataclass(frozen=True, eq=False)
class Local:
    """u = Φ R⁻¹ y on a part, with y = Qᵀ (w h) + C t with data h at its points, and t coming in on inner faces.

    Equal parts share one.

    Arguments:
        q: the rows of Q that belong to the data, (n, m).
        upper: R, (m, m).
        from_trace: C, (m, b).
        out: from y to the coefficients of what goes out, (b, m), in units of the part.
    """

    q: FloatArray
    upper: FloatArray
    from_trace: FloatArray
    out: FloatArray


def local(
    rows: FloatArray, taken: FloatArray, given: FloatArray, traces: FloatArray, project: FloatArray, data: int
) -> Local:
    """Least squares.

    Arguments:
        rows: what the conditions make of the functions Φ, (n, m), weighted.
        taken: what Φ take in at the nodes of the inner faces, (v, m), weighted.
        given: what they give out, at the same nodes, (v, m).
        traces: values at the nodes of the polynomials on the faces, (v, b), weighted as ``taken``.
        project: from values at the nodes to coefficients, (b, v).
        data: the first so many rows have data.
    """
    q, upper = np.linalg.qr(np.concatenate([rows, taken]))
    n = len(rows)
    out = solve_triangular(upper, (project @ given).T, trans=1, check_finite=False).T
    return Local(np.ascontiguousarray(q[:data]), upper, q[n:].T @ traces, np.ascontiguousarray(out))

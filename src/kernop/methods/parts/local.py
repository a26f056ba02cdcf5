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
    """u = Φ R⁻¹ y on a part, with y = Qᵀ (w h) + C t for data h at its points and traces t on its inner faces.

    Equal parts share one.

    Arguments:
        q: the rows of Q that belong to the data, (n, m).
        upper: R, (m, m).
        from_trace: C, (m, b).
        out: from y to the coefficients of the outgoing fluxes, (b, m), in units of the part.
    """

    q: FloatArray
    upper: FloatArray
    from_trace: FloatArray
    out: FloatArray

    @property
    def steklov(self) -> FloatArray:
        """From traces to fluxes, (b, b), in units of the part."""
        return self.out @ self.from_trace


def local(rows: FloatArray, values: FloatArray, fluxes: FloatArray, traces: FloatArray, project: FloatArray) -> Local:
    """Least squares.

    Arguments:
        rows: what the conditions make of the functions Φ, (n, m), weighted.
        values: of Φ at the nodes of the inner faces, (v, m), weighted.
        fluxes: outgoing, at the same nodes, (v, m).
        traces: values at the nodes of the polynomials on the faces, (v, b), weighted as ``values``.
        project: from values at the nodes to coefficients, (b, v).
    """
    q, upper = np.linalg.qr(np.concatenate([rows, values]))
    n = len(rows)
    out = solve_triangular(upper, (project @ fluxes).T, trans=1, check_finite=False).T
    return Local(np.ascontiguousarray(q[:n]), upper, q[n:].T @ traces, np.ascontiguousarray(out))

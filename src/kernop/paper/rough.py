"""Darcy flow with a = 1 and discontinuous data: the paper's figure, with a reference by finite differences.

f = 6 for x ≥ ½, else 4; g = (x − ½)² + y² for x ≥ ½, else 2(x − ½)² + y². The paper shows a true solution and does
not say what it is; with f and g as printed there is no closed form. The reference is the five-point scheme on two grids
with a line on the jump, where f is the mean of its sides, extrapolated.
"""

from __future__ import annotations

import jax.numpy as jnp
import numpy as np
from jax import Array
from scipy.fft import dstn, idstn

from kernop.basics.errors import FloatArray


def right_side(x: Array) -> Array:
    """f = 6 for x ≥ ½ and 4 elsewhere."""
    return jnp.where(x[..., 0] >= 0.5, 6.0, 4.0)


def boundary(x: Array) -> Array:
    """g, with a jump in its second derivative."""
    s = (x[..., 0] - 0.5) ** 2
    return jnp.where(x[..., 0] >= 0.5, s, 2.0 * s) + x[..., 1] ** 2


def reference(n: int = 61, refine: int = 16) -> FloatArray:
    """u on the (n × n) grid of the square, (n²,), first coordinate slowest; n odd, so that x = ½ is a line of it."""
    coarse, fine = (_five_points(n, k) for k in (refine, 2 * refine))
    return ((4.0 * fine - coarse) / 3.0).ravel()


def _five_points(n: int, refine: int) -> FloatArray:
    """−Δu = f on a grid ``refine`` times finer, by the fast sine transform; values on the coarse one, (n, n)."""
    cells = (n - 1) * refine
    line = np.linspace(0.0, 1.0, cells + 1)
    x, y = np.meshgrid(line, line, indexing="ij")
    u = np.where(x >= 0.5, 1.0, 2.0) * (x - 0.5) ** 2 + y**2  # g on the boundary
    f = np.where(x > 0.5, 6.0, np.where(x < 0.5, 4.0, 5.0))
    right = f[1:-1, 1:-1] * (1.0 / cells) ** 2
    right[0] += u[0, 1:-1]
    right[-1] += u[-1, 1:-1]
    right[:, 0] += u[1:-1, 0]
    right[:, -1] += u[1:-1, -1]
    eigenvalues = 2.0 - 2.0 * np.cos(np.pi * np.arange(1, cells) / cells)
    u[1:-1, 1:-1] = idstn(dstn(right, type=1) / (eigenvalues[:, None] + eigenvalues), type=1)
    return u[::refine, ::refine]

"""Tensor-product splines in JAX: fitted once by SciPy, evaluated and differentiated anywhere."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array
from scipy.interpolate import NdBSpline, make_interp_spline

from kernop.basics.errors import FloatArray, NumberArray


@dataclass(frozen=True, eq=False)
class TensorSpline:
    """s(x) = Σ_j c_j Π_a B_{j_a}(x_a), with B-splines of degree k_a along axis a.

    Its derivatives up to order k_a − 1 along each axis are continuous. Beyond the outermost knots the polynomials of
    the outermost cells go on.

    Arguments:
        knots: for each axis, (n_a + k_a + 1,).
        degrees: k_a for each axis.
        coefficients: c, (n_1, …, n_d, …); further axes are those of the values.
    """

    knots: tuple[FloatArray, ...]
    degrees: tuple[int, ...]
    coefficients: NumberArray

    def __call__(self, x: Array) -> Array:
        """s at x (…, d), by JAX: (…,), and then the axes of the values."""
        return _evaluated(self.knots, self.degrees, self.coefficients, x)

    def at(self, x: FloatArray) -> NumberArray:
        """The same by SciPy, for places that are known: nothing is compiled."""
        parts = [np.real(self.coefficients)]
        if np.iscomplexobj(self.coefficients):
            parts.append(np.imag(self.coefficients))
        found = [np.asarray(NdBSpline(self.knots, np.ascontiguousarray(c), self.degrees)(x)) for c in parts]
        return found[0] if len(found) == 1 else found[0] + 1j * found[1]


@partial(jax.jit, static_argnums=1)
def _evaluated(knots: tuple[FloatArray, ...], degrees: tuple[int, ...], coefficients: NumberArray, x: Array) -> Array:
    """The spline at x: compiled once for all splines of one size, because its many small steps take long one by one."""
    places, weights = zip(*map(_basis, jnp.moveaxis(x, -1, 0), knots, degrees), strict=True)
    d, single = len(places), places[0].ndim - 1
    index = tuple(p.reshape(*p.shape[:-1], *(-1 if a == b else 1 for b in range(d))) for a, p in enumerate(places))
    found = jnp.asarray(coefficients)[index]  # (…, k_1 + 1, …, k_d + 1, …)
    for weight in weights:
        own = weight.reshape(*weight.shape, *(1,) * (found.ndim - single - 1))
        found = jnp.sum(own * found, axis=single)
    return found


def _basis(x: Array, knots: FloatArray, k: int) -> tuple[Array, Array]:
    """The numbers of the k + 1 B-splines that do not vanish at x (…,), and their values there, each (…, k + 1).

    By the recursion of Cox and de Boor, which is a polynomial in x between knots, so that it can be differentiated.
    """
    t = jnp.asarray(knots)
    inner = t[k : len(knots) - k]
    found = jnp.searchsorted(inner, jax.lax.stop_gradient(x), side="right")
    cell = jnp.clip(found - 1, 0, len(inner) - 2) + k  # t[cell] ≤ x < t[cell + 1]
    near = t[cell[..., None] + jnp.arange(1 - k, k + 1)]
    x, values, none = x[..., None], jnp.ones_like(x)[..., None], jnp.zeros_like(x)[..., None]
    for r in range(1, k + 1):  # all splines of degree r at once: one by one they take long to compile
        low, high = near[..., k - r : k], near[..., k : k + r]
        share = values / (high - low)
        falling, rising = (high - x) * share, (x - low) * share
        values = jnp.concatenate([falling, none], axis=-1) + jnp.concatenate([none, rising], axis=-1)
    return cell[..., None] + jnp.arange(-k, 1), values


def interpolant(axes: tuple[FloatArray, ...], values: NumberArray, degree: int) -> TensorSpline:
    """The spline of this degree through values (n_1, …, n_d, …) at the nodes, not-a-knot at the ends.

    Along an axis of few nodes it is the polynomial through them.
    """
    knots, degrees, found = list[FloatArray](), list[int](), values
    for axis, nodes in enumerate(axes):
        k = min(degree, len(nodes) - 1)
        rest = np.moveaxis(found, axis, 0)
        flat = rest.reshape(len(nodes), -1)
        columns = np.hstack([np.real(flat), np.imag(flat)]) if np.iscomplexobj(flat) else flat
        spline = make_interp_spline(nodes, columns, k=k)
        c = np.asarray(spline.c, dtype=np.float64)
        if np.iscomplexobj(flat):
            c = c[:, : flat.shape[1]] + 1j * c[:, flat.shape[1] :]
        found = np.moveaxis(c.reshape(rest.shape), 0, axis)
        knots.append(np.asarray(spline.t, dtype=np.float64))
        degrees.append(k)
    return TensorSpline(tuple(knots), tuple(degrees), np.ascontiguousarray(found))

"""Functions from values at scattered points: kernel interpolation, in JAX."""

from __future__ import annotations

import operator
from collections.abc import Callable
from functools import partial, reduce
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array
from jax.core import Tracer
from scipy.linalg import cho_factor, cho_solve, qr
from scipy.spatial import KDTree

from kernop.basics.checks import check_array, check_coordinates, check_kind, check_memory, check_number
from kernop.basics.errors import ArgumentError, FloatArray, ShapeError, describe, fail
from kernop.basics.frozen import frozen
from kernop.basics.precision import eagerly, float64
from kernop.basics.stored import ComplexArray, stored
from kernop.geometry.extents import slack
from kernop.kernels.base import Kernel, add, check_smoothness
from kernop.kernels.derivatives import pairwise
from kernop.kernels.matern import Matern
from kernop.language.fields import MultiIndex

#: The kernel where none is given: f has eight derivatives.
NU = 4.5
#: Lengthscales that are tried, in spacings of the points, and scales of the prior, in those of the values.
LENGTHS, SCALES = (1.0, 2.0, 4.0, 8.0, 16.0, 32.0), (0.25, 0.5, 1.0, 2.0, 4.0, 8.0)
#: Points by which they are compared.
COMPARED = 400
#: Added to the diagonal for each point, relative to the prior: rounding.
JITTER = 2e-15
#: Points nearer than this, in units of the extents, are the same.
SAME = 1e-12
#: Steps of iterative refinement.
REFINED = 4
#: Values of the kernel at a time.
AT_ONCE = 2**23


@stored("scattered function")
class ScatteredFunction:
    """A smooth function through values at scattered points: f(x) = β·(1, x) + Σ_j c_j K(x, x_j).

    The linear trend and the c_j are those of kriging, the mean of a Gaussian process with covariance K given the
    values. Of x (…, d) it gives (…,), in NumPy or in JAX, under jit, vmap and grad too; its derivatives are those of K
    in closed form. Away from the points it returns to the trend: it extrapolates, and knows nothing there.

    Arguments:
        x: the points, (n, d), from ten to a few thousand; each once.
        values: (n,), or (n, m) of vectors; real or complex.
        kernel: K; None: a Matérn kernel with ν = 9/2 in units of the extents of the points, whose lengthscale is the
            most likely of a few.
        noise: the standard deviation of errors in the values, which are then smoothed; None: all values are met, to
            about 1e-6 of their size.
    """

    def __init__(self, x: Any, values: Any, kernel: Kernel | None = None, noise: float | None = None) -> None:
        self.x: FloatArray = frozen(check_coordinates("x", x))
        remedy = f"give one value for each of the {len(self.x)} points"
        self.values: FloatArray | ComplexArray = frozen(check_array("values", values, remedy=remedy, complex_too=True))
        if self.values.ndim not in (1, 2) or len(self.values) != len(self.x):
            raise fail(ShapeError, "values", describe(self.values), remedy)
        check_kind("kernel", kernel, Kernel | None, "give a kernel, such as ko.Matern(4.5, 0.3)")
        self.noise = None if noise is None else check_number("noise", noise, above=0.0, below=1e100)
        n, d = self.x.shape
        _check_enough(self.x)
        check_memory("x", 3 * n * n, f"{n} points, whose kernel matrix", "give fewer")
        _check_apart(self.x)
        flat = self.values.reshape(n, -1)
        data: FloatArray = np.hstack([np.real(flat), np.imag(flat)]) if self.complex else np.real(flat)
        if kernel is None:
            kernel = _likely(self.x, data, self.noise)
        kernel.check_dim(d)
        self.kernel = kernel
        self._trend, self._weights = frozen(_kriged(kernel, self.x, data, self.noise)[:2])
        self._sums = dict[MultiIndex, Callable[[Array], Array]]()

    @property
    def complex(self) -> bool:
        """Are the values complex?"""
        return bool(np.iscomplexobj(self.values))

    @property
    def dim(self) -> int:
        """The number d of coordinates."""
        return self.x.shape[1]

    def __call__(self, x: Any) -> Any:
        """The values at x (…, d): (…,), or (…, m) of vectors."""
        with float64():
            if isinstance(x, Tracer | jax.Array):
                return self._at(x.astype(np.float64))
            places = check_array("x", x, remedy="give points of shape (…, d)", copy=False)
            return np.asarray(self._at(jnp.asarray(places)))

    def _at(self, x: Array) -> Array:
        if x.ndim == 0 or x.shape[-1] != self.dim:
            got = f"points of shape {x.shape} for values in {self.dim} dimensions"
            raise fail(ShapeError, "ScatteredFunction", got, f"give points of shape (…, {self.dim})")
        flat = x.reshape(-1, self.dim)
        found = self._trend[0] + flat @ self._trend[1:] + self._sum((0,) * self.dim)(flat)
        if self.complex:
            half = found.shape[1] // 2
            found = found[:, :half] + 1j * found[:, half:]
        return found.reshape(*x.shape[:-1], *self.values.shape[1:])

    def _sum(self, gamma: MultiIndex) -> Callable[[Array], Array]:
        """x ↦ Σ_j c_j ∂^γ K(x, x_j), (n, d) ↦ (n, columns), whose derivatives are such sums again.

        Automatic differentiation of the profile of a kernel would fail where x is one of the points.
        """
        if gamma in self._sums:
            return self._sums[gamma]
        check_smoothness(self.kernel, sum(gamma), "ScatteredFunction")

        def rows(x: Array) -> Array:
            return _combined(self.kernel, x, gamma, self.x, self._weights)

        @jax.custom_jvp
        def total(x: Array) -> Array:
            if x.shape[0] * len(self.x) <= AT_ONCE:
                return rows(x)
            size = max(1, AT_ONCE // len(self.x))
            return jax.lax.map(lambda one: rows(one[None])[0], x, batch_size=size)

        @total.defjvp
        def derivative(primals: tuple[Array], tangents: tuple[Array]) -> tuple[Array, Array]:
            (x,), (step,) = primals, tangents
            axes = range(self.dim)
            slopes = [self._sum(add(gamma, tuple(int(j == k) for j in axes)))(x) for k in axes]
            return total(x), reduce(operator.add, [step[:, k : k + 1] * slopes[k] for k in axes])

        self._sums[gamma] = total
        return total

    def __repr__(self) -> str:
        noise = "" if self.noise is None else f", noise={self.noise:g}"
        return f"ScatteredFunction(n={len(self.x)}, d={self.dim}, {self.kernel!r}{noise})"


@partial(jax.jit, static_argnums=(2,))
def _combined(kernel: Kernel, x: Array, gamma: MultiIndex, y: FloatArray, weights: FloatArray) -> Array:
    """Σ_j c_j ∂^γ K(x_i, y_j) for x (n, d), y (m, d) and c (m, columns): (n, columns)."""
    none = ((0,) * x.shape[1],)
    return pairwise(kernel, x.T, jnp.ones((1, len(x))), (gamma,), y.T, jnp.ones((1, len(y))), none) @ weights


def _check_enough(x: FloatArray) -> None:
    """Raise unless the points determine a linear trend."""
    n, d = x.shape
    remedy = f"give at least {d + 1} points that do not lie in a plane"
    if n < d + 1:
        raise fail(ArgumentError, "x", f"{n} points in {d} dimensions", remedy)
    middle = x - np.mean(x, axis=0)
    extent = np.ptp(x, axis=0)
    if not np.all(extent > 0.0) or np.linalg.matrix_rank(middle / extent, tol=1e-9 * np.sqrt(n)) < d:
        raise fail(ArgumentError, "x", f"points that all lie in a plane of {d} dimensions or fewer", remedy)


def _check_apart(x: FloatArray) -> None:
    """Raise if two points are the same."""
    units = np.maximum(np.ptp(x, axis=0), slack(x.min(axis=0), x.max(axis=0)))
    twice = KDTree(x / units).query_pairs(SAME)
    if twice:
        i, j = min(twice)
        got = f"points {i} and {j} at the same place, {x[i]}"
        raise fail(ArgumentError, "x", got, "give each point once, with the mean of its values")


def _likely(x: FloatArray, data: FloatArray, noise: float | None) -> Kernel:
    """The most likely Matérn kernel, in units of the extents; with noise its scale too."""
    n, d = x.shape
    some = np.random.default_rng(0).permutation(n)[:COMPARED]
    own, units, spacing = x[some], np.ptp(x, axis=0), len(some) ** (-1.0 / d)
    q = qr(np.column_stack([np.ones(n), x - np.mean(x, axis=0)]), mode="economic")[0]  # of the linear functions
    spread = max(float(np.std(data - q @ (q.T @ data))), 1e-300)
    found: list[tuple[float, Kernel]] = []
    for length in LENGTHS:
        kernel = Matern(NU, length * spacing * units)
        scaled = [kernel] if noise is None else [(spread * s) ** 2 * kernel for s in SCALES]
        found += [(_kriged(one, own, data[some], noise)[2], one) for one in scaled]
    return max(found, key=lambda pair: pair[0])[1]


def matrix_of(kernel: Kernel, x: FloatArray) -> FloatArray:
    """K(x_i, x_j), (n, n)."""
    with eagerly():
        return np.array(kernel(x[:, None], x[None]))


def _kriged(
    kernel: Kernel, x: FloatArray, data: FloatArray, noise: float | None
) -> tuple[FloatArray, FloatArray, float]:
    """The trend (1 + d, columns), the c_j (n, columns), and the log likelihood, up to a constant.

    Σ = K + σ²; without noise the scale of the prior is the most likely one.
    """
    n = len(x)
    matrix = matrix_of(kernel, x)
    prior = float(np.max(np.diagonal(matrix)))
    matrix[np.diag_indices(n)] += JITTER * n * prior + (0.0 if noise is None else noise**2)
    factor = cho_factor(matrix, lower=True)
    middle, units = np.mean(x, axis=0), np.ptp(x, axis=0)
    line = np.column_stack([np.ones(n), (x - middle) / units])
    solved = cho_solve(factor, line)
    slope: FloatArray = np.asarray(np.linalg.solve(line.T @ solved, solved.T @ data), dtype=np.float64)
    rest = data - line @ slope
    weights = cho_solve(factor, rest)
    if noise is None:  # what the jitter leaves of the values
        own = matrix_of(kernel, x)
        for _ in range(REFINED):
            weights += cho_solve(factor, rest - own @ weights)
    fit = np.maximum(np.einsum("ij,ij->j", rest, weights), 1e-300)
    half = float(np.sum(np.log(np.diagonal(factor[0])))) * data.shape[1]
    log = -half - 0.5 * float(np.sum(fit) if noise is not None else n * np.sum(np.log(fit / n)))
    slope[1:] /= units[:, None]
    slope[0] -= middle @ slope[1:]
    return slope, weights, log

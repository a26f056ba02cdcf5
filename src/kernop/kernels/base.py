"""What a kernel is: a positive definite function with its partial derivatives, and its algebra.

A kernel is given by a function on R^m with a table of partial derivatives: m = d for a stationary kernel
K(x, y) = F(x − y), m = 2d for a general one, K(x, y) = F(x, y). Sums, multiples and products of kernels are written
once, for either m.

Kernels are JAX pytrees: lengthscales are data, everything else is structure, so one compiled function serves every
lengthscale.
"""

from __future__ import annotations

import math
import operator
from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Iterable, Sequence
from copy import copy
from functools import reduce
from itertools import product
from typing import Any, ClassVar

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array
from jax.core import Tracer

from kernop.basics.checks import check_array, check_kind, check_number
from kernop.basics.errors import ArgumentError, FloatArray, NonFiniteError, RoughKernelError, ShapeError, fail
from kernop.basics.frozen import frozen
from kernop.basics.precision import float64
from kernop.basics.stored import stored
from kernop.language.fields import MultiIndex

#: Coordinates as separate arrays that broadcast against each other: XLA fuses what is done with them.
Coordinates = Sequence[Array]
Partials = dict[MultiIndex, Array]


class Kernel(ABC):
    """A symmetric positive definite kernel K(x, y) on R^d."""

    #: Names of attributes that are numbers (pytree leaves); all others are structure.
    leaves: ClassVar[tuple[str, ...]] = ()
    __array_ufunc__ = None  # so that a NumPy array times a kernel is not an array of kernels
    #: Is K(x, y) a function of x − y?
    stationary: bool = True
    #: Does `partials` take NumPy arrays too, and stay in NumPy? For a few points that is several times faster.
    in_numpy: bool = False

    def __init_subclass__(cls) -> None:
        jax.tree_util.register_pytree_node(cls, _flatten, lambda aux, children: _unflatten(cls, aux, children))

    @property
    @abstractmethod
    def smoothness(self) -> float:
        """How many derivatives K has in all, counted in x and y together: K ∈ C^smoothness."""

    @abstractmethod
    def partials(self, z: Coordinates, gammas: Collection[MultiIndex]) -> Partials:
        """∂^γ F at z for every γ asked for; z has d arrays if the kernel is stationary, else 2d (x, then y)."""

    @abstractmethod
    def check_dim(self, dim: int) -> None:
        """Raise unless the kernel can be used in ``dim`` dimensions."""

    def spread(self, dim: int) -> Kernel:
        """The same kernel with a lengthscale for each axis where one serves all: what is compiled then serves both."""
        return self

    def smoother(self, order: int) -> str:
        """What to use instead when ``order`` derivatives are needed."""
        return "use ko.Gaussian(lengthscale)"

    def __call__(self, x: Any, y: Any) -> Array:
        """K(x, y) for points of shape (..., d), broadcast against each other."""
        with float64():
            one, other = _places("x", x), _places("y", y)
            if one.shape[-1:] != other.shape[-1:] or not _together(one.shape, other.shape):
                got = f"points of shapes {one.shape} and {other.shape}"
                raise fail(ShapeError, "x, y", got, "give points with the same number of coordinates, shape (..., d)")
            self.check_dim(one.shape[-1])
            return _value(self, one, other)

    def __add__(self, other: object) -> Kernel:
        return Sum(self, check_kind("kernel", other, Kernel, "add kernels to kernels only"))

    def __mul__(self, other: Any) -> Kernel:
        return Multiple(self, other) if not isinstance(other, Kernel) else KernelProduct(self, other)

    def __rmul__(self, other: Any) -> Kernel:
        return Multiple(self, other)

    def __repr__(self) -> str:
        shown = ", ".join(f"{k.lstrip('_')}={_short(v)}" for k, v in vars(self).items())
        return f"{type(self).__name__}({shown})"


@jax.jit
def _value(kernel: Kernel, x: Array, y: Array) -> Array:
    """K(x, y), compiled as a whole: operation by operation, each new number of points would wait for a dozen."""
    d = x.shape[-1]
    z, index = joint(kernel, [x[..., k] for k in range(d)], [y[..., k] for k in range(d)])
    gamma, _ = index((0,) * d, (0,) * d)
    return kernel.partials(z, [gamma])[gamma]


def _places(name: str, value: Any) -> Any:
    """Points (..., d) in float64; those that JAX traces are taken as they are."""
    if isinstance(value, Tracer):
        return value.astype(np.float64)
    return check_array(name, value, remedy="give points of shape (..., d)", copy=False)


def _together(one: tuple[int, ...], other: tuple[int, ...]) -> bool:
    """Do arrays of these shapes, of points and neither of them empty, broadcast against each other?"""
    fitting = all(a == b or 1 in (a, b) for a, b in zip(one[::-1], other[::-1], strict=False))
    return bool(one) and 0 not in one + other and fitting


def _short(value: object) -> str:
    """Three significant digits of numbers, one or several."""
    if isinstance(value, np.ndarray):
        return _short(value.tolist())
    if isinstance(value, list | tuple):
        return f"[{', '.join(map(_short, value))}]"
    return repr(float(f"{value:.3g}")) if isinstance(value, float) else repr(value)


def _flatten(kernel: Kernel) -> tuple[list[Any], tuple[tuple[str, Any], ...]]:
    fields = vars(kernel)
    return [fields[name] for name in kernel.leaves], tuple((k, v) for k, v in fields.items() if k not in kernel.leaves)


def _unflatten(cls: type[Kernel], aux: tuple[tuple[str, Any], ...], children: Iterable[Any]) -> Kernel:
    kernel = object.__new__(cls)  # not __init__: the leaves may be tracers, and were checked at birth
    vars(kernel).update(aux, **dict(zip(cls.leaves, children, strict=True)))
    return kernel


def changed(kernel: Kernel, fields: dict[str, Any]) -> Kernel:
    """A kernel with other values of some of its attributes, which are not checked again."""
    other = copy(kernel)
    vars(other).update(fields)
    return other


def check_lengthscale(value: object) -> FloatArray:
    """A positive number, or one for each axis."""
    lengths = check_array("lengthscale", value, remedy="give a positive number, or one for each axis")
    if lengths.ndim > 1 or lengths.size == 0:
        raise fail(ShapeError, "lengthscale", f"shape {lengths.shape}", "give a number, or one for each axis")
    if not np.all((lengths > 1e-50) & (lengths < 1e50)):  # powers of it are taken
        got = f"{lengths.min():g} to {lengths.max():g}"
        raise fail(ArgumentError, "lengthscale", got, "give a positive number, in units in which it is near 1")
    return frozen(lengths)


def check_axes(lengths: FloatArray, dim: int) -> None:
    """A lengthscale for each axis must match the dimension."""
    if np.ndim(lengths) == 1 and len(lengths) != dim:
        got = f"{len(lengths)} numbers for a problem in {dim} dimensions"
        raise fail(ShapeError, "lengthscale", got, f"give one number, or {dim}")


def check_smoothness(kernel: Kernel | None, order: int, name: str) -> None:
    """Raise unless the kernel has the ``order`` derivatives that the condition of this name needs; None has all."""
    if kernel is not None and order > kernel.smoothness:
        got = f"{kernel!r}, which has {kernel.smoothness:g} derivatives, where condition {name!r} needs {order}"
        raise fail(RoughKernelError, "kernel", got, kernel.smoother(order))


def check_finite(kernel: Kernel, squares: FloatArray) -> None:
    """Raise unless the values P⁽¹⁾P⁽²⁾K at x = y are finite."""
    if not np.all(np.isfinite(squares)):
        got = f"{kernel!r}, whose derivatives at x = y are not finite"
        raise fail(NonFiniteError, "kernel", got, "use a kernel with finite derivatives at x = y, such as ko.Gaussian")


def joint(
    kernel: Kernel, x: Coordinates, y: Coordinates
) -> tuple[Coordinates, Callable[[MultiIndex, MultiIndex], tuple[MultiIndex, int]]]:
    """The coordinates z of F, and the rule that turns (α, β) into γ and a sign: ∂_x^α ∂_y^β K = sign · ∂^γ F(z).

    For a stationary kernel z = x − y, γ = α + β and the sign is (−1)^|β|; in general z = (x, y) and γ = (α, β).
    """
    if kernel.stationary:
        return [a - b for a, b in zip(x, y, strict=True)], lambda alpha, beta: (add(alpha, beta), (-1) ** sum(beta))
    return [*x, *y], lambda alpha, beta: (alpha + beta, 1)


def numerical(values: Any) -> Any:
    """The library that computes with an array: NumPy with its own, else jax.numpy."""
    return np if isinstance(values, np.ndarray) else jnp


def add(alpha: MultiIndex, beta: MultiIndex) -> MultiIndex:
    """The sum α + β of two multi-indices."""
    return tuple(a + b for a, b in zip(alpha, beta, strict=True))


def below(gamma: MultiIndex) -> Iterable[MultiIndex]:
    """All multi-indices δ ≤ γ."""
    return product(*(range(g + 1) for g in gamma))


class Composite(Kernel):
    """A kernel made of other kernels, which are among its leaves; stationary if all of them are."""

    @property
    def _parts(self) -> list[Kernel]:
        return [part for part in vars(self).values() if isinstance(part, Kernel)]

    @property
    def stationary(self) -> bool:  # pyright: ignore[reportIncompatibleVariableOverride]
        return all(part.stationary for part in self._parts)

    @property
    def in_numpy(self) -> bool:  # pyright: ignore[reportIncompatibleVariableOverride]
        return all(part.in_numpy for part in self._parts)

    @property
    def smoothness(self) -> float:
        return min(part.smoothness for part in self._parts)

    def spread(self, dim: int) -> Kernel:
        return changed(self, {k: v.spread(dim) for k, v in vars(self).items() if isinstance(v, Kernel)})

    def smoother(self, order: int) -> str:
        return min(self._parts, key=lambda part: part.smoothness).smoother(order)

    def check_dim(self, dim: int) -> None:
        for part in self._parts:
            part.check_dim(dim)


class Pair(Composite):
    """A kernel made of two others, by a rule for their partial derivatives."""

    leaves = ("first", "second")

    def __init__(self, first: Kernel, second: Kernel) -> None:
        self.first, self.second = first, second

    def _both(self, z: Coordinates, gammas: Collection[MultiIndex]) -> tuple[Partials, Partials]:
        return self._lifted(self.first, z, gammas), self._lifted(self.second, z, gammas)

    def _lifted(self, kernel: Kernel, z: Coordinates, gammas: Collection[MultiIndex]) -> Partials:
        """The partials of one part; a stationary part of a general kernel is seen as a function of (x, y)."""
        if kernel.stationary == self.stationary:
            return kernel.partials(z, gammas)
        d = len(z) // 2
        inner, index = joint(kernel, z[:d], z[d:])
        found = {gamma: index(gamma[:d], gamma[d:]) for gamma in gammas}
        table = kernel.partials(inner, {delta for delta, _ in found.values()})
        return {gamma: sign * table[delta] for gamma, (delta, sign) in found.items()}


@stored("sum")
class Sum(Pair):
    """The sum K₁ + K₂ of two kernels."""

    def partials(self, z: Coordinates, gammas: Collection[MultiIndex]) -> Partials:
        first, second = self._both(z, gammas)
        return {gamma: first[gamma] + second[gamma] for gamma in gammas}

    def __repr__(self) -> str:
        return f"{self.first!r} + {self.second!r}"


@stored("product")
class KernelProduct(Pair):
    """K₁ K₂, with ∂^γ(K₁ K₂) = Σ_{δ ≤ γ} binom(γ, δ) ∂^δ K₁ ∂^(γ−δ) K₂."""

    def partials(self, z: Coordinates, gammas: Collection[MultiIndex]) -> Partials:
        first, second = self._both(z, {delta for gamma in gammas for delta in below(gamma)})

        def leibniz(gamma: MultiIndex) -> Array:
            rest = {delta: tuple(g - k for g, k in zip(gamma, delta, strict=True)) for delta in below(gamma)}
            terms = [math.prod(map(math.comb, gamma, d)) * first[d] * second[r] for d, r in rest.items()]
            return reduce(operator.add, terms)

        return {gamma: leibniz(gamma) for gamma in gammas}

    def __repr__(self) -> str:
        return f"({self.first!r}) * ({self.second!r})"


@stored("multiple")
class Multiple(Composite):
    """A positive multiple of a kernel."""

    leaves = ("factor", "kernel")

    def __init__(self, kernel: Kernel, factor: float) -> None:
        self.factor = np.asarray(check_number("factor", factor, above=0.0))
        self.kernel = kernel

    def partials(self, z: Coordinates, gammas: Collection[MultiIndex]) -> Partials:
        return {gamma: value * self.factor for gamma, value in self.kernel.partials(z, gammas).items()}

    def __repr__(self) -> str:
        return f"{float(self.factor):.3g} * ({self.kernel!r})"

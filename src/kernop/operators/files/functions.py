"""What is left of a user's functions and operators when they come back from a file: their values at the points."""

from __future__ import annotations

from typing import Any

import numpy as np
from jax.core import Tracer

from kernop.basics.errors import FloatArray, KernopError, MissingFunctionError, fail
from kernop.collocation.ansatz import Tabulated, normal_form
from kernop.collocation.functionals import Block as NormalForm
from kernop.collocation.functionals import tabulated as tabulate
from kernop.geometry import Points
from kernop.geometry.lookup import Lookup
from kernop.language.calculus import normal_derivative, partial
from kernop.language.fields import MultiIndex
from kernop.language.functions import Function
from kernop.language.ops import itself as identity
from kernop.language.problem import Mixed
from kernop.language.unknowns import Operator


class StoredFunction:
    """A function of x whose values at some points are known, and no others.

    Arguments:
        what: what it is, for messages.
        argument: the argument of `load` that brings it back.
        x: the points, (n, d).
        values: (n,), or (n, B).
    """

    def __init__(self, what: str, argument: str, x: FloatArray, values: FloatArray) -> None:
        self._what, self._argument, self._values = what, argument, values
        self._lookup = Lookup(x)

    def __call__(self, x: Any) -> Any:
        """The values at points that are known."""
        if isinstance(x, Tracer):
            raise missing(self._what, "its derivatives", self._argument)
        rows = self._lookup.rows(np.asarray(x))
        if np.any(rows < 0):
            raise missing(self._what, f"its value at x = {np.asarray(x)[np.argmax(rows < 0)]}", self._argument)
        return self._values[rows]

    def __repr__(self) -> str:
        return f"({self._what}, known at the stored points)"


class ConstantOperator:
    """P = Σ_α c_α ∂^α with numbers c_α.

    Arguments:
        terms: α ↦ c_α.
    """

    def __init__(self, terms: dict[MultiIndex, float]) -> None:
        self.terms = terms

    def __call__(self, u: Any) -> Any:
        """The operator applied to a field u: Σ c_α ∂^α u, with the stored numbers c_α."""
        total: Any = 0.0
        for alpha, c in self.terms.items():
            derivative = u
            for axis, times in enumerate(alpha):
                derivative = partial(derivative, axis, times)
            total = c * derivative + total
        return total

    def __repr__(self) -> str:
        return " + ".join(f"{c:g} ∂^{alpha} u" for alpha, c in self.terms.items())


class StoredOperator(Tabulated):
    """An operator P by its normal form at the points of its condition.

    Arguments:
        condition: its name, for messages.
        points: where it is known.
        plain: α ↦ φ_α of P, or P itself where it needs no function of the user.
        product: α ↦ φ_α of u ↦ P(ρ u), if there is an envelope ρ.
    """

    def __init__(
        self, condition: str, points: Points, plain: NormalForm | Operator, product: NormalForm | None = None
    ) -> None:
        self._condition, self._normals = condition, points.normal is not None
        self._lookup = Lookup(_joined(points, self._normals))
        self.plain, self._product = plain, product

    def __call__(self, u: Any) -> Any:
        if isinstance(self.plain, NormalForm):
            raise self._missing("as a function")
        return self.plain(u)

    def form(self, points: Points, multiplier: Function | None, name: str) -> NormalForm:
        plain = self.plain
        if not isinstance(plain, NormalForm) and not isinstance(multiplier, StoredFunction):
            return normal_form(plain, points, multiplier=multiplier, name=name)
        table = self._product if multiplier is not None else plain
        if not isinstance(table, NormalForm):
            raise self._missing("with an envelope")
        rows = np.full(len(points), -1)
        if not self._normals or points.normal is not None:
            rows = self._lookup.rows(_joined(points, self._normals))
        if np.any(rows < 0):
            raise self._missing(f"at x = {points.x[np.argmax(rows < 0)]}")
        return tabulate(points.x, dict(zip(table.alphas, table.coefficients[rows].T, strict=True)))

    def _missing(self, where: str) -> KernopError:
        what = [f"operator of condition {self._condition!r}"] if isinstance(self.plain, NormalForm) else []
        names = ["problem"] if what else []
        if self._product is not None:
            what, names = [*what, "envelope"], [*names, "envelope"]
        return missing(" and the ".join(what), where, "=…, ".join(names))

    def __repr__(self) -> str:
        return f"({shown(self)})"


def shown(op: Operator) -> str:
    """The operator of a condition from a file, for a person."""
    plain = op.plain if isinstance(op, StoredOperator) else op
    if isinstance(plain, Mixed):
        return f"{plain.alpha.constant:g} u + {plain.beta.constant:g} ∂u/∂n"
    if isinstance(plain, NormalForm):
        return f"order {plain.order}, coefficients at the stored points"
    return "u" if plain is identity else "∂u/∂n" if plain is normal_derivative else repr(plain)


def _joined(points: Points, normals: bool) -> FloatArray:
    """What the coefficients of an operator depend on, (n, d) or (n, 2d)."""
    return np.hstack([points.x, points.normal]) if normals and points.normal is not None else points.x


def missing(what: str, where: str, argument: str) -> KernopError:
    """The error for a function that is needed and not there."""
    got = f"an operator from a file, which does not hold the {what} ({where})"
    return fail(MissingFunctionError, "T", got, f"load it with load(path, {argument}=…), or stay at T.points")
